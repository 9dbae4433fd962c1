"""How long 100,000 ready vectors with texts take: `python -m tests.benchmarks.bench_ingest [N]`.

Target: at least 10 × as fast as Chroma, words indexed and all committed. Beside them LanceDB with
its index of words, and sqlite-vec with a table of FTS5, which keep no documents and no spans. How
many chunks each has in the end is looked at.
"""

import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from jan_magics.rag import ingest
from jan_magics.rag.vectors import FloatMatrix
from tests.benchmarks.claims import RATIO, claimed
from tests.benchmarks.ready import RECIPE, Ready, chunk_texts, documents, lines, opened, unit_rows
from tests.benchmarks.rounds import installed, interleaved, ratios
from tests.benchmarks.vector_rivals import sqlite_vec_file

N, DIM, ROUNDS, BATCH = 100_000, 256, 2, 5_000
Way = Callable[[Path, list[str], FloatMatrix], int]


def ours(folder: Path, texts: list[str], rows: FloatMatrix) -> int:
    """Put everything into a collection; return how many chunks it has."""
    embedder = Ready(dict(zip(texts, rows, strict=True)), DIM)
    collection = opened(folder / "ours.db")
    added = ingest.add(collection, documents(texts), RECIPE, lines, embedder)
    chunks = sum(row.chunks or 0 for row in added)
    collection.close()
    return chunks


def chroma(folder: Path, texts: list[str], rows: FloatMatrix) -> int:
    """Put the same into Chroma, in batches."""
    client = import_module("chromadb").PersistentClient(str(folder / "chroma"))
    collection = client.create_collection("bench")
    for at in range(0, len(texts), BATCH):
        part = slice(at, at + BATCH)
        ids = [str(n) for n in range(len(texts))[part]]
        collection.add(ids=ids, embeddings=rows[part], documents=texts[part])
    chunks: int = collection.count()
    return chunks


def lancedb(folder: Path, texts: list[str], rows: FloatMatrix) -> int:
    """Put the same into a table of LanceDB, and index its words."""
    arrow: Any = import_module("pyarrow")
    vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(rows.ravel()), DIM)
    data = arrow.table({"text": arrow.array(texts), "vector": vectors})
    table = import_module("lancedb").connect(str(folder / "lance")).create_table("bench", data)
    table.create_fts_index("text")
    chunks: int = table.count_rows()
    return chunks


def with_sqlite_vec(folder: Path, texts: list[str], rows: FloatMatrix) -> int:
    """Put the same into a file of FTS5 and sqlite-vec."""
    file = sqlite_vec_file(folder)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute(f"CREATE VIRTUAL TABLE v USING vec0 (e float[{DIM}])")
    file.execute("CREATE VIRTUAL TABLE t USING fts5 (text)")
    with file:
        vectors = ((n, row.tobytes()) for n, row in enumerate(rows))
        file.executemany("INSERT INTO v (rowid, e) VALUES (?, ?)", vectors)
        file.executemany("INSERT INTO t (rowid, text) VALUES (?, ?)", enumerate(texts))
    chunks: Any = file.execute("SELECT count(*) FROM v").fetchone()
    file.close()
    return int(chunks[0])


def here() -> Mapping[str, Way]:
    """Return those that are installed."""
    ways: dict[str, Way] = {"ours": ours, "sqlite-vec": with_sqlite_vec}
    if installed("lancedb"):
        ways["LanceDB"] = lancedb
    if installed("chromadb"):
        ways["Chroma"] = chroma
    return ways


def main(n: int = N) -> int:
    """Measure, one after the other, on the same texts; 1 when Chroma's time is too near to ours."""
    texts, rows, number, kept = chunk_texts(n), unit_rows(n, DIM), count(), True
    with tempfile.TemporaryDirectory() as made:

        def run(way: Way) -> None:
            folder = Path(made) / str(next(number))
            folder.mkdir()
            assert way(folder, texts, rows) == n

        ways = {name: lambda way=way: run(way) for name, way in here().items()}
        times = interleaved(ways, ROUNDS)
    for name, seconds in times.items():
        claimed(f"ingest of {n:,} × {DIM}: {name}", seconds, "s")
    for name in [*times][1:]:
        least = 10 if name == "Chroma" else None
        shares = ratios(times[name], times["ours"])
        kept &= claimed(f"ingest: {name}'s time of ours", shares, RATIO, least=least)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
