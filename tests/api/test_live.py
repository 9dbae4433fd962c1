"""A turn that goes on in another kernel is known; nothing builds on half of it or loses it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.domain.errors import ThreadError
from jan_magics.domain.models import ChatOptions
from jan_magics.domain.overlays import CellLink
from jan_magics.engine.asking import Asking
from jan_magics.storage.live import LiveTurn, LiveTurns
from tests.notebook_host import NotebookHost, footer, write

WORDS = " ".join(f"词{number}" for number in range(40))
BUSY = "the question before is being answered in another kernel, and this one stands beside it"


@pytest.fixture(params=["sqlite", "jsonl"])
def chats(request: pytest.FixtureRequest) -> Iterator[tuple[jan.Chat, jan.Chat]]:
    """Two that write to one thread, each with an engine of its own."""
    kind = {"model": "offline:echo", "store": request.param}
    with jan.Chat("笔记", **kind) as one, jan.Chat("笔记", **kind) as other:
        yield one, other


@pytest.mark.parametrize("before", [0, 1])
def test_a_turn_stands_beside_one_that_goes_on_elsewhere(
    chats: tuple[jan.Chat, jan.Chat], before: int
) -> None:
    one, other = chats
    for _ in range(before):
        one.send("first")
    pieces = iter(one.stream(WORDS, pace=0.04))
    next(pieces)
    while len(other.messages()) < 2 * before + 2:
        time.sleep(0.02)
    assert "being answered" in str(other.show())
    assert "being answered" in str(other.tree())
    assert "interrupted" not in str(other.show())
    assert other.turns().finish.isna().tolist() == [False] * before + [True]
    ran = other.send("second")
    assert BUSY in footer(ran)
    assert [each["text"] for each in ran.sent["messages"]] == ["first"] * 2 * before + ["second"]
    for _ in pieces:
        pass
    table = one.messages(all=True)
    assert sorted(table.text) == sorted(["first"] * 2 * before + [WORDS, WORDS, "second", "second"])
    answer = table[(table.role == "assistant") & (table.text == WORDS)].iloc[0]
    assert table[table.id == answer.parent].text.tolist() == [WORDS]
    other.undo()
    assert other.messages().text.tolist() == ["first"] * 2 * before + [WORDS, WORDS]
    assert other.turns().finish.tolist()[-1] == "stop"


def test_what_goes_on_elsewhere_is_not_gone_on_with(chats: tuple[jan.Chat, jan.Chat]) -> None:
    one, other = chats
    pieces = iter(one.stream(WORDS, pace=0.04))
    next(pieces)
    while len(other.messages()) < 2:
        time.sleep(0.02)
    with pytest.raises(ThreadError, match="is being answered in another kernel") as caught:
        other.resume()
    assert caught.value.next_step.startswith("Look at it: %chat show")
    for at in (None, *other.messages().id):
        with pytest.raises(ThreadError, match="is being answered in another kernel"):
            other.retry(at)
    with pytest.raises(ThreadError, match="is being answered in another kernel"):
        other.send("below", at=other.messages().id[1])
    for _ in pieces:
        pass
    with pytest.raises(ThreadError, match="is whole"):
        other.resume()
    assert other.messages(all=True).text.tolist() == [WORDS, WORDS]
    assert other.retry().versions == 2


def test_the_same_cell_in_two_kernels_says_that_both_answer(tmp_path: Path) -> None:
    notebook = write(tmp_path / "n.ipynb", {"0a1b2c3d": WORDS})
    with NotebookHost(notebook) as one, NotebookHost(notebook) as other:
        for each in (one, other):
            each.running = ("0a1b2c3d", f"%%chat\n{WORDS}")
        link = CellLink(one.host.opening.here().notebook, "0a1b2c3d", 0, "")
        slow = ChatOptions(parameters={"pace": 0.04})
        job = one.host.begin(Asking(WORDS, None, "offline:echo", options=slow, cell=link))
        while len(other.path()) < 2:
            time.sleep(0.02)
        ran = other.ask(WORDS, "0a1b2c3d")
        assert "the question is being answered in another kernel too" in footer(ran)
        assert job.result().turn.finish == "stop"
        assert other.path(everything=True) == [WORDS] * 3


def test_a_question_without_a_word_yet_is_being_answered_too(
    chats: tuple[jan.Chat, jan.Chat],
) -> None:
    one, other = chats
    stream = one.stream(WORDS, delay=20)
    while len(other.messages()) < 1:
        time.sleep(0.02)
    assert "You, being answered" in str(other.show())
    with pytest.raises(ThreadError, match="is being answered in another kernel"):
        other.retry()
    assert BUSY in footer(other.send("second"))
    stream.close()
    assert "being answered" not in str(other.tree())


def test_the_end_of_a_kernel_is_the_end_of_its_turns(tmp_path: Path) -> None:
    turns = LiveTurns(tmp_path / "live")
    assert list(turns.of("t")) == []
    turn = LiveTurn("t", "q", "a")
    held = turns.begin(turn)
    assert held is not None
    assert list(turns.of("t")) == [turn]
    assert list(turns.of("u")) == []
    held.end()
    assert list(turns.folder.iterdir()) == []
    # What a kernel leaves that was killed: its file, and a lock that nobody holds.
    (turns.folder / "left.json").write_text(json.dumps(["t", "q", "a"]), "utf-8")
    (turns.folder / "torn.json").write_text('["t", "q', "utf-8")
    assert list(turns.of("t")) == []
    assert not (turns.folder / "left.json").exists()
