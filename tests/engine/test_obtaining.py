"""Turns and cells that want one new thread at the same moment get the same thread."""

import asyncio
from pathlib import Path
from threading import Barrier, Thread

import pytest

from jan_magics.domain.models import ModelInfo, ModelRef
from jan_magics.engine.choose import Finder
from tests.engine.threads import Kernel


async def slowly() -> tuple[ModelInfo, ...]:
    """Find a model as servers do: while others go on."""
    await asyncio.sleep(0.01)
    return (ModelInfo(ModelRef("offline", "echo")),)


@pytest.mark.parametrize("name", ["笔记", None])
def test_two_turns_that_look_for_a_model_go_into_one_thread(
    tmp_path: Path, name: str | None
) -> None:
    kernel = Kernel(tmp_path, settings={"model": None})
    session = kernel.session
    session.finder = Finder(slowly, lambda: None)

    async def both() -> None:
        turns = (session.send(kernel.asking(text, thread=name), kernel._show) for text in "ab")
        await asyncio.gather(*turns)

    asyncio.run(both())
    (row,) = session.engine.store.threads()
    assert len(session.engine.store.messages(row.thread.id)) == 4


def test_two_callers_obtain_one_thread_of_a_name(tmp_path: Path) -> None:
    threads = Kernel(tmp_path).session.threads
    for number in range(30):
        obtained: list[str] = []
        begin = Barrier(2)

        def obtain(
            name: str = f"notes {number}", begin: Barrier = begin, obtained: list[str] = obtained
        ) -> None:
            begin.wait()
            obtained.append(threads.obtain(name).id)

        callers = [Thread(target=obtain) for _ in range(2)]
        for each in callers:
            each.start()
        for each in callers:
            each.join()
        assert len(obtained) == 2
        assert len({*obtained}) == 1
