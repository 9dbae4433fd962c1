"""What every hot path costs as its subject grows: `python -m tests.benchmarks.bench_growth`.

The cost against n, at four sizes or more that take turns, is fitted as a power law a · n^b by least
squares of the logarithms, a round at a time; the exponent b is claimed. The cost is time of the
processor, and stores lie in memory where the system has a folder there: what is asked is how the
work grows, and not what the disk and others do.
"""

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import count
from pathlib import Path
from time import process_time
from typing import Final

from jan_magics.context.plan import plan_context
from jan_magics.domain.branching import select
from jan_magics.domain.protocols import Store
from jan_magics.domain.retrieval import Document, Recipe
from jan_magics.domain.tree import TreeIndex
from jan_magics.rag.chunking import cut
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.counting import counter_here
from jan_magics.rag.options import Options
from jan_magics.rag.search import search
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.search import Search
from jan_magics.storage.sqlite import SqliteStore
from tests.benchmarks import bench_context, bench_find, bench_tree
from tests.benchmarks.bench_storage import IN_MEMORY, clock, message, thread
from tests.benchmarks.claims import claimed
from tests.benchmarks.ready import Ready, chunk_texts, documents, filled, unit_rows
from tests.benchmarks.rounds import best, exponent

ROUNDS: Final = 5
MESSAGES: Final = (1_000, 2_000, 4_000, 8_000, 16_000)
CHUNKS: Final = (5_000, 10_000, 20_000, 40_000)
CHARS: Final = (100_000, 200_000, 400_000, 800_000)
THREADS: Final = (5_000, 10_000, 20_000, 40_000)
DIM: Final = 256
FLAT, LINEAR = 0.2, 1.1


def fitted(
    what: str, ways: Mapping[int, Callable[[], object]], most: float, repeats: int = 5
) -> bool:
    """Claim the exponent of a path, a value a round; of repeats the shortest counts."""
    found, seconds = list[float](), list[float]()
    for _ in range(ROUNDS):
        seconds = [best(way, repeats, clock=process_time) for way in ways.values()]
        found.append(exponent([*ways], seconds))
    told = ", ".join(f"{n:,} {1000 * each:.3g}" for n, each in zip(ways, seconds, strict=True))
    print(f"{what}: {told} ms")
    return claimed(f"{what}, exponent", found, "", most=most)


def storage(kind: str, make: Callable[[str], Store], stack: ExitStack) -> bool:
    """Fit what a thread of n messages costs: writing behind it, changing its last, reading it."""
    stores = dict[int, Store]()
    for n in MESSAGES:
        store = stores[n] = stack.enter_context(closing(make(f"{kind}{n}")))
        store.create_thread(thread("t"))
        store.save(*(message(number, "t") for number in range(n)))
    numbers = {n: count(n) for n in MESSAGES}

    def append(n: int) -> None:
        stores[n].create(message(next(numbers[n]), "t"))

    def modify(n: int) -> None:
        stores[n].save(message(n - 1, "t", f"changed {next(changes)}"))

    changes = count()
    kept = fitted(f"open, {kind}", {n: partial(stores[n].messages, "t") for n in MESSAGES}, LINEAR)
    kept &= fitted(f"append, {kind}", {n: partial(append, n) for n in MESSAGES}, FLAT, 30)
    return fitted(f"modify, {kind}", {n: partial(modify, n) for n in MESSAGES}, FLAT, 30) and kept


def thinking() -> bool:
    """Fit a plan and the tree of a thread of n messages."""
    path, given = bench_context.thread(MESSAGES[-1] + 2), bench_context.terms(bench_context.WINDOW)
    cold = {n: partial(plan_context, path[: n + 1], (), given) for n in MESSAGES}
    warm = {
        n: partial(plan_context, path[: n + 1], (), given, plan_context(path[: n - 1], (), given))
        for n in MESSAGES
    }
    kept = fitted("plan, cold", cold, LINEAR) & fitted("plan, after a turn", warm, LINEAR, 15)
    made = bench_tree.chain(MESSAGES[-1])
    trees = {n: made[:n] for n in MESSAGES}
    kept &= fitted("tree", {n: partial(TreeIndex, trees[n]) for n in MESSAGES}, LINEAR)

    def switch(index: TreeIndex, target: str) -> object:
        return index.after(select(index, target)).path()

    switches = {
        n: partial(switch, TreeIndex(trees[n]), f"m{(n - 1) // 3 * 3 - 1}") for n in MESSAGES
    }
    return fitted("switch", switches, LINEAR) and kept


def finding(folder: Path, stack: ExitStack) -> bool:
    """Fit the search over n messages, for a word that a hundredth of them has."""
    found = dict[int, Search]()
    for n in THREADS:
        store = stack.enter_context(closing(SqliteStore(folder / f"find{n}.db", clock())))
        bench_find.fill(store, n // 100, n)
        found[n] = stack.enter_context(closing(Search(folder / f"words{n}.db", store)))
        assert found[n].find("zebra")
    return fitted("find", {n: partial(found[n].find, "zebra") for n in THREADS}, LINEAR)


def retrieval(folder: Path, stack: ExitStack) -> bool:
    """Fit ingestion of n chunks, and searches among them."""
    texts, rows, fresh = chunk_texts(CHUNKS[-1]), unit_rows(CHUNKS[-1], DIM), count()
    embedder = Ready(dict(zip(texts, rows, strict=True)) | {"q": unit_rows(1, DIM, 9)[0]}, DIM)

    def fill(n: int) -> SqliteCollection:
        return filled(folder / f"{next(fresh)}.db", documents(texts[:n]), embedder)

    def put(n: int) -> None:
        fill(n).close()

    made = {n: stack.enter_context(closing(fill(n))) for n in CHUNKS}
    kept = fitted("ingest", {n: partial(put, n) for n in CHUNKS}, LINEAR, 1)
    kinds = (
        ("search by vector", "q", Options(k=10, mode="vector")),
        ("search with a filter", "q", Options(k=10, mode="vector", where="source ~ '9'")),
        ("hybrid search", texts[7], Options(k=10)),
    )
    for what, question, options in kinds:
        ways = {n: partial(search, made[n], [question], options, embedder) for n in CHUNKS}
        kept &= fitted(what, ways, LINEAR, 9)
    return kept


def cutting() -> bool:
    """Fit the cutting of n characters."""
    counter, recipe = counter_here(), Recipe()
    text = "\n\n".join("".join(part) for part in paragraphs(CHARS[-1]))
    given = {n: Document("a.txt", text[:n]) for n in CHARS}
    return fitted("cut", {n: partial(cut, given[n], recipe, counter) for n in CHARS}, LINEAR)


def paragraphs(chars: int) -> Sequence[list[str]]:
    """Return paragraphs of more characters than that."""
    said = chunk_texts(chars // 60)
    return [said[at : at + 5] for at in range(0, len(said), 5)]


def main() -> int:
    """Fit every path; 1 when one of them grows too fast."""
    room = IN_MEMORY if IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=room) as made, ExitStack() as stack:
        folder = Path(made)
        kept = thinking() & cutting()
        kept &= storage("SQLite", lambda name: SqliteStore(folder / f"{name}.db", clock()), stack)
        kept &= storage("JSONL", lambda name: JsonlStore(folder / name, clock()), stack)
        kept &= finding(folder, stack) & retrieval(folder, stack)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
