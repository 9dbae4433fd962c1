"""Station 6: a provider's stream becomes parts. Progress is coalesced, partial text is saved."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final

from jan_magics.domain.events import (
    Compacted,
    Compacting,
    Folding,
    LeftOut,
    Loading,
    Prefill,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
)
from jan_magics.domain.messages import FinishReason
from jan_magics.domain.models import ChatRequest, Timings, Usage
from jan_magics.domain.protocols import Provider

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

    `sent` is the newest request, `left_out` what of its parameters was not sent. `generation`
    counts up when the answer is settled: what a stream of an older one still brings is neither
    taken in nor shown nor written.
    """

    show: Callable[[Progress], None]
    save: Callable[[], None]
    folding: Folding = field(default_factory=Folding)
    started: float = field(default_factory=perf_counter)
    first: float | None = None
    last: float = 0.0
    sent: ChatRequest | None = None
    generation: int = 0
    left_out: list[LeftOut] = field(default_factory=list)
    _saving: asyncio.Task[None] | None = None

    async def receive(self, provider: Provider, request: ChatRequest) -> None:
        """Send a request, take its whole stream in, and close it whatever happens."""
        self.sent = request
        self.left_out.clear()
        events = provider.stream(request)
        async with contextlib.AsyncExitStack() as stack:
            if isinstance(events, AsyncGenerator):
                stack.push_async_callback(events.aclose)
            await self._take(events)

    async def _take(self, events: AsyncIterator[StreamEvent]) -> None:
        show_at = save_at = 0.0
        add, generation = self.folding.add, self.generation
        async for event in events:
            if generation != self.generation:
                return  # settled meanwhile: what comes late changes nothing
            add(event)
            now = perf_counter()
            kind = type(event)
            if kind is TextDelta or kind is ReasoningDelta:
                if self.first is None:
                    self.first = now
                    save_at = now + SAVE_EVERY
                self.last = now
                if now >= show_at:
                    show_at = now + SHOW_EVERY
                    self.show(
                        Progress(self.folding.text(), "" if kind is TextDelta else "thinking")
                    )
                if now >= save_at:
                    save_at = now + SAVE_EVERY
                    self._save_soon(generation)
            elif isinstance(event, LeftOut):
                self.left_out.append(event)
            elif note := note_of(event):
                self.show(Progress(self.folding.text(), note))

    async def settle(self) -> None:
        """Let no write overtake the final one: wait for one under way, drop one that comes later.

        Nothing cuts the wait off, not even a second interrupt: a write takes a moment, and one that
        was left alone could come after the next turn's.
        """
        self.generation += 1
        while self._saving is not None and not self._saving.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({self._saving})
        if self._saving is not None:
            self._saving.result()

    def told(self) -> tuple[str, ...]:
        """Return a line for each parameter that was not sent."""
        return tuple(f"{left.name} was left out: {left.why}" for left in self.left_out)

    def finish(self) -> FinishReason:
        """Return how the stream ended; a stream that does not say ended by itself."""
        finish = self.folding.finish
        return (finish.reason if finish else None) or "stop"

    def usage(self) -> Usage:
        """Return the tokens as the server counted them."""
        finish = self.folding.finish
        return (finish.usage if finish else None) or Usage()

    def timings(self) -> Timings:
        """Return the server's timings, completed by what was seen from here."""
        finish = self.folding.finish
        known = (finish.timings if finish else None) or Timings()
        first = None if self.first is None else self.first - self.started
        speed = known.tokens_per_second or self._speed()
        total = perf_counter() - self.started
        return replace(known, first_token=first, total=total, tokens_per_second=speed)

    def _speed(self) -> float | None:
        output = self.usage().output
        seconds = self.last - (self.first or self.last)
        # Over a shorter time the clock says more about the machine than about the model.
        return output / seconds if output and output > 1 and seconds > SHORTEST else None

    def _save_soon(self, generation: int) -> None:
        if self._saving is None or self._saving.done():
            # A worker thread writes: a slow disk must not hold the stream up.
            self._saving = asyncio.ensure_future(asyncio.to_thread(self._save, generation))

    def _save(self, generation: int) -> None:
        if generation == self.generation:
            self.save()


def note_of(event: StreamEvent) -> str:
    """Return one line for people on what is happening, "" where the text says it."""
    if isinstance(event, Loading):
        return event.what
    if isinstance(event, Prefill):
        return f"reading prompt {event.done}/{event.total}"
    if isinstance(event, Compacting):
        return _compacting(event)
    if isinstance(event, Compacted):
        about = "" if event.exact else "≈"
        tokens = f"{about}{event.before:,} → {about}{event.after:,} tokens"
        return f"{_messages(event.messages)} compacted into a summary: {tokens}"
    return ""


def _compacting(event: Compacting) -> str:
    part = f", part {event.part} of {event.parts}" if event.parts > 1 else ""
    return f"compacting {_messages(event.messages)}{part}"


def _messages(count: int) -> str:
    return f"{count} message{'s' * (count != 1)}"
