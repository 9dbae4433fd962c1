"""The peak memory of one subject by one of those compared: what `bench_memory` starts.

    python -m tests.benchmarks.peak SUBJECT WHO

Prints megabytes, or a blank line where that one is not installed. `nobody` makes the inputs and
imports what the benchmark imports, and does nothing: what is above it is what the work takes.
"""

import resource
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

CHUNKS, DIM = 20_000, 256


def streaming(who: str, stack: ExitStack) -> Callable[[], object]:
    """Read 2,000 tokens with one of the clients."""
    from tests.benchmarks.bench_first_chat import server
    from tests.benchmarks.bench_streaming import WAYS

    address = stack.enter_context(server(0))
    return stack.enter_context(WAYS[who](address)) if who in WAYS else lambda: None


def planning(who: str, _: ExitStack) -> Callable[[], object]:
    """Plan a thread of 4,000 messages."""
    from jan_magics.context.plan import plan_context
    from tests.benchmarks.bench_context import MESSAGES, WINDOW, langchain, terms, thread

    path = thread(MESSAGES + 1)
    if who == "langchain-core":
        return langchain(path)["LangChain"]
    return (lambda: plan_context(path, (), terms(WINDOW))) if who == "jan-magics" else lambda: None


def threads(who: str, stack: ExitStack) -> Callable[[], object]:
    """Write 10,000 messages into a store, and read them."""
    from jan_magics.storage.jsonl import JsonlStore
    from jan_magics.storage.sqlite import SqliteStore
    from tests.benchmarks import bench_threads
    from tests.benchmarks.bench_storage import clock

    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    ways: Mapping[str, Callable[[], bench_threads.Way]] = {
        "jan-magics": lambda: bench_threads.ours(SqliteStore(folder / "a.sqlite", clock())),
        "jan-magics, JSONL": lambda: bench_threads.ours(JsonlStore(folder / "t", clock())),
        "bare SQLite": lambda: bench_threads.bare(folder / "b.sqlite"),
        "llm": lambda: bench_threads.llm(folder / "c.sqlite"),
    }
    return (lambda: len(ways[who]().read())) if who in ways else lambda: None


def chunking(who: str, _: ExitStack) -> Callable[[], object]:
    """Cut the corpora."""
    import os

    from jan_magics.domain.retrieval import Recipe
    from jan_magics.rag.chunking import cut
    from jan_magics.rag.counting import counter_here
    from tests.benchmarks.bench_split import CORPORA, SIZE, corpora, rivals

    counter, recipe = counter_here(), Recipe(size=SIZE, overlap=0)
    documents = corpora(os.environ.get(CORPORA, ""))
    if who == "jan-magics":
        return lambda: [cut(each, recipe, counter) for each in documents]
    names = {"langchain-text-splitters": "LangChain", "semchunk": "semchunk"}
    if who in names:
        return rivals([each.text for each in documents], counter.count)[names[who]]
    return lambda: [counter.count(each.text) for each in documents]


def ingesting(who: str, stack: ExitStack) -> Callable[[], object]:
    """Take in chunks with ready vectors."""
    from tests.benchmarks import bench_ingest
    from tests.benchmarks.ready import chunk_texts, unit_rows

    texts, rows = chunk_texts(CHUNKS), unit_rows(CHUNKS, DIM)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    ways = {
        "jan-magics": bench_ingest.ours, "sqlite-vec": bench_ingest.with_sqlite_vec,
        "lancedb": bench_ingest.lancedb, "chromadb": bench_ingest.chroma,
    }  # fmt: skip
    return (lambda: ways[who](folder, texts, rows)) if who in ways else lambda: None


def searching(who: str, stack: ExitStack) -> Callable[[], object]:
    """Find the neighbours of a question among vectors that are there already."""
    from jan_magics.rag.options import Options
    from jan_magics.rag.search import search
    from tests.benchmarks import vector_rivals
    from tests.benchmarks.ready import Ready, chunk_texts, documents, filled, unit_rows

    texts, rows = chunk_texts(CHUNKS), unit_rows(CHUNKS, DIM)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    query = unit_rows(1, DIM, 9)[0]
    makers: dict[str, vector_rivals.Make] = {
        "numpy": vector_rivals.bare_numpy, "sqlite-vec": vector_rivals.with_sqlite_vec,
        **dict(vector_rivals.MODULES.values()),
    }  # fmt: skip
    if who in makers:
        return lambda: makers[who](folder, rows)(query, None)
    if who != "jan-magics":
        return lambda: None
    embedder = Ready(dict(zip(texts, rows, strict=True)) | {"q": query}, DIM)
    options = Options(k=vector_rivals.K, mode="vector")

    def ask() -> object:
        collection = filled(folder / "a.db", documents(texts), embedder)
        return search(collection, ["q"], options, embedder)

    return ask


SUBJECTS: Mapping[str, Callable[[str, ExitStack], Callable[[], object]]] = {
    "streaming": streaming, "planning": planning, "threads": threads, "chunking": chunking,
    "ingest": ingesting, "search": searching,
}  # fmt: skip


def main(subject: str, who: str) -> None:
    """Do it, and print the peak."""
    module = who.replace("-", "_")
    here = who in ("nobody", "jan-magics, JSONL", "bare SQLite")
    if not here and find_spec(module) is None:
        print()
        return
    with ExitStack() as stack:
        SUBJECTS[subject](who, stack)()
        # Linux counts in kilobytes, macOS in bytes.
        unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
