"""Clocks that go backwards, paths that few have, threads that are large."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest

from jan_magics.domain.messages import Message, Role, TextPart, text_of
from jan_magics.domain.tree import Changes
from jan_magics.engine.branches import go
from jan_magics.storage.convert import Kind, convert, open_kind
from tests.engine.threads import EPOCH, Kernel
from tests.notebook_host import NotebookHost
from tests.rag.library import DOCUMENTS, add, ask, opened, texts
from tests.soak import SOAK
from tests.storage.samples import make_thread
from tests.storage.test_concurrency import faults
from tests.storage.writer import open_store, states, ticking, turns

TURNS = 300 if SOAK else 12
LARGE = 10_000 if SOAK else 300
BATCH = 500

pytestmark = pytest.mark.timeout(1800 if SOAK else 120)
both = pytest.mark.parametrize("kind", ["sqlite", "jsonl"])


class Backwards(Kernel):
    """A kernel whose clock is set back at every look, and by hours now and then."""

    def _now(self) -> datetime:
        self.count += 1
        return EPOCH - timedelta(milliseconds=self.count, hours=5 * (self.count // 7))


@both
def test_a_clock_may_go_backwards(kind: Kind, tmp_path: Path) -> None:
    kernel = Backwards(tmp_path, kind)
    asked = [f"question {n}, 问题" for n in range(TURNS)]
    for text in asked:
        kernel.ask(text)
    assert kernel.path()[::2] == asked
    answer = kernel.id(3)
    kernel.ask(aim="retry", at=answer)
    assert len(kernel.path()) == 4
    go(kernel.session, answer)  # by its id: versions are counted by their times
    assert kernel.path()[::2] == asked
    before = kernel.session.view().path()
    kernel.open()
    assert kernel.session.view().path() == before
    assert faults(kernel.session.engine.store) == []
    kernel.session.engine.store.close()

    other: Kind = "jsonl" if kind == "sqlite" else "sqlite"
    convert(tmp_path, other, ticking())
    moved = Backwards(tmp_path, other)
    assert [m.id for m in moved.session.view().path()] == [m.id for m in before]


PATHS = {
    "spaces": " a b  c ",
    "chinese": "笔记 📓/中文 文件夹",
    "long": "/".join(["x" * 60] * 3 + ["长" * 20]),
    "long name": "y" * 200,
    "signs": "it's 100% #1 & ?a=b;c",
}


@both
@pytest.mark.parametrize("name", PATHS.values(), ids=PATHS)
def test_a_store_may_lie_at_any_path(kind: Kind, name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    store = open_store(kind, folder)
    store.create_thread(make_thread())
    steps = 200 if SOAK else 20
    for call, _ in islice(turns("t", "w"), steps):
        call(store)
    store.close()
    found = open_store(kind, folder)
    *_, last = states("t", "w", steps)
    assert {each.id: text_of(each) for each in found.messages("t")} == last
    assert faults(found) == []
    found.close()


@pytest.mark.parametrize("name", PATHS.values(), ids=PATHS)
def test_a_notebook_and_its_collection_may_lie_at_any_path(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    folder.mkdir(parents=True)
    monkeypatch.setenv("JAN_DATA_FOLDER", str(folder / "data"))
    with NotebookHost(folder / "n 1.ipynb") as host:
        for text in ("one", "two", "三"):
            host.ask(text)
        assert host.path()[::2] == ["one", "two", "三"]
        again = NotebookHost(folder / "n 1.ipynb")
        assert len(again.path()) == 6
        again.host.close()
    collection = opened(folder / "a collection.db")
    add(collection, *DOCUMENTS)
    assert texts(ask(collection, "token budget"))
    collection.close()
    reading = opened(folder / "a collection.db", read_only=True)
    assert texts(ask(reading, "token budget"))
    reading.close()


def chain(thread: str) -> Iterator[Message]:
    """One question and its answer after the other."""
    before = None
    for n in range(LARGE):
        role: Role = "assistant" if n % 2 else "user"
        yield Message(f"{n:032x}", thread, role, (TextPart(f"message {n} 消息"),), EPOCH, before)
        before = f"{n:032x}"


def star(thread: str) -> Iterator[Message]:
    """One question, and as many answers as there can be."""
    root = f"{LARGE:032x}"
    yield Message(root, thread, "user", (TextPart("why? 为什么"),), EPOCH, None)
    for n in range(LARGE):
        yield Message(f"{n:032x}", thread, "assistant", (TextPart(f"because {n}"),), EPOCH, root)


@both
@pytest.mark.parametrize("shape", [chain, star])
def test_a_thread_may_be_large(
    kind: Kind, shape: Callable[[str], Iterator[Message]], tmp_path: Path
) -> None:
    kernel = Kernel(tmp_path, kind)
    store = kernel.session.engine.store
    store.create_thread(make_thread("t", "large"))
    messages = list(shape("t"))
    for at in range(0, len(messages), BATCH):
        store.apply("t", Changes(tuple(messages[at : at + BATCH])))
    begun = time.perf_counter()
    kernel.ask("and now?", thread="large", window=4096)
    kernel.ask(aim="retry", thread="large", window=4096)
    assert time.perf_counter() - begun < (120 if SOAK else 30)
    found = store.messages("t")
    assert len(found) == len(messages) + 3
    tree = kernel.session.engine.tree(store.thread("t"))
    assert [m.id for m in tree.path()][:2] == [m.id for m in messages][:2] or shape is star
    assert len(tree.siblings(messages[-1].id)) == (1 if shape is chain else LARGE)
    assert faults(store) == []
    store.close()
    again = open_kind(kind, tmp_path, ticking())
    assert again.messages("t") == found
    again.close()
