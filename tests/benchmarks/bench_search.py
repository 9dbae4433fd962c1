"""How long a search takes beside its rivals: `python -m tests.benchmarks.bench_search`.

Targets: finding neighbours alone at most 1.3 × the bare product in numpy; a search by vector with
k = 10, its texts and its DataFrame at least 5 × as fast as a raw query of sqlite-vec at
20,000 × 384, and 4 × at 100,000 × 256; from opening a file of 20,000 chunks to the first answer at
most 150 ms, imports done. Rivals that are not installed are named and left out.
"""

import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import sqlite_vec

from jan_magics.api.hit_tables import hits_table
from jan_magics.rag import ingest, vectors
from jan_magics.rag.options import Options
from jan_magics.rag.search import search
from jan_magics.rag.vectors import FloatMatrix, FloatVector
from tests.benchmarks.claims import RATIO, claimed
from tests.benchmarks.ready import RECIPE, Ready, chunk_texts, documents, lines, opened, unit_rows

QUESTIONS = 40
K = 10
COLD = """
import json, sys, time
import numpy, pandas, apsw
from pathlib import Path
from jan_magics.api.hit_tables import hits_table
from jan_magics.rag.options import Options
from jan_magics.rag.search import search
from tests.benchmarks.ready import Ready, opened, unit_rows
query = unit_rows(1, 384, 9)[0]
embedder = Ready({"q": query}, 384)
begun = time.perf_counter()
collection = opened(Path(sys.argv[1]))
found = search(collection, ["q"], Options(k=10, mode="vector"), embedder)
table = hits_table(found, several=False)
print(1000 * (time.perf_counter() - begun))
"""


def median(call: Callable[[int], object]) -> float:
    """Return the median milliseconds of a call a question."""
    times = []
    call(0)
    for number in range(QUESTIONS):
        begun = time.perf_counter()
        call(number)
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


def bare(rows: FloatMatrix, query: FloatVector) -> Any:
    """Find neighbours with numpy and nothing else."""
    products = rows @ query
    best = np.argpartition(-products, K)[:K]
    return best[np.argsort(-products[best])]


def sqlite_vec_here(folder: Path, rows: FloatMatrix) -> apsw.Connection:
    """Make a file with sqlite-vec alone."""
    connection = apsw.Connection(str(folder / "raw.db"))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(
        f"CREATE VIRTUAL TABLE v USING vec0 (e float[{rows.shape[1]}] distance_metric=cosine)"
    )
    with connection:
        connection.executemany(
            "INSERT INTO v (rowid, e) VALUES (?, ?)",
            ((n, row.tobytes()) for n, row in enumerate(rows)),
        )
    return connection


def faiss_here(_: Path, rows: FloatMatrix) -> Callable[[FloatMatrix], object]:
    """Return an exact search of faiss."""
    import faiss  # type: ignore[import-not-found, unused-ignore]

    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)
    return lambda query: index.search(query, K)


def lancedb_here(folder: Path, rows: FloatMatrix) -> Callable[[FloatMatrix], object]:
    """Return an exact search of LanceDB: a table of its own, without an index."""
    import lancedb  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    flat = pyarrow.array(rows.ravel())
    vectors_there = pyarrow.FixedSizeListArray.from_arrays(flat, rows.shape[1])
    data = pyarrow.table({"n": pyarrow.array(range(len(rows))), "vector": vectors_there})
    table = lancedb.connect(str(folder / "lance")).create_table("v", data)
    return lambda query: table.search(query[0]).distance_type("cosine").limit(K).to_arrow()


RIVALS = {"faiss": faiss_here, "lancedb": lancedb_here}


def others(folder: Path, rows: FloatMatrix, asked: FloatMatrix) -> dict[str, float]:
    """Measure the rivals that are installed, and say which are not."""
    found: dict[str, float] = {}
    for name, make in RIVALS.items():
        if find_spec(name) is None:
            print(f"  {name} is left out: not installed (pip install --group bench)")
            continue
        found[name] = median(partial(_nth, make(folder, rows), asked))
    return found


def _nth(ask: Callable[[FloatMatrix], object], asked: FloatMatrix, n: int) -> object:
    return ask(asked[n : n + 1])


def measure(n: int, dim: int, folder: Path) -> dict[str, float]:
    """Measure one size, everything on the same vectors."""
    rows, asked = unit_rows(n, dim), unit_rows(QUESTIONS, dim, 9)
    texts = chunk_texts(n)
    known = dict(zip(texts, rows, strict=True))
    embedder = Ready(known | {str(i): each for i, each in enumerate(asked)}, dim)
    collection = opened(folder / "ours.db")
    for _ in ingest.add(collection, documents(texts), RECIPE, lines, embedder):
        pass
    with collection.file.reading() as connection:
        matrix = vectors.matrix(collection.dialect.read(connection, 1, "true", ()), dim)
        assert len(matrix.numbers) == n
    raw = sqlite_vec_here(folder, rows)
    options = Options(k=K, mode="vector")

    def whole(number: int) -> object:
        return hits_table(search(collection, [str(number)], options, embedder), several=False)

    def vec0(number: int) -> object:
        query = "SELECT rowid, distance FROM v WHERE e MATCH ? AND k = ?"
        return raw.execute(query, (asked[number].tobytes(), K)).fetchall()

    report = {
        "numpy": median(lambda number: bare(matrix.rows, asked[number])),
        "alone": median(lambda number: vectors.top(matrix, asked[number], K)),
        "sqlite-vec": median(vec0),
        "search": median(lambda i: search(collection, [str(i)], options, embedder)),
        "search+table": median(whole),
        "hybrid": median(lambda i: search(collection, [texts[i]], Options(k=K), embedder)),
        **others(folder, rows, asked),
    }
    collection.close()
    raw.close()
    return report


def cold(path: Path) -> float:
    """Return the milliseconds from opening a file to the first table, in a process of its own."""
    command = [sys.executable, "-c", COLD, str(path)]
    return min(
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    )


def main() -> None:
    """Measure both sizes and print what is asked for."""
    report: dict[str, Any] = {}
    for n, dim, factor in ((20_000, 384, 5), (100_000, 256, 4)):
        with tempfile.TemporaryDirectory() as made:
            found = measure(n, dim, Path(made))
            if n == 20_000:
                report["cold"] = cold(Path(made) / "ours.db")
        report[f"{n}x{dim}"] = found
        print(f"{n} × {dim}: " + "  ".join(f"{k} {v:.2f} ms" for k, v in found.items()))
        alone, whole = found["alone"] / found["numpy"], found["sqlite-vec"] / found["search+table"]
        claimed(f"{n} × {dim}: alone, of numpy's time", alone, RATIO, most=1.3)
        claimed(f"{n} × {dim}: sqlite-vec's time", whole, RATIO, least=factor)
    claimed("cold open", report["cold"], "ms", most=150)
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}")
    Path("build/bench").mkdir(parents=True, exist_ok=True)
    Path("build/bench/search.json").write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
