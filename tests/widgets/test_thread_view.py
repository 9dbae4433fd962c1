"""`%chat show --live` in a real kernel: one asks, stops, edits, clears and compacts in the page."""

import re
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from jan_magics.domain.branching import attach
from jan_magics.domain.messages import TextPart
from jan_magics.domain.tree import Changes, TreeIndex
from jan_magics.notebook.bridge import Bridge
from jan_magics.widgets.comm import VIEW
from jan_magics.widgets.thread_view import ThreadView
from tests.domain.trees import message
from tests.engine.threads import Kernel as Opened
from tests.kernel import Kernel
from tests.magics.test_compacting import HANGS, SUMMARY, asked
from tests.widgets.pages import WIDGET, Page, check_message

ECHO = "%chat use -m offline:echo"


def opened(kernel: Kernel, use: str = ECHO) -> Page:
    """Show the thread and let the page say that it is there."""
    kernel.ok(use)
    page = Page(kernel, kernel.ok("%chat show --live", cell_id="view"), "thread")
    page.ask("thread", kind="ready")
    return page


def over(page: Page) -> dict[str, object]:
    """Wait until nothing goes on, and return the thread as it is then."""
    while page.said[-1]["kind"] != "thread" or page.said[-1]["busy"]:
        page.wait("thread")
    return page.said[-1]


def asks(page: Page, **said: object) -> list[dict[str, object]]:
    """Ask for something that takes time, and return the rows after it."""
    page.ask("thread", **said)
    rows = over(page)["rows"]
    assert isinstance(rows, list)
    return rows


def test_a_question_is_asked_and_answered(kernel: Kernel) -> None:
    page = opened(kernel)
    rows = asks(page, kind="send", text="你好 **world**")
    assert [row["role"] for row in rows] == ["user", "assistant"]
    assert rows[1]["html"] == "<p>你好 <strong>world</strong></p>\n"
    assert page.said[1]["busy"] == {
        "what": "answering", "prompt": "你好 **world**", "stop": True,
    }  # fmt: skip
    # A cell that asks next goes on below, and the page follows.
    page.hear(kernel.ok("%%chat\nfrom a cell", cell_id="c"))
    newest = page.said[-1] if page.said[-1]["total"] == 4 else page.wait("thread")
    assert newest["total"] == 4
    assert newest["rows"][-1]["html"] == "<p>from a cell</p>\n"


def test_versions_edits_and_retries(kernel: Kernel) -> None:
    page = opened(kernel)
    question, answer = asks(page, kind="send", text="one")
    rows = asks(page, kind="retry", message=answer["message"])
    assert (rows[1]["version"], rows[1]["versions"]) == (2, 2)
    rows = page.ask("thread", kind="version", message=rows[1]["message"], step=-1)["rows"]
    assert rows[1]["message"] == answer["message"]
    rows = asks(page, kind="edit", message=question["message"], text="二")
    assert [row["html"] for row in rows] == ["<p>二</p>\n"] * 2
    assert (rows[0]["version"], rows[0]["versions"]) == (2, 2)
    source = page.ask("source", kind="source", message=rows[1]["message"])
    assert source["text"] == "二"
    edited = page.ask("thread", kind="edit", message=rows[1]["message"], text="by hand")
    assert edited["busy"] is None
    assert edited["rows"][1]["html"] == "<p>by hand</p>\n"


def test_stop_keeps_what_was_said(kernel: Kernel) -> None:
    page = opened(kernel, f"{ECHO} -P pace=0.05")
    page.ask("delta", kind="send", text="\n\n".join(f"paragraph {n}" for n in range(100)))
    while "paragraph 3" not in str(page.said[-1]):
        page.wait("delta")
    begun = time.monotonic()
    page.say(kind="stop")
    rows = over(page)["rows"]
    assert time.monotonic() - begun < 2
    assert isinstance(rows, list)
    assert "stopped" in rows[1]["who"]
    assert "paragraph 3" in rows[1]["html"]
    assert kernel.ok("__import__('jan_magics').current().messages().text[1][:11]").result == (
        "'paragraph 0'"
    )


