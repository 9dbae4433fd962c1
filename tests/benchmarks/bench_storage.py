"""How long storage takes: `python -m tests.benchmarks.bench_storage [FOLDER]`.

Targets (p50) on a local disk: a durable append to SQLite 1 ms; in both stores a change of the last
of 10,000 messages 2 ms, a list of 10,000 threads 50 ms.
"""

import statistics
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

START = datetime(2026, 3, 1, tzinfo=UTC)
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
    p50, worst = statistics.median(times), max(times)
    sys.stdout.write(f"{store:8}{what:34}{p50:9.3f} ms p50{worst:9.3f} ms max\n")


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


def main(folder: Path) -> None:
    """Measure both stores in a folder, which should be on the disk that matters."""
    kinds: list[tuple[str, Callable[[str], Store]]] = [
        ("SQLite", lambda name: SqliteStore(folder / f"{name}.sqlite", clock())),
        ("JSONL", lambda name: JsonlStore(folder / name / "threads", clock())),
    ]
    for kind, make in kinds:
        long_thread(kind, make("long"))
        many_threads(kind, partial(make, "many"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
