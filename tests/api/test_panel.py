"""What the panel of JupyterLab is told and may do, in a real kernel with a page's subshell."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kernel import Kernel, Ran, running_kernel
from tests.magics.test_compacting import HANGS, asked
from tests.page import PATIENCE, FollowingPage, check
from tests.widgets.pages import Page

ECHO = "%%chat -m offline:echo"


@pytest.fixture
def page(tmp_path: Path) -> Iterator[FollowingPage]:
    named = str(tmp_path / "notebook.ipynb")
    data = str(tmp_path / "data")
    with running_kernel(tmp_path, JPY_SESSION_NAME=named, JAN_DATA_FOLDER=data) as running:
        running.ok("%load_ext jan_magics")
        yield FollowingPage(running)


def threads(page: FollowingPage, **asked: Any) -> dict[str, Any]:
    listed: dict[str, Any] = check("PageThreads", page.ask("threads", **asked)["ok"])
    return listed


def titles(page: FollowingPage, **asked: Any) -> list[str]:
    return [row["title"] for row in threads(page, **asked)["rows"]]


def changed(said: tuple[Ran, list[dict[str, Any]]]) -> bool:
    return any(event["kind"] == "changed" for event in said[1])


def three(kernel: Kernel) -> None:
    for name in ("red pandas", "熊猫 🐼", "boats"):
        kernel.ok(f"{ECHO} -t {name!r}\nabout {name}")


def test_threads_are_listed_the_newest_first(page: FollowingPage) -> None:
    assert threads(page) == {"rows": [], "total": 0, "current": None}
    three(page.kernel)
    page.kernel.ok("%chat use boats")
    listed = threads(page, limit=2)
    assert [row["title"] for row in listed["rows"]] == ["boats", "熊猫 🐼"]
    assert (listed["total"], listed["rows"][0]["messages"]) == (3, 2)
    assert listed["current"] == listed["rows"][0]["id"]


def test_titles_and_messages_are_searched(page: FollowingPage) -> None:
    three(page.kernel)
    page.kernel.ok(f"{ECHO} -t other\na boat with a red sail")
    found = threads(page, words="RED")
    assert [row["title"] for row in found["rows"]] == ["red pandas", "other"]
    assert "«red»" in found["rows"][1]["snippet"]
    assert titles(page, words="熊猫") == ["熊猫 🐼"]
    assert titles(page, words='" OR <b>') == []


def test_what_cells_do_is_told_once_somebody_looks(page: FollowingPage) -> None:
    one = f"{ECHO} -t one\n1"
    assert not changed(page.run(one, "c1"))
    threads(page)
    assert changed(page.run(one, "c1"))
    assert not changed(page.run("x = 1", "c2"))
    for line in ("%chat use one", "%chat new two", "%chat rename one 三", "%chat delete 三"):
        assert changed(page.run(line, "c3")), line
    assert changed(page.run("%chat undo", "c4"))


def test_a_page_renames_switches_and_begins_threads(page: FollowingPage) -> None:
    three(page.kernel)
    rows = {row["title"]: row["id"] for row in threads(page)["rows"]}
    page.ask("rename", thread=rows["boats"], title="船 & <b>ships</b>")
    page.ask("use", thread=rows["boats"])
    assert "船 & <b>ships</b>" in page.kernel.ok("%chat").result
    assert threads(page)["current"] == rows["boats"]
    taken = page.ask("rename", thread=rows["boats"], title="red pandas")["error"]
    assert "exists already" in taken["said"]
    begun = page.ask("new")["ok"]["thread"]
    assert threads(page)["current"] == begun not in rows.values()
    assert "ThreadNotFound" in page.ask("use", thread="0" * 32)["error"]["said"]


def test_a_deleted_thread_comes_back_whatever_was_done_meanwhile(page: FollowingPage) -> None:
    three(page.kernel)
    page.kernel.ok("%chat use boats")
    rows = {row["title"]: row["id"] for row in threads(page)["rows"]}
    gone = [rows["red pandas"], rows["boats"]]
    assert page.ask("delete", thread=gone[0])["ok"] == {"title": "red pandas"}
    page.ask("delete", thread=gone[1])
    assert titles(page) == ["熊猫 🐼"]
    page.run(f"{ECHO} -t 'something else'\n1", "c1")
    for thread in gone:
        assert page.ask("undelete", thread=thread)["ok"] == {}
    assert set(titles(page)) == {*rows, "something else"}
    assert threads(page)["current"] == rows["boats"]  # where the cells were
    # There is nothing left of it that an undo would take back.
    assert "error" not in page.ask("threads")
    undone = page.kernel.run("%chat undo")
    assert "deletion" not in str(undone.results)
    assert "ThreadNotFound" in page.ask("undelete", thread="0" * 32)["error"]["said"]


def test_the_tree_follows_and_goes_to_a_branch(page: FollowingPage) -> None:
    empty = check("PageTree", page.ask("tree")["ok"])
    assert (empty["messages"], empty["rows"]) == (0, [])
    for text in ("first", "第二"):
        page.run(f"{ECHO}\n{text}", "c1")
    told = check("PageTree", page.ask("tree")["ok"])
    assert (told["thread"], told["messages"], told["branches"]) == ("notebook", 4, 2)
    assert [(row["text"], row["active"]) for row in told["rows"]][-1] == ("第二", True)
    other = next(row for row in told["rows"] if not row["active"])
    page.ask("branch", message=other["id"])
    active = [row["text"] for row in page.ask("tree")["ok"]["rows"] if row["active"]]
    assert active == ["first", "first"]
    small = page.ask("tree", limit=2)["ok"]
    assert (len(small["rows"]), small["before"] + small["after"]) == (2, 2)
    assert any(row["active"] for row in small["rows"])


def test_the_budget_and_its_buttons(page: FollowingPage) -> None:
    page.run(f"{ECHO} --window 4000\none two three", "c1")
    told = check("PageBudget", page.ask("budget")["ok"])
    assert told["can"] == {"clear": True, "restore": False, "compact": True, "uncompact": False}
    assert page.ask("context", press="clear")["ok"] == {}
    after = page.ask("budget")["ok"]
    assert (after["can"]["restore"], after["can"]["clear"]) == (True, False)
    page.ask("context", press="restore")
    assert page.ask("budget")["ok"]["can"] == told["can"]
    assert "cleared context" in page.ask("context", press="restore")["error"]["said"]
    assert "Upgrade" in page.ask("context", press="fly")["error"]["next"]


def test_a_compaction_begins_once_and_can_be_stopped(tmp_path: Path) -> None:
    with asked(tmp_path, HANGS) as (kernel, _):
        page = FollowingPage(kernel)
        assert page.ask("context", press="compact")["ok"] == {}
        told = page.ask("budget")["ok"]
        assert (told["busy"], told["failed"]) == ("compacting", None)
        assert "goes on" in page.ask("context", press="compact")["error"]["said"]
        page.ask("context", press="stop")
        end = time.monotonic() + PATIENCE
        while (told := check("PageBudget", page.ask("budget")["ok"]))["busy"]:
            assert time.monotonic() < end
        assert (told["can"]["uncompact"], told["failed"]) == (False, None)


def busy(said: list[dict[str, Any]]) -> list[str]:
    return [event["what"] for event in said if event["kind"] == "busy"]


def test_the_buttons_wait_for_an_answer_wherever_it_was_asked_for(page: FollowingPage) -> None:
    page.kernel.ok("%chat use -m offline:echo -P pace=0.05")
    assert page.ask("budget")["ok"]["busy"] == ""
    _, said = page.run("%%chat\none 二 🐼", "c1")
    assert busy(said) == ["answering", ""]
    view = Page(page.kernel, page.kernel.ok("%chat show --live", cell_id="view"), "thread")
    view.ask("thread", kind="ready")
    view.ask("delta", kind="send", text="word " * 200)
    told = check("PageBudget", page.ask("budget")["ok"])
    assert told["busy"] == "answering"
    for press in ("clear", "compact"):
        refused = page.ask("context", press=press)["error"]
        assert refused == {
            "said": "ThreadError: an answer goes on here",
            "next": "Wait for it, or stop it: %chat stop",
        }
    page.kernel.ok("%chat stop")
    assert page.ask("budget")["ok"]["busy"] == ""
    # What is kept beside the thread, or goes on in another one, changes nothing here.
    for flags in ("--no-history", "-t other"):
        assert busy(page.run(f"%%chat {flags}\none", "c2")[1]) == []
    assert page.ask("context", press="clear")["ok"] == {}
