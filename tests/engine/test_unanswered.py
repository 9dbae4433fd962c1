"""A question without an answer is never sent with the next one, also after a restart."""

import asyncio
from pathlib import Path

import pytest

from jan_magics.domain.errors import ServerFailed, ThreadError
from jan_magics.domain.events import Finish, ReasoningDelta, StreamEvent
from jan_magics.domain.messages import text_of
from jan_magics.engine.branches import go
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.undoing import undo
from jan_magics.providers.offline import Behaviour
from tests.engine.threads import Kernel

FAILS = {"parameters": {"fail": "before"}}


def fail(kernel: Kernel, text: str = "lost", **asking: object) -> None:
    with pytest.raises(ServerFailed):
        kernel.ask(text, options=FAILS, **asking)


def sent(outcome: Outcome) -> list[str]:
    return [text_of(message) for message in outcome.turn.request.messages]


def test_the_next_question_stands_beside_it(kernel: Kernel) -> None:
    kernel.ask("one")
    fail(kernel)
    assert kernel.path() == ["one", "one", "lost"]
    assert sent(kernel.ask("two")) == ["one", "one", "two"]
    assert kernel.path() == ["one", "one", "two", "two"]
    assert "lost" in kernel.everything()
    assert sent(kernel.ask("three")) == ["one", "one", "two", "two", "three"]


@pytest.mark.parametrize("how", [{}, {"cell": "b"}, {"at": "head"}, {"rerun": "append"}], ids=str)
def test_however_the_next_one_is_asked(kernel: Kernel, how: dict[str, str]) -> None:
    fail(kernel, cell="a")
    fail(kernel, "lost too")
    kernel.open()
    assert sent(kernel.ask("two", **how)) == ["two"]
    assert kernel.path() == ["two", "two"]


def test_it_is_answered_by_retry_and_by_its_cell(kernel: Kernel) -> None:
    fail(kernel, "lost", cell="a")
    kernel.open()
    assert sent(kernel.ask(aim="retry")) == ["lost"]
    assert kernel.path() == ["lost", "lost"]
    fail(kernel, "second", cell="b")
    assert sent(kernel.ask("second", cell="b")) == ["lost", "lost", "second"]
    assert kernel.everything() == ["lost", "lost", "second", "second"]


def test_undo_goes_back_to_it(kernel: Kernel) -> None:
    kernel.ask("one")
    fail(kernel)
    said = kernel.ask("two")
    assert (said.version, said.versions) == (2, 2)
    assert said.lines == ("the question before got no answer and is not sent · back: %chat undo",)
    undo(kernel.session)
    assert kernel.path() == ["one", "one", "lost"]
    kernel.ask(aim="retry")
    assert kernel.path() == ["one", "one", "lost", "lost"]
    go(kernel.session, "next")
    assert kernel.path() == ["one", "one", "two", "two"]


def test_who_names_it_is_told_to_answer_it_first(kernel: Kernel) -> None:
    fail(kernel)
    with pytest.raises(ThreadError, match="a question without an answer"):
        kernel.ask("and this", at=kernel.id(0))


def test_a_partial_answer_is_an_answer(kernel: Kernel) -> None:
    with pytest.raises(ServerFailed):
        kernel.ask("one two", options={"parameters": {"fail": "in"}})
    assert sent(kernel.ask("two")) == ["one two", "one two", "two"]


def test_one_that_was_stopped_or_never_came_back(kernel: Kernel) -> None:
    async def stopped() -> None:
        asking = kernel.asking("lost", options={"parameters": {"delay": 30}})
        task = asyncio.create_task(kernel.session.send(asking, lambda _: None))
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(stopped())
    assert kernel.path() == ["lost"]
    assert sent(kernel.ask("two")) == ["two"]


def test_the_first_footer_that_is_shown_says_new(kernel: Kernel) -> None:
    fail(kernel)
    said = kernel.ask("two")
    assert (said.state, said.messages) == ("new", 0)


def test_a_thread_that_failed_once_is_still_known_after_a_restart(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.open()
    fail(kernel)
    said = kernel.ask("two")
    assert (said.state, said.messages) == ("continued", 2)


def test_a_side_turn_does_not_care(kernel: Kernel) -> None:
    fail(kernel)
    assert sent(kernel.ask("aside", history=False)) == ["aside"]
    assert kernel.path() == ["lost"]


@pytest.mark.parametrize(
    ("events", "what"),
    [((), "the model said nothing"), ((ReasoningDelta("hm"),), "the model only thought")],
    ids=["nothing", "thoughts"],
)
def test_an_answer_without_text_says_so(
    tmp_path: Path, events: tuple[StreamEvent, ...], what: str
) -> None:
    kernel = Kernel(tmp_path, behaviour=Behaviour(script=((*events, Finish("stop")),)))
    said = kernel.ask("one")
    assert said.lines[-1] == f"{what}: the answer has no text · once more: %chat retry"
    kernel.behaviour = Behaviour()
    kernel.open()
    again = kernel.ask("two")
    assert sent(again)[-1] == "two"
    assert "the answer has no text" not in str(again.lines)
