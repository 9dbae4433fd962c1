"""How long storage takes: `python -m tests.benchmarks.bench_storage [FOLDER]`.

Targets (p50) on a local disk: a durable append to SQLite 1 ms; in both stores a change of the last
of 10,000 messages 2 ms, a list of 10,000 threads 50 ms. Those threads are made in memory where the
system has a folder there, as only reading them is measured.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path

from jan_magics.domain.messages import Message, TextPart, Thread
from jan_magics.domain.protocols import Store
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.sqlite import SqliteStore
from tests.benchmarks.claims import claimed

START = datetime(2026, 3, 1, tzinfo=UTC)
IN_MEMORY = Path("/dev/shm")  # noqa: S108 (a folder of its own is made in it)
MOST = {
    "SQLite, durable append": 1, "modify the last of 10,000": 2,
    "list 10,000, first in a process": 50, "list 10,000 threads, again": 50,
}  # fmt: skip
"""Milliseconds."""
TEXT = "A paragraph of an answer, about as long as most of them are. " * 10


def clock() -> Callable[[], datetime]:
    ticks = count()
    return lambda: START + timedelta(milliseconds=next(ticks))


def message(number: int, thread: str, text: str = TEXT) -> Message:
    parent = f"{number - 1:032x}" if number else None
    return Message(f"{number:032x}", thread, "user", (TextPart(text),), START, parent)


def thread(name: str) -> Thread:
    return Thread(name, f"The thread {name}", START, START, {"model": "offline:echo", "n": 1})


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def report(store: str, what: str, times: list[float]) -> None:
    name = f"{store}, {what}"
    claimed(name, times, "ms", most=MOST.get(name, MOST.get(what)))


def long_thread(name: str, store: Store) -> None:
    store.create_thread(thread("long"))
    first = [message(n, "long") for n in range(500)]
    report(name, "durable append", [timed(partial(store.create, m)) for m in first])
    store.save(*(message(n, "long") for n in range(500, 10_000)))
    store.close()
    opened = [timed(partial(store.messages, "long")) for _ in range(5)]
    report(name, "open a thread of 10,000", opened)
    last = [message(9_999, "long", f"{TEXT}{n}") for n in range(50)]
    store.save(last[0])
    report(name, "modify the last of 10,000", [timed(partial(store.save, m)) for m in last[1:]])
    more = [message(n, "long") for n in range(10_000, 10_100)]
    report(name, "append behind 10,000", [timed(partial(store.create, m)) for m in more])
    gone = [f"{n:032x}" for n in range(10_000, 10_050)]
    report(name, "delete behind 10,000", [timed(partial(store.delete, "long", n)) for n in gone])
    report(name, "close, which folds", [timed(store.close)])


def many_threads(name: str, make: Callable[[], Store]) -> None:
    store = make()
    for number in range(10_000):
        store.create_thread(thread(f"{number:032x}"))
        store.create(message(0, f"{number:032x}"))
    report(name, "list 10,000 threads, never before", [timed(make().threads)])
    report(name, "list 10,000, first in a process", [timed(make().threads) for _ in range(5)])
    report(name, "list 10,000 threads, again", [timed(store.threads) for _ in range(6)][1:])
    store.close()


def main(folder: Path, memory: Path) -> None:
    """Measure both stores in a folder, which should be on the disk that matters."""
    kinds: list[tuple[str, Callable[[Path], Store]]] = [
        ("SQLite", lambda path: SqliteStore(path.with_suffix(".sqlite"), clock())),
        ("JSONL", lambda path: JsonlStore(path / "threads", clock())),
    ]
    for kind, make in kinds:
        long_thread(kind, make(folder / "long"))
        many_threads(kind, partial(make, memory / "many"))


if __name__ == "__main__":
    quick_disk = IN_MEMORY if IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory(dir=quick_disk) as room:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else made), Path(room))
