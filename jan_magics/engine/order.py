"""One turn at a time in a thread; several threads answer at the same time. Others may look on."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from jan_magics.engine.reply import Progress

What: TypeAlias = Literal["answering", "compacting"]
Show: TypeAlias = Callable[[Progress], None]
Listener: TypeAlias = Callable[["Underway"], None]


@dataclass(slots=True, eq=False)
class Underway:
    """What a thread is busy with, as others see it: `progress` is the newest, `over` its end.

    `front`: a cell waits for it, so that what is clicked meanwhile is heard later. `aside`: it
    moves no thread's head.
    """

    thread: str
    show: Show
    what: What = "answering"
    front: bool = False
    aside: bool = False
    progress: Progress = field(default_factory=Progress)
    over: threading.Event = field(default_factory=threading.Event)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _task: asyncio.Task[object] | None = field(default_factory=asyncio.current_task)

    def tell(self, progress: Progress) -> None:
        """Show how far it is to who has begun it; who looks on sees it too."""
        self.progress = progress
        self.show(progress)

    def stop(self) -> None:
        """End it, from any thread, and do not wait."""
        if self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)


@dataclass(slots=True)
class Order:
    """The queues of threads that are being answered. Lives on the engine's loop."""

    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    _running: dict[str, Underway] = field(default_factory=dict)
    _listeners: tuple[Listener, ...] = ()

    @asynccontextmanager
    async def turn(
        self,
        thread: str,
        show: Show,
        what: What = "answering",
        *,
        front: bool = False,
        aside: bool = False,
    ) -> AsyncIterator[tuple[Show, bool]]:
        """Wait for the turns before; yields where to show it, and whether there were any.

        Others may look on until its end.
        """
        lock = self._locks.setdefault(thread, asyncio.Lock())
        waits = lock.locked()
        if waits:
            show(Progress(note="waiting for the turn before"))
        async with lock:
            underway = self._running[thread] = Underway(thread, show, what, front, aside)
            self._say(underway)
            try:
                yield underway.tell, waits
            finally:
                del self._running[thread]
                underway.over.set()
                self._say(underway)

    @asynccontextmanager
    async def alone(self, wanted: bool) -> AsyncIterator[None]:  # noqa: FBT001 - named by the method
        """Let one turn of all threads go at a time, in the order of asking, where wanted."""
        async with self._locks.setdefault("", asyncio.Lock()) if wanted else nullcontext():
            yield

    def busy(self, thread: str) -> bool:
        """Tell whether a thread is being answered."""
        lock = self._locks.get(thread)
        return lock is not None and lock.locked()

    def of(self, thread: str) -> Underway | None:
        """Return what a thread is busy with."""
        return self._running.get(thread)

    def follow(self, listener: Listener) -> None:
        """Tell somebody, on the loop, of all that begins and ends; it must be over at once."""
        if listener not in self._listeners:
            self._listeners += (listener,)

    def leave(self, listener: Listener) -> None:
        """Tell somebody nothing more."""
        self._listeners = tuple(each for each in self._listeners if each != listener)

    def _say(self, underway: Underway) -> None:
        for listener in self._listeners:
            listener(underway)
