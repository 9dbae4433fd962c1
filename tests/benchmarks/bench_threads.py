"""Threads beside a bare SQLite file and the store of `llm`: append, modify, open.

    python -m tests.benchmarks.bench_threads

The same 10,000 messages in each; every write is durable when it returns (SQLite: journal in WAL
mode and `synchronous = FULL`). What each gives back is compared before anything is timed. `llm`
changes no message, as its messages are named after what they say; it keeps one chain a thread.
"""

import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path

from jan_magics.domain.messages import text_of
from jan_magics.domain.protocols import Store
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.sqlite import SqliteStore
from tests.benchmarks.bench_storage import TEXT, clock, message, thread
from tests.benchmarks.claims import RATIO, claimed
from tests.benchmarks.rounds import installed, interleaved, ratios, scaled

SIZE = 10_000
WRITES, READS = 200, 7
SCHEMA = (
    "CREATE TABLE messages (id TEXT PRIMARY KEY, thread TEXT, parent TEXT, created REAL, body TEXT)"
    " WITHOUT ROWID"
)


def text(number: int) -> str:
    """Return what a message says, each something else: equal ones would be one to `llm`."""
    return f"{number}: {TEXT}"


@dataclass(frozen=True)
class Way:
    """What a store can do with one thread."""

    append: Callable[[int], object]
    modify: Callable[[int], object] | None
    read: Callable[[], list[str]]


def ours(store: Store) -> Way:
    """Fill a store of ours."""
    store.create_thread(thread("t"))
    store.save(*(message(n, "t", text(n)) for n in range(SIZE)))
    last = SIZE - 1

    def read() -> list[str]:
        return [text_of(each) for each in store.messages("t")]

    return Way(
        lambda n: store.create(message(n, "t", text(n))),
        lambda n: store.save(message(last, "t", text(n))),
        read,
    )


def bare(path: Path) -> Way:
    """Fill a table with the same messages as JSON."""
    file = sqlite3.connect(path, isolation_level=None)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = FULL")
    file.execute(SCHEMA)

    def append(n: int) -> None:
        body = json.dumps([{"type": "text", "text": text(n)}])
        file.execute(
            "INSERT INTO messages VALUES (?, 't', ?, 0, ?)", (f"{n:032x}", f"{n - 1:032x}", body)
        )

    def modify(n: int) -> None:
        body = json.dumps([{"type": "text", "text": text(n)}])
        file.execute("UPDATE messages SET body = ? WHERE id = ?", (body, f"{SIZE - 1:032x}"))

    def read() -> list[str]:
        rows = file.execute("SELECT body FROM messages WHERE thread = 't' ORDER BY id")
        return [json.loads(body)[0]["text"] for (body,) in rows]

    file.execute("BEGIN")
    for n in range(SIZE):
        append(n)
    file.execute("COMMIT")
    return Way(append, modify, read)


def llm(path: Path) -> Way:
    """Fill the store of `llm`."""
    database = import_module("sqlite_utils").Database(path)
    store = import_module("llm.logs").LogStore(database)
    user = import_module("llm.parts").user
    store.create_thread(id="t")

    def read() -> list[str]:
        return [each.parts[0].text for each in store.thread_messages("t")]

    with database.atomic():
        store.append("t", [user(text(n)) for n in range(SIZE)])
    return Way(lambda n: store.append("t", [user(text(n))]), None, read)


def opened(folder: Path, stack: ExitStack) -> Iterator[tuple[str, Way]]:
    """Yield every store that is here, filled."""
    for name, store in (
        ("SQLite", SqliteStore(folder / "ours.sqlite", clock())),
        ("JSONL", JsonlStore(folder / "threads", clock())),
    ):
        stack.enter_context(closing(store))
        yield name, ours(store)
    yield "bare SQLite", bare(folder / "bare.sqlite")
    if installed("llm"):
        yield "llm", llm(folder / "llm.sqlite")


def told(what: str, times: Mapping[str, list[float]], most: Mapping[str, float]) -> bool:
    """Claim the milliseconds of each, and the rivals' as shares of ours."""
    kept = True
    for name, seconds in times.items():
        kept &= claimed(f"{what}, {name}", scaled(seconds), "ms", most=most.get(name))
    for name in [each for each in times if each not in ("SQLite", "JSONL")]:
        claimed(f"{what}, {name} of our SQLite", ratios(times[name], times["SQLite"]), RATIO)
    return kept


def main() -> int:
    """Measure; 1 when ours is above a bound."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ways = dict(opened(Path(folder), stack))
        wanted = [text(n) for n in range(SIZE)]
        for name, way in ways.items():
            assert way.read() == wanted, name
        opening = interleaved({name: way.read for name, way in ways.items()}, READS)
        numbers, changes = {name: count(SIZE) for name in ways}, count()
        appending = interleaved(
            {name: lambda way=way, name=name: way.append(next(numbers[name]))  # type: ignore[misc]
             for name, way in ways.items()}, WRITES,
        )  # fmt: skip
        changing = interleaved(
            {name: lambda change=way.modify: change(next(changes))  # type: ignore[misc]
             for name, way in ways.items() if way.modify}, WRITES,
        )  # fmt: skip
        grown = [text(n) for n in range(SIZE, SIZE + WRITES)]
        for name, way in ways.items():
            assert way.read()[SIZE:] == grown, name
    kept = told("append behind 10,000", appending, {"SQLite": 1})
    kept &= told("modify the last of 10,000", changing, {"SQLite": 2, "JSONL": 2})
    return 0 if told("open a thread of 10,000", opening, {}) and kept else 1


if __name__ == "__main__":
    sys.exit(main())
