"""Who else finds neighbours: each is given the same unit rows, and asked the same way.

Row i belongs to share i // 100 % 1000, so that "share below 500, 100, 10, 1" are 50, 10, 1 and
0.1 % of 100,000 rows. Exact are all but Chroma, which has its graph only.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

import apsw
import numpy as np
import numpy.typing as npt
import sqlite_vec

from jan_magics.rag.vectors import FloatMatrix, FloatVector
from tests.benchmarks.claims import left_out
from tests.benchmarks.rounds import installed

K: Final = 10
SHARES: Final = 1_000
BATCH: Final = 5_000
APPROXIMATE: Final = ("chroma",)

Ask: TypeAlias = Callable[[FloatVector, int | None], Sequence[int]]
"""The nearest rows of a query, best first: of all, or of those whose share is below a number."""
Make: TypeAlias = Callable[[Path, FloatMatrix], Ask]


def shares(n: int) -> npt.NDArray[np.int64]:
    """Return the share of each row."""
    return np.arange(n, dtype=np.int64) // 100 % SHARES


def bare_numpy(_: Path, rows: FloatMatrix) -> Ask:
    """A product and a partition, and nothing else."""
    of = shares(len(rows))

    def ask(query: FloatVector, below: int | None) -> Sequence[int]:
        places = None if below is None else np.flatnonzero(of < below)
        products = (rows if places is None else rows[places]) @ query
        best = np.argpartition(-products, K)[:K] if len(products) > K else np.arange(len(products))
        best = best[np.argsort(-products[best])]
        found: list[int] = (best if places is None else places[best]).tolist()
        return found

    return ask


def sqlite_vec_file(folder: Path) -> apsw.Connection:
    """Make a file of SQLite that has sqlite-vec."""
    file = apsw.Connection(str(folder / "raw.db"))
    file.enable_load_extension(True)
    file.load_extension(sqlite_vec.loadable_path())
    return file


def with_sqlite_vec(folder: Path, rows: FloatMatrix) -> Ask:
    """A file with sqlite-vec alone."""
    file = sqlite_vec_file(folder)
    file.execute(
        f"CREATE VIRTUAL TABLE v USING vec0 (e float[{rows.shape[1]}] distance_metric=cosine,"
        " share integer)"
    )
    with file:
        file.executemany(
            "INSERT INTO v (rowid, e, share) VALUES (?, ?, ?)",
            ((n, row.tobytes(), n // 100 % SHARES) for n, row in enumerate(rows)),
        )
    all_rows = "SELECT rowid, distance FROM v WHERE e MATCH ? AND k = ?"

    def ask(query: FloatVector, below: int | None) -> Sequence[int]:
        values: tuple[Any, ...] = (query.tobytes(), K)
        if below is None:
            return [row for row, _ in file.execute(all_rows, values)]
        return [row for row, _ in file.execute(f"{all_rows} AND share < ?", (*values, below))]

    return ask


def with_faiss(_: Path, rows: FloatMatrix) -> Ask:
    """An exact index of faiss; a filter is a set of bits that is ready, as its users have it."""
    faiss = import_module("faiss")
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)
    of, ready = shares(len(rows)), dict[int, Any]()

    def chosen(below: int) -> Any:
        if below not in ready:
            bits = np.packbits(of < below, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(rows), faiss.swig_ptr(bits))
            ready[below] = faiss.SearchParameters(sel=selector), bits
        return ready[below][0]

    def ask(query: FloatVector, below: int | None) -> Sequence[int]:
        options = {} if below is None else {"params": chosen(below)}
        found: list[int] = index.search(query[None], K, **options)[1][0].tolist()
        return found

    return ask


def with_usearch(_: Path, rows: FloatMatrix) -> Ask:
    """An exact search of usearch, which has no filters in Python."""
    usearch = import_module("usearch.index")

    def ask(query: FloatVector, below: int | None) -> Sequence[int]:
        assert below is None
        found = usearch.search(rows, query, K, usearch.MetricKind.IP, exact=True)
        return [int(key) for key in found.keys]

    return ask


def with_lancedb(folder: Path, rows: FloatMatrix) -> Ask:
    """A table of LanceDB, without an index."""
    lancedb, arrow = import_module("lancedb"), import_module("pyarrow")
    flat = arrow.FixedSizeListArray.from_arrays(arrow.array(rows.ravel()), rows.shape[1])
    data = arrow.table(
        {"n": arrow.array(range(len(rows))), "share": shares(len(rows)), "vector": flat}
    )
    table = lancedb.connect(str(folder / "lance")).create_table("bench", data)

    def ask(query: FloatVector, below: int | None) -> Sequence[int]:
        asked = table.search(query).distance_type("cosine").limit(K).select(["n", "_distance"])
        if below is not None:
            asked = asked.where(f"share < {below}", prefilter=True)
        found: list[int] = asked.to_arrow()["n"].to_pylist()
        return found

    return ask


def with_chroma(folder: Path, rows: FloatMatrix) -> Ask:
    """A collection of Chroma with its default graph, by cosine."""
    client = import_module("chromadb").PersistentClient(str(folder / "chroma"))
    table = client.create_collection("bench", metadata={"hnsw:space": "cosine"})
    of = shares(len(rows)).tolist()
    for at in range(0, len(rows), BATCH):
        part = range(at, min(at + BATCH, len(rows)))
        table.add(
            ids=[str(n) for n in part], embeddings=rows[at : at + BATCH],
            metadatas=[{"share": of[n]} for n in part],
        )  # fmt: skip

    def ask(query: FloatVector, below: int | None) -> Sequence[int]:
        where = None if below is None else {"share": {"$lt": below}}
        found = table.query(query_embeddings=[query], n_results=K, where=where, include=[])
        return [int(each) for each in found["ids"][0]]

    return ask


MODULES: Final[Mapping[str, tuple[str, Make]]] = {
    "faiss": ("faiss", with_faiss), "usearch": ("usearch", with_usearch),
    "LanceDB": ("lancedb", with_lancedb), "chroma": ("chromadb", with_chroma),
}  # fmt: skip


def made(folder: Path, rows: FloatMatrix, *, without: Mapping[str, str]) -> dict[str, Ask]:
    """Return those that are installed, filled; `without` says who is not to be asked, and why."""
    found: dict[str, Ask] = {}
    for name, (module, make) in MODULES.items():
        if name in without:
            left_out(name, without[name])
        elif installed(module):
            found[name] = make(folder, rows)
    return found
