"""A collection on a server: what a row takes, how fast rows go in, how fast questions are answered.

usage: python -m tests.benchmarks.bench_server [CHUNKS] [DIM] [CLIENTS]

A real PostgreSQL with pgvector on this machine, in its default settings. Vectors lie in clusters,
as those of texts do. JSON on standard output; times are of this machine and whatever else it does.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from os import getloadavg
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from jan_magics.domain.retrieval import Index
from jan_magics.rag import ingest
from jan_magics.rag.options import Options
from jan_magics.rag.pgvector import PostgresCollection
from jan_magics.rag.search import search
from jan_magics.rag.statements import fetched, first
from jan_magics.rag.transfer import transfer
from jan_magics.rag.vectors import FloatMatrix
from jan_magics.storage.postgres_url import PostgresUrl
from tests.benchmarks.ready import RECIPE, START, Ready, chunk_texts, documents, lines, opened
from tests.storage.servers import postgres

QUESTIONS: Final = 40
K: Final = 10
WORDS: Final = 130
"""Of a chunk: about 200 tokens."""


def clustered(n: int, dim: int, seed: int, centres: int = 500) -> FloatMatrix:
    """Return unit vectors around some centres."""
    rng = np.random.default_rng(seed)
    middle = np.random.default_rng(5).standard_normal((centres, dim), dtype=np.float32)
    rows = middle[rng.integers(0, centres, n)] + rng.standard_normal((n, dim), dtype=np.float32)
    unit: FloatMatrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that something takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main(n: int = 20_000, dim: int = 256, clients: int = 4) -> dict[str, Any]:
    """Measure one size."""
    texts, rows = chunk_texts(n, WORDS), clustered(n, dim, 0)
    asked = clustered(QUESTIONS, dim, 9)
    vectors = dict(zip(texts, rows, strict=True))
    embedder = Ready(vectors | {str(i): row for i, row in enumerate(asked)}, dim)
    with postgres() as address, TemporaryDirectory() as folder:
        url = PostgresUrl.read(f"{address}#bench")
        served = PostgresCollection(url, lambda: START)
        filed = opened(Path(folder) / "a.db")
        read = documents(texts)
        into_file = timed(lambda: list(ingest.add(filed, read, RECIPE, lines, embedder)))
        pushed = timed(lambda: list(transfer(filed, served)))
        again = timed(lambda: list(transfer(filed, served)))
        found: dict[str, Any] = {
            "chunks": n, "dim": dim, "load": getloadavg()[0],
            "ingest_file_per_s": n / into_file, "push_per_s": n / pushed, "push_again_s": again,
        }  # fmt: skip
        graphs: tuple[Index, ...] = ("hnsw", "hnsw-half")
        for index in graphs:
            found[f"{index}_build_s"] = timed(lambda i=index: served.snapshot(i).__enter__())  # type: ignore[misc]
        found |= sizes(served, n) | answers(served, embedder, clients)
        served.close()
        filed.close()
    return found


def sizes(collection: PostgresCollection, n: int) -> dict[str, float]:
    """Return the bytes a chunk of each table with its indexes, and of each graph."""
    with collection.database.reading() as connection:
        whole = fetched(
            connection,
            "SELECT relname, pg_total_relation_size(oid), pg_table_size(oid) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = quote_ident(current_schema())::regnamespace",
        )
        graphs = {
            name: first(connection, "SELECT pg_relation_size(CAST(? AS regclass))", (name,))[0]
            for name in ("vectors_1_hnsw", "vectors_1_hnsw_half")
        }
    made = {f"bytes_{name}": total / n for name, total, _ in whole if total > n}
    made["bytes_vectors_1"] -= sum(graphs.values()) / n
    return made | {f"bytes_{name}": size / n for name, size in graphs.items()}


def answers(collection: PostgresCollection, embedder: Ready, clients: int) -> dict[str, float]:
    """Return the milliseconds of a question, the questions a second of several, and the recall."""
    exact: list[set[str]] = []
    made: dict[str, float] = {}
    kinds: tuple[tuple[str, Options], ...] = (
        ("exact", Options(k=K, mode="vector")),
        ("hnsw", Options(k=K, mode="vector", index="hnsw")),
        ("hnsw-half", Options(k=K, mode="vector", index="hnsw-half")),
        ("filtered", Options(k=K, mode="vector", index="hnsw", where="source ~ '/1'")),
    )
    for name, options in kinds:
        times, ids = [], []
        for number in range(QUESTIONS):
            begin = time.perf_counter()
            (found,) = search(collection, [str(number)], options, embedder)
            times.append(time.perf_counter() - begin)
            ids.append({hit.chunk.id for hit in found.hits})
        exact = exact or ids
        made[f"{name}_ms"] = statistics.median(times) * 1000
        if name.startswith("hnsw"):
            pairs = zip(ids, exact, strict=True)
            made[f"{name}_recall"] = statistics.mean(len(a & b) / K for a, b in pairs)

        def ask(number: int, options: Options = options) -> None:
            search(collection, [str(number % QUESTIONS)], options, embedder)

        with ThreadPoolExecutor(clients) as pool:
            seconds = timed(lambda pool=pool, ask=ask: list(pool.map(ask, range(4 * QUESTIONS))))  # type: ignore[misc]
        made[f"{name}_per_s"] = 4 * QUESTIONS / seconds
    return made


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:])), indent=1))
