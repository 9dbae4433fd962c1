"""Nearest neighbours on the server: all rows are measured, or the graph of an HNSW index is asked.

The server only proposes: the candidates are measured again as everywhere else, in float64. A graph
finds most of the nearest, not all; it is made when it is first asked for, and kept by the server.
"""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from jan_magics.rag.dialect import Where
from jan_magics.rag.pgvector_words import named
from jan_magics.rag.statements import fetched, first
from jan_magics.storage.database import Database

Near: TypeAlias = Literal["exact", "hnsw", "hnsw-half"]

_MARGIN: Final = 16
_SAME: Final = 2e-5
"""Products this close may stand in another order when they are measured exactly."""
_MOST_LISTED: Final = 1000
"""What the server keeps of a walk through the graph at most (hnsw.ef_search)."""
_ALL: Final = """
    WITH hit AS (
        SELECT passage, data <#> CAST(:query AS vector) AS d FROM {table} WHERE data IS NOT NULL
        ORDER BY (data <#> CAST(:query AS vector)) + 0 LIMIT :asked
    )
    SELECT chunk.n, hit.passage, d FROM hit JOIN chunk ON chunk.passage = hit.passage
"""
# The sum keeps a graph out of it.
_PASSING: Final = """
    WITH passing AS MATERIALIZED ({where})
    SELECT chunk.n, chunk.passage, data <#> CAST(:query AS vector) AS d FROM passing
    JOIN chunk ON chunk.n = passing.n JOIN {table} AS v ON v.passage = chunk.passage
    WHERE data IS NOT NULL ORDER BY d LIMIT :asked
"""
_WALKED: Final = """
    SELECT chunk.n, v.passage, {data} <#> {query} AS d FROM {table} AS v
    JOIN chunk ON chunk.passage = v.passage
    WHERE data IS NOT NULL{inside} ORDER BY {data} <#> {query} LIMIT :asked
"""


def exactly(
    connection: Database, table: str, query: str, k: int, where: Where | None = None
) -> list[int]:
    """Return the numbers of the k nearest chunks and of all that may be as near, unordered."""
    values: dict[str, object] = {"query": query}
    sql = _ALL
    if where is not None:
        condition, bound = named(where)
        sql, values = _PASSING.replace("{where}", condition), values | bound
    sql = sql.replace("{table}", table)
    asked = k + _MARGIN
    while True:
        rows = fetched(connection, sql, values | {"asked": asked})
        few = len({passage for _, passage, _ in rows} if where is None else rows) < asked
        distances = sorted(d for _, _, d in rows)
        if few or distances[-1] - distances[k - 1] > _SAME:
            return [n for n, _, _ in rows]
        asked *= 4


def walked(
    connection: Database,
    table: str,
    query: str,
    k: int,
    where: Where | None,
    half: int | None,
) -> list[int]:
    """Return the numbers of the nearest chunks by the graph; `half` is the dim in half precision.

    The walk goes on until enough of them pass the filter, or it has seen what it may see.
    """
    asked = k + _MARGIN
    connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
    connection.execute(f"SET LOCAL hnsw.ef_search = {min(max(asked, 100), _MOST_LISTED)}")
    inside, values = "", {"query": query, "asked": asked}
    if where is not None:
        condition, bound = named(where)
        inside, values = f" AND chunk.n IN ({condition})", values | bound
    data, kind = operand(half)
    sql = _WALKED.format(data=data, query=f"CAST(:query AS {kind})", table=table, inside=inside)
    return [n for n, _, _ in fetched(connection, sql, values)]


def operand(half: int | None) -> tuple[str, str]:
    """Return what the graph is of, and its type."""
    if half is None:
        return "data", "vector"
    return f"(data::halfvec({half}))", f"halfvec({half})"


def graph_of(generation: int, near: Near) -> str:
    """Return the name of the index of a generation."""
    return f"vectors_{generation}_{near.replace('-', '_')}"


def has_graph(connection: Database, generation: int, near: Near) -> bool:
    """Tell whether the graph of a generation is there."""
    return bool(first(connection, "SELECT to_regclass(?)", (graph_of(generation, near),))[0])


def make_graph(connection: Database, generation: int, near: Near, dim: int) -> None:
    """Make the graph of a generation; nobody writes meanwhile."""
    data, kind = operand(dim if near == "hnsw-half" else None)
    operators = f"{kind.partition('(')[0]}_ip_ops"
    connection.execute(
        f"CREATE INDEX IF NOT EXISTS {graph_of(generation, near)} ON vectors_{generation}"
        f" USING hnsw ({data} {operators})"
    )


def unfit(near: Near, dim: int) -> str | None:
    """Return why vectors of that length have no graph, None where they can have one."""
    longest = 4000 if near == "hnsw-half" else 2000
    return None if dim <= longest else f"{near} takes at most {longest:,} numbers, not {dim:,}"


def written(row: Sequence[float]) -> str:
    """Return a vector as the server reads it, exact to the bit."""
    return str(list(row))