def test_a_stopped_answer_is_gone_on_with(kernel: Kernel) -> None:
    page = opened(kernel, f"{ECHO} -P pace=0.02")
    text = "\n\n".join(f"paragraph {n}" for n in range(60))
    page.ask("delta", kind="send", text=text)
    while "paragraph 3" not in str(page.said[-1]):
        page.wait("delta")
    page.say(kind="stop")
    rows = over(page)["rows"]
    assert isinstance(rows, list)
    assert [row["cut"] for row in rows] == [False, True]
    whole = asks(page, kind="resume", message=rows[1]["message"])
    assert whole[1]["message"] == rows[1]["message"]
    assert whole[1]["cut"] is False
    assert "paragraph 59" in str(whole[1]["html"])


def test_the_kernel_is_free_while_an_answer_grows(kernel: Kernel) -> None:
    page = opened(kernel, f"{ECHO} -P pace=0.05")
    page.ask("delta", kind="send", text="word " * 60)
    ran = kernel.ok("6 * 7")
    assert ran.result == "42"
    assert ran.seconds < 2  # the answer takes three
    refused = page.ask("failed", kind="send", text="another")
    assert refused == {
        "kind": "failed", "message": "answering goes on", "next": "Wait for it, or stop it.",
    }  # fmt: skip
    page.say(kind="stop")
    over(page)


def test_a_page_that_comes_back_goes_on_where_the_answer_is(kernel: Kernel) -> None:
    page = opened(kernel, f"{ECHO} -P pace=0.05")
    page.say(kind="send", text="\n\n".join(f"paragraph {n}" for n in range(100)))
    while "paragraph 3" not in str(page.said[-1]):
        page.wait("delta")
    page.say(kind="ready")
    state = page.wait("thread")
    assert state["busy"] == {"what": "answering", "prompt": "", "stop": True}
    assert [row["role"] for row in state["rows"]] == ["user"]
    whole = page.wait("delta")
    assert whole["fresh"]
    assert "<p>paragraph 0</p>" in whole["settled"]
    page.say(kind="stop")
    over(page)


def test_other_views_follow(kernel: Kernel) -> None:
    kernel.ok(ECHO)
    tree = Page(kernel, kernel.ok("%chat tree --live", cell_id="tree"), "tree")
    page = opened(kernel)
    page.say(kind="send", text="你好")
    assert [row["text"] for row in tree.wait("tree")["rows"]] == ["你好", "你好"]


def test_what_is_cleared_unfolds_to_the_originals(kernel: Kernel) -> None:
    page = opened(kernel)
    asks(page, kind="send", text="one")
    state = page.ask("thread", kind="clear")
    assert [row["what"] for row in state["rows"]] == ["cleared"]
    assert state["can"] == {"clear": False, "restore": True, "compact": False, "uncompact": False}
    fold = state["rows"][0]
    inside = page.ask("opened", kind="open", message=fold["message"], **{"from": 0})
    assert [row["html"] for row in inside["rows"]] == ["<p>one</p>\n"] * 2
    assert inside["total"] == fold["count"] == 2
    assert "nothing to clear" in page.ask("failed", kind="clear")["message"]
    assert page.ask("thread", kind="restore")["total"] == 2


def test_compacting_is_shown_and_taken_back(tmp_path: Path) -> None:
    with asked(tmp_path, SUMMARY) as (kernel, server):
        page = Page(kernel, kernel.ok("%chat show --live", cell_id="view"), "thread")
        assert page.ask("thread", kind="ready")["total"] == 10
        rows = asks(page, kind="compact")
        assert {"what": "compacting", "prompt": "", "stop": True} in [
            each.get("busy") for each in page.said
        ]
        assert rows[0]["what"] == "summary"
        assert "The user plans an experiment" in str(rows[0]["html"])
        count = rows[0]["count"]
        inside = page.ask("opened", kind="open", message=rows[0]["message"], **{"from": 0})
        assert len(inside["rows"]) == inside["total"] == count
        assert page.ask("thread", kind="uncompact")["total"] == 10
        assert len(server.bodies) == 6


def test_compacting_begins_once_and_can_be_stopped(tmp_path: Path) -> None:
    with asked(tmp_path, HANGS) as (kernel, _):
        page = Page(kernel, kernel.ok("%chat show --live", cell_id="view"), "thread")
        page.ask("thread", kind="ready")
        page.ask("thread", kind="compact")
        assert page.ask("failed", kind="compact")["message"] == "compacting goes on"
        page.say(kind="stop")
        state = over(page)
        assert state["total"] == 10
        assert "summary" not in str(state["rows"])


