"""A provider's stream becomes parts. Progress is coalesced, partial text is saved."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final

from jan_magics.domain.errors import RequestRejected
from jan_magics.domain.events import (
    Compacted,
    Compacting,
    Finish,
    Folding,
    LeftOut,
    Loading,
    Prefill,
    ReasoningDelta,
    Remark,
    Retrying,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    Unrecorded,
    Waiting,
)
from jan_magics.domain.messages import (
    FinishReason,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ChatRequest, Timings, Usage
from jan_magics.domain.protocols import Provider
from jan_magics.engine.calls import open_calls, with_own_ids
from jan_magics.engine.narrowing import Objections
from jan_magics.engine.records import sum_usage, total_of

SHOW_EVERY: Final = 0.05
"""Seconds between two looks at a growing answer."""
SAVE_EVERY: Final = 0.25
"""Seconds between two writes of a growing answer."""
SHORTEST: Final = 0.1
"""Seconds of decoding that a speed is worth telling for."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A growing answer as people see it: all text so far, and one line on what is happening."""

    text: str = ""
    note: str = ""


@dataclass(slots=True)
class Reply:
    """An answer in the making. `show` is told of progress; `save` writes the parts so far.

    `done` are the parts of the steps that are over, `steps` counts those begun. `sent` is the
    newest request, `objections` what its model refuses of it. `generation` counts up when the
    answer is settled: what an older stream still brings is not taken in, shown or written. `timed`
    False: no seconds seen from here are told. `unrecorded` was asked what a cassette lacks.
    `waiting` is since when others go first.
    """

    show: Callable[[Progress], None]
    save: Callable[[], None]
    folding: Folding = field(default_factory=Folding)
    started: float = field(default_factory=perf_counter)
    first: float | None = None
    last: float = 0.0
    sent: ChatRequest | None = None
    generation: int = 0
    objections: Objections = field(default_factory=Objections)
    new_id: Callable[[], str] = lambda: ""
    done: tuple[Part, ...] = ()
    steps: int = 0
    timed: bool = True
    unrecorded: str = ""
    _results: dict[str, ToolResultPart] = field(default_factory=dict)
    _spent: list[Finish] = field(default_factory=list)
    _begun: float | None = None
    waiting: float | None = None
    _decoded: float = 0.0
    _saving: asyncio.Task[None] | None = None

    async def receive(self, provider: Provider, request: ChatRequest) -> None:
        """Send a request, again without what its model refuses; close its stream in any case."""
        self.steps, self._begun = self.steps + 1, None
        request = self.objections.begin(request)
        while True:
            self.sent = request
            events = provider.stream(request)
            try:
                async with _closing(events):
                    await self._take(events)
                return self.objections.taken()
            except RequestRejected as refusal:
                if self._begun is not None:
                    raise
                request = self.objections.less(request, refusal)

    async def _take(self, events: AsyncIterator[StreamEvent]) -> None:
        show_at, save_at, generation = 0.0, 0.0, self.generation
        async for event in events:
            if generation != self.generation:
                return  # settled meanwhile: what comes late changes nothing
            self.folding.add(event)
            now, kind = perf_counter(), type(event)
            if kind is TextDelta or kind is ReasoningDelta:
                if self._begun is None:
                    self._begun = now
                    self.first = self.first or now
                    save_at = now + SAVE_EVERY
                self.last = now
                if now >= show_at:
                    show_at = now + SHOW_EVERY
                    self.show(Progress(self.text(), "" if kind is TextDelta else "thinking"))
                if now >= save_at:
                    save_at = now + SAVE_EVERY
                    self._save_soon(generation)
            elif isinstance(event, Waiting | Unrecorded | LeftOut | Remark):
                _hear(self, event, now)
            elif note := note_of(event):
                self.show(Progress(self.text(), note))

    def parts(self) -> tuple[Part, ...]:
        """Return the answer so far: the steps that are over, the results, the step under way."""
        calls, results = (p for p in self.done if isinstance(p, ToolCallPart)), self._results
        made = (results[call.call_id] for call in calls if call.call_id in results)
        return (*self.done, *made, *self.folding.parts())

    def text(self) -> str:
        """Return the text so far, as `text_of` would."""
        done = (part.text for part in self.done if isinstance(part, TextPart))
        return "\n\n".join(filter(None, (*done, self.folding.text())))

    def end_step(self) -> tuple[ToolCallPart, ...]:
        """Return what the model has called; where it has, the step is over and another follows."""
        parts = self.folding.parts()
        if not open_calls(parts):
            return ()
        before = self.parts()[: -len(parts)]
        self.spend()
        self._results, self.done = {}, (*before, *with_own_ids(parts, before, self.new_id))
        self._save_soon(self.generation)
        return open_calls(self.done)

    def spend(self) -> Folding:
        """End the words of this step, whose tokens and seconds count; returns them."""
        said, self.folding = self.folding, Folding()
        self._spent.extend([said.finish] if said.finish else [])
        self._decoded += self.last - (self._begun or self.last)
        self._begun = None
        return said

    def take(self, result: ToolResultPart) -> None:
        """Take the result of a call in."""
        self._results[result.call_id] = result

    async def settle(self) -> None:
        """Let no write overtake the final one: wait for one under way, drop one that comes later.

        Nothing cuts the wait off, not even a second interrupt: it could come after the next turn's.
        """
        self.generation += 1
        while self._saving is not None and not self._saving.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({self._saving})
        if self._saving is not None:
            self._saving.result()

    def finish(self) -> FinishReason:
        """Return how the stream ended; a stream that does not say ended by itself."""
        finish = self.folding.finish
        return (finish.reason if finish else None) or "stop"

    def usage(self) -> Usage:
        """Return the tokens as the server counted them."""
        return sum_usage(finish.usage or Usage() for finish in self._finishes())

    def timings(self) -> Timings:
        """Return the server's timings, completed by what was seen from here."""
        known = total_of([finish.timings or Timings() for finish in self._finishes()])
        if not self.timed:
            return known
        first = None if self.first is None else self.first - self.started
        seconds = self._decoded + self.last - (self._begun or self.last)
        speed = known.tokens_per_second or _speed(self.usage().output, seconds)
        total = perf_counter() - self.started
        return replace(known, first_token=first, total=total, tokens_per_second=speed)

    def _finishes(self) -> tuple[Finish, ...]:
        """Return how each step ended, as far as it has."""
        return (*self._spent, *([self.folding.finish] if self.folding.finish else []))

    def _save_soon(self, generation: int) -> None:
        if self._saving is None or self._saving.done():
            # A worker thread writes: a slow disk must not hold the stream up.
            self._saving = asyncio.ensure_future(asyncio.to_thread(self._save, generation))

    def _save(self, generation: int) -> None:
        if generation == self.generation:
            self.save()


