"""The engine: one store, one clock, and the providers that are open. It lives on one loop."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from jan_magics.domain.messages import Json, Message, Thread
from jan_magics.domain.models import ChatOptions, ModelRef
from jan_magics.domain.overlays import Overlay, SideTurn
from jan_magics.domain.parameters import checked_options
from jan_magics.domain.protocols import Provider, Store
from jan_magics.domain.tree import Changes, TreeIndex
from jan_magics.engine.deck import Deck
from jan_magics.engine.leaks import Guard
from jan_magics.engine.playing import Playing
from jan_magics.engine.records import KEY
from jan_magics.engine.trees import Trees
from jan_magics.providers.learned import Learned
from jan_magics.storage.live import LiveTurns
from jan_magics.storage.search import Searching


@dataclass(slots=True)
class Engine:
    """What every turn needs. `connect` opens a provider; an open one is used again.

    `release` ends what the engine started beside its providers: a local model's server; `closing`
    what was opened beside the store: collections. `deck` is what is recorded or played, `playing`
    the cassette that this engine was opened for, `learned` what models have refused in this kernel.
    `guard` looks through what leaves the machine.
    """

    store: Store
    folder: Path
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    connect: Callable[[ModelRef], Provider]
    release: Callable[[], Awaitable[None]]
    search: Searching
    deck: Deck = field(default_factory=Deck)
    learned: Learned = field(default_factory=Learned)
    guard: Guard = field(default_factory=Guard)
    playing: Playing | None = field(init=False)
    trees: Trees = field(init=False)
    live: LiveTurns = field(init=False)
    closing: list[Callable[[], None]] = field(default_factory=list)
    _background: set[asyncio.Task[None]] = field(default_factory=set)
    _open: dict[tuple[str, str | None], Provider] = field(default_factory=dict)
    _left: list[Provider] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.playing = self.deck.playing
        self.trees = Trees(self.store)
        self.live = LiveTurns(self.folder / "live")

    def provider(self, model: ModelRef) -> Provider:
        """Return the provider of a model. Raises KeyRefused, SettingError."""
        key = (model.provider, model.address)
        if key not in self._open:
            self._open[key] = self.connect(model)
        return self._open[key]

    def ready(self, model: ModelRef, options: ChatOptions) -> Provider:
        """Return the provider of a model, when nothing is known to fail before it is asked.

        Raises:
            SettingError, KeyRefused, ProviderError: before anything is sent or stored.
        """
        checked_options(options)
        provider = self.provider(model)
        provider.check(model, options)
        return provider

    def reconnect(self) -> None:
        """Connect anew at the next turn, with the keys that there are then.

        A turn that goes on keeps its connection; what is left is closed with the engine.
        """
        self._left.extend(self._open.values())
        self._open.clear()

    def tree(self, thread: Thread) -> TreeIndex:
        """Return a thread's messages as a tree."""
        return self.trees.of(thread.id).index

    def apply(self, thread: Thread, changes: Changes, overlays: Sequence[Overlay] = ()) -> None:
        """Write changes of a tree and our own records in one transaction."""
        self.trees.apply(thread.id, changes, overlays)

    def new_thread(self, title: str, known: Mapping[str, Json]) -> Thread:
        """Write a new thread with what is known of it, or return the one that has its title."""
        now = self.now()
        thread = Thread(self.new_id(), title, now, now, {KEY: dict(known)})
        if title:
            return self.store.claim_thread(thread)
        self.store.create_thread(thread)
        return thread

    def keep_aside(self, thread: Thread, question: Message, answer: Message) -> None:
        """Keep a side turn in our own records; the thread's path does not move."""
        self.trees.apply(thread.id, Changes(), [SideTurn(question, answer)])

    def begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Begin work in the background; it ends with the engine at the latest."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def close(self) -> None:
        """Cancel what goes on in the background, close every provider and the store."""
        if left := set(self._background):
            for task in left:
                task.cancel()
            await asyncio.wait(left)
        self.reconnect()
        while self._left:
            await self._left.pop().close()
        await self.release()
        while self.closing:
            self.closing.pop()()
        self.search.close()
        self.store.close()
