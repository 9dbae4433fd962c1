"""The end of the engine's thread: what goes on in the background still closes its streams."""

import asyncio
import time

from jan_magics.notebook.bridge import GRACE, Bridge


def test_closing_lets_background_work_end() -> None:
    bridge, said = Bridge(), list[str]()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            said.append("closed")

    async def begin() -> asyncio.Task[None]:
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        return task

    task = bridge.call(begin)
    begun = time.perf_counter()
    bridge.close()
    assert said == ["closed"]
    assert task.cancelled()
    assert time.perf_counter() - begun < GRACE
