"""One turn at a time in a thread; several threads answer at the same time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from jan_magics.engine.reply import Progress


@dataclass(slots=True)
class Order:
    """The queues of threads that are being answered. Lives on the engine's loop."""

    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    @asynccontextmanager
    async def turn(self, thread: str, show: Callable[[Progress], None]) -> AsyncIterator[bool]:
        """Wait for the turns before; yields whether there were any."""
        lock = self._locks.setdefault(thread, asyncio.Lock())
        waits = lock.locked()
        if waits:
            show(Progress(note="waiting for the turn before"))
        async with lock:
            yield waits

    @asynccontextmanager
    async def alone(self, wanted: bool) -> AsyncIterator[None]:  # noqa: FBT001 - named by the method
        """Let one turn of all threads go at a time, in the order of asking, where wanted."""
        async with self._locks.setdefault("", asyncio.Lock()) if wanted else nullcontext():
            yield

    def busy(self, thread: str) -> bool:
        """Tell whether a thread is being answered."""
        lock = self._locks.get(thread)
        return lock is not None and lock.locked()
