"""What an old stream still wants to write when its turn is over changes nothing."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence

from jan_magics.domain.events import StreamEvent, TextDelta
from jan_magics.domain.models import ChatRequest, ModelRef
from jan_magics.engine.reply import SAVE_EVERY, Reply
from tests.engine.opened import Model

WRITE = 0.2
"""Seconds that a write takes on a slow disk."""


class Endless(Model):
    """A model that does not stop by itself."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        while True:
            yield TextDelta("word ")
            await asyncio.sleep(0.01)


def written_by(interrupts: int) -> tuple[Sequence[str], float]:
    """Interrupt a turn while it writes; return what was written in order, and the seconds."""
    written: list[str] = []

    def save() -> None:
        time.sleep(WRITE)
        written.append("partial")

    async def turn(reply: Reply) -> None:
        try:
            await reply.receive(Endless(), ChatRequest(ModelRef("double", "m"), ()))
        finally:
            await reply.settle()
            written.append("final")

    async def interrupted() -> None:
        reply = Reply(lambda _: None, save)
        task = asyncio.create_task(turn(reply))
        await asyncio.sleep(SAVE_EVERY + 0.1)
        for _ in range(interrupts):
            task.cancel()
            await asyncio.sleep(0.01)
        await asyncio.wait({task})

    begun = time.perf_counter()
    asyncio.run(interrupted())
    return written, time.perf_counter() - begun


def test_no_write_overtakes_the_final_one() -> None:
    for interrupts in (1, 2, 3):
        written, seconds = written_by(interrupts)
        assert written == ["partial", "final"]
        assert seconds < SAVE_EVERY + 1


def test_a_stream_of_an_older_generation_changes_nothing() -> None:
    seen: list[str] = []

    async def main() -> None:
        reply = Reply(lambda progress: seen.append(progress.text), lambda: seen.append("written"))
        stream = reply.receive(Endless(), ChatRequest(ModelRef("double", "m"), ()))
        task = asyncio.create_task(stream)
        await asyncio.sleep(SAVE_EVERY + 0.1)
        await reply.settle()
        settled, count = reply.folding.text(), len(seen)
        assert settled.startswith("word word ")
        assert "written" in seen
        await asyncio.sleep(SAVE_EVERY + 0.1)
        assert (reply.folding.text(), len(seen)) == (settled, count)
        assert task.done()
        reply._save_soon(0)
        await asyncio.sleep(0.05)
        assert len(seen) == count

    asyncio.run(main())
