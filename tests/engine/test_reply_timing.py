"""What is told of an answer's speed, and of what happens before its first word."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from jan_magics.domain.events import (
    Finish,
    Loading,
    Prefill,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
)
from jan_magics.domain.models import ChatRequest, Timings, Usage
from jan_magics.engine.reply import Progress, Reply
from tests.engine.opened import Model
from tests.providers.asking import asking

PAUSE = 0.15
"""Seconds between two events of a stream."""


class Slow(Model):
    """Sends its events with a pause before each but the first."""

    def __init__(self, *events: StreamEvent) -> None:
        super().__init__()
        self.events = events

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        for number, event in enumerate(self.events):
            await asyncio.sleep(PAUSE if number else 0)
            yield event


def received(*events: StreamEvent) -> tuple[Reply, list[str]]:
    shown: list[str] = []

    def show(progress: Progress) -> None:
        if progress.note and progress.note not in shown:
            shown.append(progress.note)

    reply = Reply(show, lambda: None)
    asyncio.run(reply.receive(Slow(*events), asking("hi")))
    return reply, shown


COUNTED = Finish("stop", Usage(10, 30))


@pytest.mark.parametrize("first", [TextDelta("想"), ReasoningDelta("想")])
def test_the_speed_is_measured_from_the_first_delta_to_the_last(first: StreamEvent) -> None:
    reply, _ = received(Prefill(5, 10, 0), first, TextDelta("a"), TextDelta("b"), COUNTED)
    timings = reply.timings()
    # Neither the prompt before nor the wait for the end behind is decoding.
    assert timings.tokens_per_second
    assert timings.first_token
    assert timings.total
    assert timings.tokens_per_second <= 30 / (2 * PAUSE) * 1.02
    assert timings.tokens_per_second > 30 / (timings.total - 1.5 * PAUSE)
    assert timings.first_token >= PAUSE * 0.98


def test_what_the_server_says_of_its_speed_goes_before() -> None:
    told = Finish("stop", Usage(10, 30), Timings(tokens_per_second=7.5, load=2.0, prefill=1.0))
    reply, _ = received(TextDelta("a"), TextDelta("b"), told)
    timings = reply.timings()
    assert (timings.tokens_per_second, timings.load, timings.prefill) == (7.5, 2.0, 1.0)


@pytest.mark.parametrize(
    "events",
    [
        (TextDelta("all at once"), COUNTED),  # no time between two deltas
        (TextDelta("a"), TextDelta("b"), Finish("stop")),  # nobody counted
        (TextDelta("a"), TextDelta("b"), Finish("stop", Usage(10, 1))),
    ],
)
def test_a_speed_that_nobody_knows_is_none(events: tuple[StreamEvent, ...]) -> None:
    reply, _ = received(*events)
    assert reply.timings().tokens_per_second is None


def test_loading_and_the_prompt_are_told_until_the_first_word() -> None:
    _, shown = received(
        Loading("loading 千问"), Prefill(0, 931, 0), Prefill(512, 931, 0), TextDelta("a"), COUNTED
    )
    assert shown == ["loading 千问", "reading prompt 0/931", "reading prompt 512/931"]
