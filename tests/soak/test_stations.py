"""A turn that is interrupted at every one of its stations: the thread is valid afterwards."""

import asyncio
import os
import random
from collections.abc import AsyncGenerator
from itertools import pairwise
from pathlib import Path

import pytest

from jan_magics.api.tools import tool
from jan_magics.domain.events import Finish, StreamEvent, TextDelta
from jan_magics.domain.messages import ToolCallPart, ToolResultPart
from jan_magics.domain.models import ChatRequest
from jan_magics.domain.tree import TreeIndex
from jan_magics.storage.sqlite import SqliteStore
from tests.engine.calling import Person, call
from tests.engine.opened import Model
from tests.engine.threads import Kernel
from tests.kernel import running_kernel
from tests.soak import SOAK
from tests.storage.test_concurrency import faults
from tests.storage.writer import ticking

TIMES = 10 if SOAK else 1
"""How often each round of the event loop is tried as the one at which a turn ends."""
PRESSED = 150 if SOAK else 4

pytestmark = pytest.mark.timeout(1800 if SOAK else 120)


class Weighing(Model):
    """Says a little, has something weighed, and says what it weighs."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        weighed = any(isinstance(part, ToolResultPart) for part in request.messages[-1].parts)
        for word in ("It weighs ", "42 kg. ", "样品七 🎉") if weighed else ("Let me ", "see. "):
            await asyncio.sleep(0)
            yield TextDelta(word)
        if not weighed:
            yield call("weight", '{"sample": "7"}')
        yield Finish("stop" if weighed else "tools")


@tool(safe=True)
def weight(sample: str) -> float:
    """Weigh a sample."""
    return 6.0 * int(sample)


async def ended_after(kernel: Kernel, text: str, rounds: int) -> bool:
    """Begin a turn and cancel it after so many rounds of the loop; tell whether it was over."""
    asking = kernel.asking(text, tools=(weight,))
    sending = kernel.session.send(asking, lambda _: None, lambda _: None, Person())
    turn = asyncio.ensure_future(sending)
    for _ in range(rounds):
        if turn.done():
            break
        await asyncio.sleep(0)
    over = turn.done()
    turn.cancel()
    await asyncio.wait({turn})
    assert turn.cancelled() or turn.exception() is None
    return over


def check_valid(kernel: Kernel) -> None:
    """See that the thread is sound, and that it is the same for whoever opens it anew."""
    assert faults(kernel.session.engine.store) == []
    path = kernel.session.view().path()
    assert all(after.role == "user" for one, after in pairwise(path) if one.role == "assistant")
    for message in path:
        called = [part.call_id for part in message.parts if isinstance(part, ToolCallPart)]
        results = [part.call_id for part in message.parts if isinstance(part, ToolResultPart)]
        assert called == results
    again = Kernel(kernel.folder, kernel.store)
    assert again.session.view().path() == path
    again.session.engine.store.close()


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_a_turn_that_ends_anywhere_leaves_a_valid_thread(tmp_path: Path, store: str) -> None:
    kernel = Kernel(tmp_path, store, provider=Weighing())
    tried, over = 0, False
    lengths = set()
    while not over:
        before = len(kernel.path()) if tried else 0
        over = asyncio.run(ended_after(kernel, f"问题 {tried}: how heavy?", tried // TIMES))
        if kernel.session.current():
            check_valid(kernel)
            lengths.add(len(kernel.path()) - before)
        tried += 1
    assert lengths == {0, 1, 2}, "before the question, before a word of the answer, and after"
    assert kernel.path()[-1].endswith("样品七 🎉")


WORDS = "word after word, 一个接一个 " * 30
TURNS = (
    "%%chat {slow}\n{words} {n}",
    "%%chat -c papers {slow}\nWhat is it about? {words} {n}",
    "%%chat --no-stream {slow}\nall at once {words} {n}",
    "%chat retry {slow}",
    "%%chat --grid window=600,900 {slow}\nHow heavy? {words} {n}",
)


def test_an_interrupted_cell_leaves_a_valid_thread(tmp_path: Path) -> None:
    (tmp_path / "paper.md").write_text(
        "# Rooms\n\nThe telescope is in room 12. 望远镜。\n", "utf-8"
    )
    dice = random.Random(9)  # noqa: S311 (a test's dice)
    store = SqliteStore(Path(os.environ["JAN_DATA_FOLDER"]) / "jan.db", ticking())
    with running_kernel(tmp_path, JAN_MODEL="offline:echo") as kernel:
        kernel.ok("%load_ext jan_magics\n%rag add paper.md -c papers\n%chat use -t work")
        kernel.ok("%chat ask first")
        for n in range(PRESSED):
            text = TURNS[n % len(TURNS)].format(n=n, words=WORDS, slow="-P pace=0.02 -P delay=0.05")
            # Before the cell has begun to run, a kernel loses its reply with the interrupt.
            ran = kernel.run(text, interrupt=dice.uniform(0.1, 0.6))
            assert ran.error is None or ran.error[0] in ("Stopped", "KeyboardInterrupt"), ran.error
            if n % 10 == 9:
                assert faults(store) == []
        last = kernel.ok("%%chat\nand now?").turn
        assert last["finish"] == "stop"
    assert faults(store) == []
    for row in store.threads():
        messages = store.messages(row.thread.id)
        assert len(TreeIndex(messages).path()) <= len(messages)
        assert all(message.parts for message in messages)
    store.close()