def told_of(reply: Reply) -> tuple[str, ...]:
    """Return a line for each parameter that was not sent, and for what is not recorded."""
    missed = f"not recorded, so it was asked of {reply.unrecorded}" if reply.unrecorded else ""
    return tuple(filter(None, (*reply.objections.told(), missed)))


def _speed(output: int | None, seconds: float) -> float | None:
    # Over a shorter time the clock says more about the machine than about the model.
    return output / seconds if output and output > 1 and seconds > SHORTEST else None


@contextlib.asynccontextmanager
async def _closing(events: AsyncIterator[StreamEvent]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()


def _hear(reply: Reply, event: Waiting | Unrecorded | LeftOut | Remark, now: float) -> None:
    """Note what is no part of an answer; how long others took says nothing about it."""
    match event:
        case Waiting():
            reply.started += now - reply.waiting if reply.waiting and not event.what else 0
            reply.waiting = now if event.what else None
            if event.what:
                reply.show(Progress(reply.text(), event.what))
        case Unrecorded():
            reply.unrecorded = event.instead
        case _:
            reply.objections.take(event)


def note_of(event: StreamEvent) -> str:
    """Return one line for people on what is happening, "" where the text says it."""
    match event:
        case Loading() | Waiting():
            return event.what
        case Retrying() | Prefill():
            return _progress(event)
        case Compacting():
            return _compacting(event)
        case Compacted():
            about = "" if event.exact else "≈"
            tokens = f"{about}{event.before:,} → {about}{event.after:,} tokens"
            return f"{_messages(event.messages)} compacted into a summary: {tokens}"
        case _:
            called = event.name if isinstance(event, ToolCallDelta) else ""
            return f"calling {called}" if called else ""


def _progress(event: Retrying | Prefill) -> str:
    if isinstance(event, Prefill):
        return f"reading prompt {event.done}/{event.total}"
    return f"waiting {event.seconds:.2g} s: {event.why}"


def _compacting(event: Compacting) -> str:
    part = f", part {event.part} of {event.parts}" if event.parts > 1 else ""
    return f"compacting {_messages(event.messages)}{part}"


def _messages(count: int) -> str:
    return f"{count} message{'s' * (count != 1)}"
