"""A disk that is full, or closed to us: a typed error, and what was written is whole."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from jan_magics.domain.errors import JanError, StoreError
from jan_magics.domain.messages import text_of
from jan_magics.rag.row_collection import RowCollection
from jan_magics.storage.convert import Kind
from jan_magics.storage.upkeep import Upkeep
from tests.engine.threads import Kernel
from tests.rag.library import add, opened
from tests.rag.test_processes import check_whole
from tests.rag.writer import version
from tests.soak import SOAK
from tests.soak.disks import close, disk, fill
from tests.storage.samples import ids, make_thread
from tests.storage.test_concurrency import faults
from tests.storage.writer import make, open_store, states, turns

MEGABYTE = 1 << 20
PAGE = 4096
LEFT = range(80 if SOAK else 6)
"""Pages that are free when the writing begins: the disk fills up in another place each time."""
ROUNDS = 25 if SOAK else 4

pytestmark = pytest.mark.timeout(1800 if SOAK else 120)
both = pytest.mark.parametrize("kind", ["sqlite", "jsonl"])


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    with disk(tmp_path / "small disk 小", 8 * MEGABYTE) as folder:
        yield folder


@both
def test_what_was_written_before_the_disk_was_full_is_there(kind: Kind, small: Path) -> None:
    for pages in LEFT:
        thread, name = f"t{pages}", f"w{pages}"
        store = open_store(kind, small)
        store.create_thread(make_thread(thread))
        ballast = fill(small, pages * PAGE)
        done = talked(kind, small, thread, name)
        found = {each.id: text_of(each) for each in open_store(kind, small).messages(thread)}
        *_, before, after = states(thread, name, done + 1)
        assert found in (before, after), pages
        ballast.unlink()
        store = open_store(kind, small)
        assert faults(store) == []
        store.create(make("after", "at last", thread))
        assert ids(store.messages(thread))[-1] == "after"
        assert faults(store) == []
        store.delete_thread(thread)
        assert isinstance(store, Upkeep)
        store.vacuum()
        store.close()


def talked(kind: Kind, folder: Path, thread: str, name: str) -> int:
    """Write until the disk is full; return how many steps had returned."""
    store, done = open_store(kind, folder), list[int]()

    def talk() -> None:
        for number, (call, _) in enumerate(turns(thread, name), 1):
            call(store)
            done.append(number)

    with pytest.raises(StoreError, match="is full") as caught:
        talk()
    assert caught.value.next_step
    store.close()
    return len(done)


@both
def test_a_thread_goes_on_when_there_is_room_again(kind: Kind, small: Path) -> None:
    dice = random.Random(9)  # noqa: S311 (a test's dice)
    kernel = Kernel(small / "data", kind)
    kernel.ask("first")
    for number in range(ROUNDS):
        ballast = fill(small, dice.randrange(24) * PAGE)
        refused = asked_until_refused(kernel, f"{number} 问题 " * 200)
        ballast.unlink()
        kernel.ask("and now?")
        path = kernel.path()
        assert path[-2:] == ["and now?", path[-1]]
        assert len(path) % 2 == 0 or refused in path, "a question may be left without its answer"
        assert faults(kernel.session.engine.store) == []
        again = Kernel(small / "data", kind)
        again.session = kernel.open()
        assert again.path() == path


def asked_until_refused(kernel: Kernel, text: str) -> str:
    """Ask until the disk is full; returns the last question."""
    asked: list[str] = []

    def ask() -> None:
        while True:
            asked.append(f"{len(asked)}: {text}")
            kernel.ask(asked[-1])

    with pytest.raises(StoreError, match="is full"):
        ask()
    return asked[-1]


def test_a_collection_keeps_each_document_wholly_old_or_wholly_new(small: Path) -> None:
    path = small / "a.db"
    collection = opened(path)
    add(collection, version("book", 0))
    collection.close()
    done = 0
    for pages in range(0, 240 if SOAK else 40, 2 if SOAK else 13):
        ballast = fill(small, pages * PAGE)
        collection = opened(path)
        if refused := added(collection, done + 1):
            assert "is full" in refused, pages
        else:
            done += 1
        collection.close()
        ballast.unlink()
        assert check_whole(path, "book", done) <= done + 1
        done = check_whole(path, "book", done)


def added(collection: RowCollection, n: int) -> str:
    """Write the n-th form of a document; return why that was refused."""
    try:
        add(collection, version("book", n))
    except JanError as error:
        return error.message
    return ""


@both
def test_a_closed_disk_is_read_and_says_so_when_written_to(kind: Kind, small: Path) -> None:
    kernel = Kernel(small / "data", kind)
    kernel.ask("first")
    path = kernel.path()
    kernel.session.engine.store.close()
    close(small)
    kernel.session = kernel.open()
    with pytest.raises(StoreError) as caught:
        kernel.ask("second")
    assert caught.value.next_step
    assert kernel.path() == path
    assert faults(kernel.session.engine.store) == []
