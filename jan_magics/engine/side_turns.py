"""The side turns of a thread on their way to the disk, several of them in one commit."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Final

from jan_magics.domain.messages import Message, Thread
from jan_magics.domain.overlays import SideTurn
from jan_magics.domain.tree import Changes
from jan_magics.engine.engine import Engine

EVERY: Final = 0.05
"""Seconds that an answer waits for others: with the write itself less than 100 ms."""


@dataclass(slots=True)
class SideTurns:
    """Keeps side turns; `close` when there are no more. Lives on the engine's loop."""

    engine: Engine
    thread: Thread
    _waiting: list[SideTurn] = field(default_factory=list)
    _writing: asyncio.Task[None] | None = None

    def keep(self, question: Message, answer: Message) -> None:
        """Keep a turn with those that come in the same moment. Raises StoreError of one before."""
        self._waiting.append(SideTurn(question, answer))
        if self._writing is None or self._writing.done():
            before, self._writing = self._writing, asyncio.create_task(self._write_soon())
            if before is not None:
                before.result()

    async def close(self) -> None:
        """Write what waits, whoever cancels meanwhile. Raises StoreError."""
        if (task := self._writing) is not None:
            while not task.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait({task})
            task.result()
        if batch := self._taken():
            self._write(batch)

    async def _write_soon(self) -> None:
        while self._waiting:
            await asyncio.sleep(EVERY)
            # A worker thread writes: a slow disk must not hold the others up.
            await asyncio.to_thread(self._write, self._taken())

    def _taken(self) -> list[SideTurn]:
        batch, self._waiting = self._waiting, []
        return batch

    def _write(self, batch: list[SideTurn]) -> None:
        self.engine.trees.apply(self.thread.id, Changes(), batch)
