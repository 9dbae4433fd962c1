"""What a page in JupyterLab is told and may ask, in a real kernel with a page's subshell."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.kernel import TURN, Kernel, running_kernel
from tests.page import FollowingPage, check

ECHO = "%%chat -m offline:echo"
SLOW = f"{ECHO} -P pace=0.02\n" + " ".join(f"word{n}" for n in range(200)) + " 中文 🦊 <b>&"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    named = str(tmp_path / "notebook.ipynb")
    data = str(tmp_path / "data")
    with running_kernel(tmp_path, JPY_SESSION_NAME=named, JAN_DATA_FOLDER=data) as running:
        running.ok("%load_ext jan_magics")
        yield running


@pytest.fixture
def page(kernel: Kernel) -> FollowingPage:
    return FollowingPage(kernel)


def folded(events: Sequence[dict[str, Any]]) -> str:
    """Put together what pages show of a turn, counting as JavaScript does."""
    text = b""
    for event in events:
        if event["kind"] == "turn":
            text = text[: 2 * event["at"]] + event["text"].encode("utf-16-le")
    return text.decode("utf-16-le")


def place(turn: Mapping[str, Any]) -> dict[str, Any]:
    return {"thread": turn["thread_id"], "message": turn["message"], "cell": "c1"}


def test_a_page_is_told_only_what_is_new(page: FollowingPage) -> None:
    ran, events = page.run(SLOW, "c1")
    # What comes in the last moment is in the final display only.
    assert ran.turn["markdown"].startswith(folded(events))
    assert "word150" in folded(events)
    assert ran.turn["markdown"].endswith("中文 🦊 &lt;b>&")
    assert {event["cell"] for event in events} == {"c1"}
    assert events[-1]["kind"] == "over"
    first = check("PageLive", ran.updates[0][TURN])
    check("PageShown", ran.turn)
    assert (first["live"], first["cell"]) == (events[0]["turn"], "c1")
    # All of the text is sent now and then only: the rest are pieces.
    assert sum(len(event.get("text", "")) for event in events) < 1.2 * len(ran.turn["markdown"])
    assert len(ran.updates) < 6


def test_without_a_page_nothing_is_sent_beside_the_display(kernel: Kernel) -> None:
    ran = kernel.ok(SLOW)
    assert all(TURN not in update for update in ran.updates[:-1])
    assert ran.turn["finish"] == "stop"


def test_a_button_stops_the_turn_of_a_running_cell(page: FollowingPage) -> None:
    ran, events = page.run(SLOW, "c1", stop="word7")
    assert ran.status == "error"
    assert (ran.error or "?")[0] == "Stopped"
    assert ran.turn["finish"] == "stopped"
    assert "word150" not in folded(events)


def test_an_answer_is_known_by_its_thread_and_its_id(page: FollowingPage) -> None:
    turn = page.run(f"{ECHO}\none", "c1")[0].turn
    here = place(turn)
    asked = [here, {**here, "message": "0" * 32}, {**here, "thread": "0" * 32}, "nonsense"]
    known = page.ask("known", answers=asked)["ok"]["answers"]
    check("PageState", known[turn["message"]])
    assert known == {
        turn["message"]: {
            "version": 1, "versions": 1, "on_path": True, "pinned": False, "cut": False,
            "live": False, "memory": "context",
        }
    }  # fmt: skip


def test_retry_streams_a_version_and_go_shows_the_first_again(page: FollowingPage) -> None:
    ran, _ = page.run(f"{ECHO}\none", "c1")
    again = page.ask("retry", **place(ran.turn))["ok"]["turn"]
    events = page.events(again)
    second = events[-1]["bundle"][TURN]
    assert (second["version"], second["versions"]) == (2, 2)
    assert second["text"] == "one"
    back = page.ask("go", **place(second), to="prev")["ok"]["bundle"][TURN]
    assert (back["message"], back["version"]) == (ran.turn["message"], 1)
    refused = page.ask("go", **place(back), to="prev")["error"]
    assert refused["said"] == "ThreadError: this is version 1 of 2"


def test_edit_puts_a_version_beside_and_sends_nothing(page: FollowingPage) -> None:
    turn = page.run(f"{ECHO}\none", "c1")[0].turn
    edited = page.ask("edit", **place(turn), text="一 <b>")["ok"]["bundle"][TURN]
    assert (edited["text"], edited["version"], edited["usage"]["output"]) == ("一 <b>", 2, None)
    refused = page.ask("edit", **place(turn))
    assert "text = None" in refused["error"]["said"]


def test_resume_goes_on_with_a_stopped_answer(page: FollowingPage) -> None:
    ran, _ = page.run(SLOW, "c1", stop="word7")
    state = page.ask("known", answers=[place(ran.turn)])["ok"]["answers"]
    assert state[ran.turn["message"]]["cut"]
    events = page.events(page.ask("resume", **place(ran.turn))["ok"]["turn"])
    whole = events[-1]["bundle"][TURN]
    assert whole["message"] == ran.turn["message"]
    assert len(whole["text"]) > len(ran.turn["text"])


def test_pin_is_seen_and_taken_back(page: FollowingPage) -> None:
    turn = page.run(f"{ECHO}\none", "c1")[0].turn
    assert page.ask("pin", **place(turn), pinned=True)["ok"]["state"]["pinned"]
    assert not page.ask("pin", **place(turn), pinned=False)["ok"]["state"]["pinned"]


def test_a_page_that_comes_late_is_told_what_runs(page: FollowingPage) -> None:
    ran, _ = page.run(f"{ECHO}\none", "c1")
    page.kernel.ok(f"{SLOW.replace('%%chat', '%%chat --background')}", cell_id="c2")
    turns = page.ask("running")["ok"]["turns"]
    assert [each["cell"] for each in turns] == ["c2"]
    assert page.ask("fly")["error"]["next"].startswith("Upgrade jan-magics")
    page.stop(turns[0]["turn"])
    assert page.events(turns[0]["turn"])[-1]["kind"] == "over"
    assert page.ask("running")["ok"]["turns"] == []
    assert ran.turn["message"]


def test_the_status_names_thread_model_and_share(page: FollowingPage) -> None:
    before = check("PageStatus", page.ask("status")["ok"])
    assert (before["thread"], before["messages"], before["tokens"]) == ("", 0, None)
    page.run(f"{ECHO} -t 你好\none", "c1")
    assert page.ask("status")["ok"]["thread"] == ""  # that of the next cell
    page.run(f"{ECHO} --window 8000\none", "c2")
    now = check("PageStatus", page.ask("status")["ok"])
    assert (now["thread"], now["model"], now["messages"]) == ("notebook", "offline:echo", 2)
    assert 0 < now["tokens"] < now["budget"] < 8000


def test_the_map_follows_clearing_trimming_and_branches(page: FollowingPage) -> None:
    first = place(page.run(f"{ECHO}\none", "c1")[0].turn)

    def memory() -> str:
        found: str = page.ask("known", answers=[first])["ok"]["answers"][first["message"]]["memory"]
        return found

    assert memory() == "context"
    page.kernel.ok("%chat clear")
    assert memory() == "dropped"
    page.kernel.ok("%chat clear --off")
    for number in range(4):
        page.run(f"{ECHO} --window 3000\n" + "word " * 400, f"long{number}")
    assert memory() == "dropped"
    page.run(f"{ECHO}\nanother", "c1")
    assert memory() == "branch"


def test_a_source_is_shown_in_its_document(page: FollowingPage, tmp_path: Path) -> None:
    text = "# Boats\n\nA boat floats on water, 船 <b>.\n"
    (tmp_path / "boats.md").write_text(text, encoding="utf-8")
    turn: Mapping[str, Any] = {}
    for where in ("papers", "./own.db"):
        page.kernel.ok(f"%rag add -c {where} boats.md")
        turn = page.run(f"{ECHO} -c {where} --threshold -1\nWhat floats?", "c1")[0].turn
        assert turn["sources"][0]["source"].endswith("boats.md")
        shown = check("PageChunk", page.ask("source", **place(turn), number=1)["ok"]["place"])
        assert "船 <b>" in shown["text"]
        assert shown["before"] + shown["text"] + shown["after"] == text
        assert shown["cut"] == [False, False]
    missing = page.ask("source", **place(turn), number=9)["error"]
    assert missing == {"said": "RetrievalError: this answer has no source 9",
                       "next": "Look at: answer.sources"}  # fmt: skip
    page.kernel.ok("%rag remove -c ./own.db boats.md")
    gone = page.ask("source", **place(turn), number=1)["error"]
    assert "in no collection any more" in gone["said"]


def test_the_map_tells_a_left_branch_from_another_version(page: FollowingPage) -> None:
    places = [place(page.run(f"{ECHO}\nturn {n}", f"c{n}")[0].turn) for n in range(3)]

    def memory() -> list[str]:
        found = page.ask("known", answers=places)["ok"]["answers"]
        return [check("PageState", found[each["message"]])["memory"] for each in places]

    assert memory() == ["context"] * 3
    page.run(f"{ECHO}\nchanged", "c1")
    assert memory() == ["context", "branch", "left"]
    page.run(f"{ECHO}\nall anew", "c0")
    assert memory() == ["branch", "left", "left"]
