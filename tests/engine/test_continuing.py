"""Resume: a cut answer goes on in its own place, and no word of it is lost."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from jan_magics.domain.errors import RequestRejected, ServerFailed, ThreadError
from jan_magics.domain.events import Finish, ReasoningDelta, StreamEvent, TextDelta, ToolCallDelta
from jan_magics.domain.messages import (
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    text_of,
)
from jan_magics.domain.models import Usage
from jan_magics.domain.tree import Changes
from jan_magics.engine.continuing import GO_ON, Continued, join
from jan_magics.engine.records import KEY, finish_of, usage_of
from jan_magics.engine.undoing import undo
from jan_magics.providers.offline import Behaviour
from tests.engine.threads import Kernel, texts

CUT = {"max_tokens": 2}
WORDS = "one two three four"


def said(*events: str | StreamEvent, finish: Any = "stop") -> tuple[StreamEvent, ...]:
    told = [TextDelta(event) if isinstance(event, str) else event for event in events]
    return (*told, Finish(finish, Usage(7, 3)))


def scripted(kernel: Kernel, *answers: tuple[StreamEvent, ...], continues: bool = True) -> None:
    kernel.behaviour = Behaviour(script=answers, continues=continues)
    kernel.open()


def test_a_cut_answer_goes_on_in_one_request(kernel: Kernel) -> None:
    cut = kernel.ask(WORDS, options=CUT)
    assert (text_of(cut.turn.answer), cut.turn.finish) == ("one two", "length")
    resumed = kernel.ask(aim="resume")
    assert kernel.shown[0] == "one two"  # at once, before a word has come
    assert kernel.path() == [WORDS, WORDS]
    assert texts(resumed.turn.request.messages) == [WORDS, "one two"]
    assert resumed.turn.answer.id == cut.turn.answer.id
    assert kernel.session.view().path()[-1] == resumed.turn.answer
    assert (resumed.turn.finish, resumed.versions) == ("stop", 1)
    with pytest.raises(ThreadError, match="is whole"):
        kernel.ask(aim="resume")


def test_tokens_of_both_requests_are_counted(kernel: Kernel) -> None:
    scripted(kernel, said("one", finish="length"), said("one two"))
    kernel.ask(WORDS)
    assert kernel.ask(aim="resume").turn.usage == Usage(14, 6)
    assert usage_of(kernel.session.view().path()[-1]) == Usage(14, 6)


@pytest.mark.parametrize("answer", [("one two", " three"), ("one", " two three"), (" three",)])
def test_a_repeated_beginning_is_shown_once(kernel: Kernel, answer: tuple[str, ...]) -> None:
    scripted(kernel, said("one two", finish="length"), said(*answer))
    kernel.ask(WORDS)
    kernel.ask(aim="resume")
    assert kernel.path()[-1] == "one two three"
    assert {*kernel.shown} <= {"one two", "one two three"}


def test_a_server_that_does_not_go_on_is_asked_in_an_unstored_turn(kernel: Kernel) -> None:
    scripted(kernel, said("one two", finish="length"), said("three four"), continues=False)
    kernel.ask(WORDS)
    resumed = kernel.ask(aim="resume")
    assert texts(resumed.turn.request.messages) == [WORDS, "one two", GO_ON]
    assert kernel.path() == [WORDS, "one two three four"]
    assert kernel.everything() == [WORDS, "one two three four"]


class Refusing:
    """Refuses to go on with an answer, as a model that thinks first does."""

    name, continues = "offline", True

    def __init__(self, error: Exception, before: str = "") -> None:
        self.error, self.before = error, before
        self.asked: list[list[str]] = []

    def check(self, *_: object) -> None:
        """Accept everything."""

    async def stream(self, request: Any) -> Any:
        self.asked.append(texts(request.messages))
        if request.messages[-1].role == "assistant":
            if self.before:
                yield TextDelta(self.before)
            raise self.error
        yield TextDelta("three")
        yield Finish("stop")

    async def models(self) -> tuple[()]:
        return ()

    async def idle(self) -> bool:
        return True

    async def close(self) -> None:
        self.asked.clear()


def test_a_refused_prefill_is_asked_in_an_unstored_turn(kernel: Kernel) -> None:
    kernel.ask(WORDS, options=CUT)
    provider = Refusing(RequestRejected("prefill is incompatible with thinking"))
    kernel.session.engine._open[("offline", None)] = provider
    kernel.ask(aim="resume")
    assert provider.asked == [[WORDS, "one two"], [WORDS, "one two", GO_ON]]
    assert kernel.path() == [WORDS, "one two three"]


def test_a_server_that_fails_in_mid_answer_is_not_asked_twice(kernel: Kernel) -> None:
    kernel.ask(WORDS, options=CUT)
    provider = Refusing(ServerFailed("out of memory"), before=" and")
    kernel.session.engine._open[("offline", None)] = provider
    with pytest.raises(ServerFailed):
        kernel.ask(aim="resume")
    assert len(provider.asked) == 1
    assert kernel.path() == [WORDS, "one two and"]
    assert finish_of(kernel.session.view().path()[-1]) == "error"


@pytest.mark.parametrize("moment", ["before", "in", "after"])
def test_nothing_is_lost_when_it_fails(kernel: Kernel, moment: str) -> None:
    kernel.ask(WORDS, options=CUT)
    before = kernel.session.view().index.messages
    with pytest.raises(ServerFailed):
        kernel.ask(aim="resume", options={"parameters": {"fail": moment}})
    assert kernel.path()[-1].startswith("one two")
    if moment == "before":
        assert kernel.session.view().index.messages == before
    kernel.ask(aim="resume")
    assert kernel.path() == [WORDS, WORDS]


def test_nothing_is_lost_when_it_is_stopped(kernel: Kernel) -> None:
    kernel.ask(WORDS, options=CUT)

    async def stop() -> None:
        parameters = {"pace": 0.03}
        asking = kernel.asking(aim="resume", options={"parameters": parameters})
        task = asyncio.create_task(kernel.session.send(asking, lambda _: None))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stop())
    assert kernel.path()[-1].startswith("one two")
    assert finish_of(kernel.session.view().path()[-1]) in ("stopped", "length")


@pytest.mark.parametrize("moment", ["in", "after"])
def test_an_answer_that_failed_goes_on(kernel: Kernel, moment: str) -> None:
    with pytest.raises(ServerFailed):
        kernel.ask(WORDS, options={"parameters": {"fail": moment}})
    kernel.ask(aim="resume")
    assert kernel.path() == [WORDS, WORDS]
    assert finish_of(kernel.session.view().path()[-1]) == "stop"


def test_what_comes_later_stays_below_the_answer(kernel: Kernel) -> None:
    kernel.ask(WORDS, options=CUT)
    kernel.ask("next")
    outcome = kernel.ask(aim="resume", at=kernel.id(1))
    assert kernel.path() == [WORDS, WORDS, "next", "next"]
    assert outcome.lines == ()


def test_an_answer_on_another_branch_goes_on_and_is_shown(kernel: Kernel) -> None:
    kernel.ask(WORDS, options=CUT)
    cut = kernel.id(1)
    kernel.ask(aim="retry")
    kernel.ask("next")
    outcome = kernel.ask(aim="resume", at=cut)
    assert (kernel.id(1), kernel.path()) == (cut, [WORDS, WORDS])
    assert outcome.lines == ("3 later messages stay on answer 2 · back: %chat undo",)
    undo(kernel.session)
    assert len(kernel.path()) == 4


def test_reasoning_is_kept(kernel: Kernel) -> None:
    scripted(
        kernel,
        said(ReasoningDelta("hm"), "one", finish="length"),
        said(ReasoningDelta(" so"), "one two"),
    )
    kernel.ask(WORDS)
    kernel.ask(aim="resume")
    parts = kernel.session.view().path()[-1].parts
    assert parts == (ReasoningPart("hm"), ReasoningPart(" so"), TextPart("one two"))


def test_an_answer_that_only_thought_is_asked_again(kernel: Kernel) -> None:
    scripted(kernel, said(ReasoningDelta("hm"), finish="length"), said("one"))
    kernel.ask(WORDS)
    resumed = kernel.ask(aim="resume")
    assert texts(resumed.turn.request.messages) == [WORDS]
    assert resumed.turn.answer.parts == (ReasoningPart("hm"), TextPart("one"))


def test_a_tool_call_that_comes_first_leaves_the_old_text_in_view(kernel: Kernel) -> None:
    call = ToolCallDelta(0, "c", "f", "{}")
    scripted(kernel, said("one", finish="length"), said(call), said("two"))
    kernel.ask(WORDS)
    kernel.ask(aim="resume")
    one, made, result, two = kernel.session.view().path()[-1].parts
    assert (one, made, two) == (TextPart("one"), ToolCallPart("c", "f", "{}"), TextPart("two"))
    assert isinstance(result, ToolResultPart)
    assert result.state == "error"  # nobody has offered f


def test_marks_of_the_cut_are_gone_and_foreign_ones_count(kernel: Kernel) -> None:
    kernel.ask(WORDS, options=CUT)
    view = kernel.session.view()
    answer = view.path()[-1]
    foreign = {key: value for key, value in answer.metadata.items() if key != KEY}
    marked = replace(answer, metadata={**foreign, "stopped": True, "error": "x", "kept": 1})
    assert view.thread
    kernel.session.engine.apply(view.thread, Changes((marked,)))
    kernel.ask(aim="resume")
    assert {"kept", KEY} == set(kernel.session.view().path()[-1].metadata)


def test_there_must_be_an_answer(kernel: Kernel) -> None:
    with pytest.raises(ThreadError, match="no answer to go on with"):
        kernel.ask(aim="resume")
    with pytest.raises(ServerFailed):
        kernel.ask("one", options={"parameters": {"fail": "before"}})
    with pytest.raises(ThreadError, match="no answer to go on with"):
        kernel.ask(aim="resume")


@pytest.mark.parametrize(
    ("old", "new", "joined"),
    [
        ("one", "two", "one two"),
        ("one.", "Two", "one. Two"),
        ("one ", "two", "one two"),
        ("one", ", two", "one, two"),
        ("one", " two", "one two"),
        ("北京是", "首都", "北京是首都"),
        ("(", "a", "(a"),
        ("", "a", "a"),
    ],
)
def test_words_of_another_message_are_joined(old: str, new: str, joined: str) -> None:
    assert join(old, new) == joined


def test_a_beginning_under_way_is_no_new_word() -> None:
    growing = Continued(before=(TextPart("one two"),))
    growing.add(TextDelta("one t"))
    assert growing.parts() == growing.before
    growing.add(Finish("stop"))
    assert growing.text() == "one twoone t"  # a server that goes on so has said so
