"""The provider of every turn: a real one, one whose answers are recorded, or a cassette alone."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from time import perf_counter
from typing import Final

from jan_magics.domain.events import Finish, StreamEvent, Unrecorded
from jan_magics.domain.messages import FilePart, Json
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelInfo, ModelRef
from jan_magics.domain.protocols import Provider, ServerCounts, TokenizingProvider
from jan_magics.engine.cassette import Entry
from jan_magics.engine.cassette_json import (
    SAID,
    event_json,
    event_of,
    failure_json,
    failure_of,
    request_json,
    time_of,
)
from jan_magics.engine.choose import OFFLINE
from jan_magics.engine.deck import Deck
from jan_magics.engine.leaks import Guard
from jan_magics.engine.playing import Playing
from jan_magics.engine.recording import Recording
from jan_magics.providers.offline import OfflineProvider

LIVE: Final = "the model itself"


class TapedProvider:
    """A provider beside a deck; while a cassette is played, the real one is not even connected."""

    def __init__(
        self,
        deck: Deck,
        model: ModelRef,
        connect: Callable[[], Provider],
        guard: Guard | None = None,
    ) -> None:
        self._deck = deck
        self._guard = guard or Guard()
        self._model = model
        self._connect = connect
        # What it refuses, it refuses here: a missing key, an address that is not safe.
        self._opened = None if deck.playing else connect()

    @property
    def name(self) -> str:
        """Return the provider's name, as before the colon of a model."""
        return self._model.provider

    @property
    def continues(self) -> bool:
        """Tell whether a last message of the assistant is gone on with; played: as it was."""
        playing = self._deck.playing
        if playing is None:
            return self._real().continues
        known = (f for name, f in playing.header.models.items() if _provider(name) == self.name)
        return next((facts.continues for facts in known), True)

    def check(self, model: ModelRef, options: ChatOptions) -> None:
        """Refuse what is known to fail; a cassette has nothing to refuse."""
        if self._deck.playing is None:
            self._real().check(model, options)

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        """Answer from the cassette, or from the real provider. Raises ProviderError, LeakFound."""
        if playing := self._deck.playing:
            return self._played(playing, request)
        self._guard.check(request)
        if recording := self._deck.recording:
            return _recorded(self._real(), recording, request)
        return self._real().stream(request)

    async def idle(self) -> bool:
        """Tell whether the server has nothing to do. Raises ProviderError."""
        return self._deck.playing is not None or await self._real().idle()

    async def models(self) -> Sequence[ModelInfo]:
        """List the models; nobody is asked while a cassette is played. Raises ProviderError."""
        playing = self._deck.playing
        return playing.models() if playing else await self._real().models()

    async def tokenizer(
        self, model: ModelRef, image: Callable[[FilePart], int]
    ) -> ServerCounts | None:
        """Return the server's own counts, None where it has none, or is not to be asked."""
        if self._deck.playing:
            return None
        real = self._real()
        return await real.tokenizer(model, image) if isinstance(real, TokenizingProvider) else None

    async def close(self) -> None:
        """Close what was opened."""
        opened, self._opened = self._opened, None
        if opened:
            await opened.close()

    def _real(self) -> Provider:
        if self._opened is None:
            self._opened = self._connect()
        return self._opened

    async def _played(
        self, playing: Playing, request: ChatRequest
    ) -> AsyncGenerator[StreamEvent, None]:
        asked = request_json(request)
        entry = playing.take("chat", asked)
        if entry:
            begun = perf_counter()
            for at, event in _events(entry, str(request.model)):
                if playing.paced:
                    await asyncio.sleep(begun + at - perf_counter())
                yield event
            return
        missed = playing.missed_for("chat", asked)
        if playing.missing == "error":
            raise missed
        live = playing.missing == "live"
        yield Unrecorded(LIVE if live else str(OFFLINE))
        if live:
            self._guard.check(request)
        sent = request if live else replace(request, model=OFFLINE, tools=())
        provider = self._real() if live else OfflineProvider()
        async with _closing(provider.stream(sent)) as events:
            async for event in events:
                yield event


def _provider(name: str) -> str:
    return name.partition(":")[0]


def _events(entry: Entry, model: str) -> Iterator[tuple[float, StreamEvent]]:
    """Yield what was said, and after how many seconds.

    Raises:
        ProviderError: where the server has refused to go on.
    """
    for line in entry.events:
        if failure := failure_of(line, model):
            raise failure
        if event := event_of(line):
            yield time_of(line), event


@asynccontextmanager
async def _closing(
    events: AsyncIterator[StreamEvent],
) -> AsyncIterator[AsyncIterator[StreamEvent]]:
    """Close a stream when it is left early: that closes the connection behind it."""
    try:
        yield events
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()


async def _recorded(
    provider: Provider, recording: Recording, request: ChatRequest
) -> AsyncGenerator[StreamEvent, None]:
    """Pass a stream on, and write it when it is whole: what was interrupted is no answer."""
    asked, said, begun = request_json(request), list[Json](), perf_counter()

    async def keep() -> None:
        await asyncio.to_thread(recording.add, "chat", asked, said)

    async with _closing(provider.stream(request)) as events:
        try:
            async for event in events:
                if (line := event_json(event, perf_counter() - begun)) is not None:
                    said.append(line)
                if isinstance(event, Finish):
                    await keep()  # before it is told: who listens may leave then
                yield event
        except SAID as failure:
            said.append(failure_json(failure, perf_counter() - begun, request.model.address))
            await keep()
            raise
    if not any(isinstance(line, list) and line[1] == "finish" for line in said):
        await keep()