def test_a_failure_is_told_in_the_page(kernel: Kernel) -> None:
    page = opened(kernel, f"{ECHO} -P fail=before")
    page.say(kind="send", text="x")
    failure = page.wait("failed")
    assert "fails before the stream" in failure["message"]
    assert failure["next"]
    assert page.ask("thread", kind="ready")["busy"] is None
    assert "the prompt is empty" in page.ask("failed", kind="send", text="  ")["message"]


def test_the_text_stands_beside_the_view_and_the_state_is_small(kernel: Kernel) -> None:
    kernel.ok(ECHO)
    for n in range(3):
        kernel.ok(f"%%chat -q\nquestion {n} " + "words " * 3000)
    ran = kernel.ok("view = __import__('jan_magics').current().view()\nview")
    bundle = ran.results[-1]
    assert {WIDGET, VIEW, "text/plain", "text/html", "text/markdown"} == bundle.keys()
    assert "question 2" in bundle["text/plain"]
    page = Page(kernel, ran, "thread")
    assert page.state["first"] == {}
    assert "question 2" not in str(page.state)
    assert len(str(page.state)) < 50_000
    kernel.ok("view.close()")
    assert kernel.ok("get_ipython().jan_magics_views.opened").result == "[]"
    assert WIDGET not in kernel.ok("view").results[-1]


def test_a_stream_costs_little_on_the_wire(kernel: Kernel) -> None:
    page = opened(kernel, f"{ECHO} -P pace=0.001")
    text = "Some *words* of an answer with `code`.\n\n" * 150
    asks(page, kind="send", text=text)
    sent = [each for each in page.said if each["kind"] == "delta"]
    assert len(sent) > 3
    assert sum(len(str(each)) + 600 for each in sent) < 200_000


def test_the_sources_of_an_answer_stand_below_it(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "船.md").write_text("A red boat floats.", encoding="utf-8")
    kernel.ok(f"%rag add '{tmp_path}/船.md' --embedder none -c it")
    kernel.ok("%%chat -m offline:echo -c it\nWhich boat floats [1]? Not [2].", cell_id="c")
    question, answer = opened(kernel).said[-1]["rows"]
    assert question["sources"] == []
    (source,) = answer["sources"]
    assert source["n"] == 1
    assert re.fullmatch(r".*船\.md · \d+\.\d\d", source["said"])
    assert re.findall(r'<a class="jan-cite" title="1">(.*?)</a>', answer["html"])[0] == "[1]"
    assert "[2]" in re.sub(r"<a .*?</a>", "", answer["html"])


@pytest.mark.parametrize("live", ["%chat show --live abcdef", "%chat show --live --sent"])
def test_a_view_shows_the_thread(kernel: Kernel, live: str) -> None:
    assert "leave the rest out" in kernel.run(live).err


def test_a_thousand_turns_open_at_once(tmp_path: Path) -> None:
    session = Opened(tmp_path).session
    thread = session.threads.obtain("long")
    session.sticky = replace(session.sticky, thread=thread.id)
    index, begun = TreeIndex(), message("u0").created_at
    for n in range(2000):
        new = replace(
            message(f"{'a' if n % 2 else 'u'}{n:06}"),
            parts=(TextPart(f"text {n} **bold** " + "words " * 100),),
            created_at=begun + timedelta(seconds=n),
            thread_id=thread.id,
        )
        index = index.after(attach(index, new))
    session.engine.apply(thread, Changes(index.messages))
    said: list[dict[str, object]] = []
    view = ThreadView(Bridge(), lambda: session, lambda _: None)
    view.joined(said.append)
    started = time.perf_counter()
    view.hear({"kind": "ready"})
    assert time.perf_counter() - started < 1
    check_message("thread", "toPage", said[0])
    assert (said[0]["total"], said[0]["from"]) == (2000, 1970)
    view.hear({"kind": "earlier", "before": 1970})
    check_message("thread", "toPage", said[1])
    assert said[1]["from"] == 1940
