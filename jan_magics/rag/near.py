"""Nearest neighbours on disk: sqlite-vec's `vec0`, a copy of the vectors that may be lost.

It is made when it is first asked for, and from then on kept in the same transactions as the rest.
A process without sqlite-vec cannot keep it: it is then behind, which its mark tells, and is made
anew from the vectors.
"""

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import apsw

from jan_magics.rag.statements import fetched, first
from jan_magics.storage.database import Database

LARGEST_K: Final = 4096
"""What `vec0` itself answers; above it, all its rows are measured."""
_MARGIN: Final = 16
_SAME: Final = 2e-5
"""Distances this close may stand in another order when they are measured exactly."""


def load(connection: apsw.Connection, place: str | None = None) -> str | None:
    """Load sqlite-vec, and prove it; return why it cannot be used, None where it can.

    Tried are `place` (a file), the place that its package names, and files beside the package.
    """
    reasons = []
    for path in _places(place):
        try:
            connection.enable_load_extension(True)
            try:
                connection.load_extension(path)
            finally:
                connection.enable_load_extension(False)
            connection.execute(
                "CREATE VIRTUAL TABLE temp.proof USING vec0 (v float[1]); DROP TABLE temp.proof"
            )
        except apsw.Error as error:
            reasons.append(f"{Path(path).name}: {error}")
        else:
            return None
    return reasons[0] if reasons else "sqlite-vec is not installed (pip install sqlite-vec)"


def loaded(connection: Database) -> bool:
    """Tell whether this connection knows `vec0`."""
    try:
        connection.execute("SELECT vec_version()").fetchone()
    except apsw.SQLError:
        return False
    return True


def made(connection: Database) -> bool:
    """Tell whether any generation has a copy."""
    return (
        first(connection, "SELECT 1 FROM sqlite_schema WHERE name GLOB 'near_[0-9]*'") is not None
    )


def state(connection: Database, generation: int) -> str:
    """Tell how the copy of a generation stands: `absent`, `behind` or `kept`."""
    if not first(connection, "SELECT 1 FROM sqlite_schema WHERE name = ?", [f"near_{generation}"]):
        return "absent"
    values = dict(fetched(connection, "SELECT key, value FROM about"))
    return "kept" if values.get(f"near_{generation}") == values["changes"] else "behind"


def usable(connection: Database, generation: int) -> bool:
    """Tell whether the copy of a generation can be asked, and has all."""
    return state(connection, generation) == "kept" and loaded(connection)


def kept(connection: Database, generations: Iterable[int]) -> list[int]:
    """Return the generations whose copy is to be kept by what is written now."""
    return [n for n in generations if usable(connection, n)]


def mark(connection: Database, generations: Iterable[int]) -> None:
    """Say that the copies hold all that is in the file at this moment."""
    connection.executemany(
        "INSERT OR REPLACE INTO about SELECT ?, value FROM about WHERE key = 'changes'",
        ((f"near_{n}",) for n in generations),
    )


def make(connection: Database, generation: int, dim: int) -> None:
    """Make the copy anew from the vectors, inside an open transaction."""
    connection.execute(f"DROP TABLE IF EXISTS near_{generation}")
    connection.execute(
        f"CREATE VIRTUAL TABLE near_{generation} USING vec0"
        f" (vector float[{dim}] distance_metric=cosine)"
    )
    connection.execute(
        f"INSERT INTO near_{generation} (rowid, vector) SELECT chunk.n, data FROM chunk"
        f" JOIN vectors_{generation} AS v ON v.passage = chunk.passage WHERE data IS NOT NULL"
    )
    mark(connection, [generation])


def add(connection: Database, generation: int, chunks: range) -> None:
    """Copy the vectors of new chunks."""
    connection.execute(
        f"INSERT INTO near_{generation} (rowid, vector) SELECT chunk.n, data FROM chunk"
        f" JOIN vectors_{generation} AS v ON v.passage = chunk.passage"
        " WHERE data IS NOT NULL AND chunk.n BETWEEN ? AND ?",
        (chunks.start, chunks.stop - 1),
    )


def forget(connection: Database, generation: int, chunks: Sequence[int]) -> None:
    """Take chunks out of the copy."""
    connection.executemany(f"DELETE FROM near_{generation} WHERE rowid = ?", ((n,) for n in chunks))


def drop(connection: Database, generation: int) -> None:
    """Drop the copy; without sqlite-vec it stays, and nothing reads it."""
    if loaded(connection):
        connection.execute(f"DROP TABLE IF EXISTS near_{generation}")
    connection.execute("DELETE FROM about WHERE key = ?", (f"near_{generation}",))


def nearest(
    connection: Database,
    generation: int,
    query: bytes,
    k: int,
    where: tuple[str, Sequence[Any]] | None = None,
) -> list[int]:
    """Return the numbers of the k nearest chunks and of all that may be as near, unordered.

    `where` is a query for the numbers that may be found at all, with its values.
    """
    asked = k + _MARGIN
    while where is None and asked <= LARGEST_K:
        rows = fetched(
            connection,
            f"SELECT rowid, distance FROM near_{generation} WHERE vector MATCH ? AND k = ?",
            (query, asked),
        )
        if len(rows) < asked or _apart(rows, k):
            return [n for n, _ in rows]
        asked *= 4
    table = f"SELECT rowid AS n, vec_distance_cosine(vector, ?) AS d FROM near_{generation}"
    values: list[Any] = [query]
    if where is not None:
        table += f" WHERE rowid IN ({where[0]})"
        values += where[1]
    rows = fetched(
        connection,
        f"WITH hit AS MATERIALIZED ({table}) SELECT n, d FROM hit WHERE d <= ?"
        " + coalesce((SELECT d FROM hit ORDER BY d LIMIT 1 OFFSET ?), 2)",
        (*values, _SAME, k - 1),
    )
    return [n for n, _ in rows]


def _apart(rows: Sequence[Sequence[Any]], k: int) -> bool:
    """Tell whether what was not returned is certainly farther than the k-th."""
    distances = sorted(float(row[1]) for row in rows)
    return distances[-1] - distances[k - 1] > _SAME


def _places(setting: str | None) -> Iterator[str]:
    if setting:
        yield setting
    spec = importlib.util.find_spec("sqlite_vec")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield str(Path(folder) / "vec0")
        for path in sorted(Path(folder).parent.glob("vec0.*")):
            yield str(path)
