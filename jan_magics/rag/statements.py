"""Statements with many values, and rows whose types only the schema knows."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from jan_magics.storage.database import Database

_BATCH: Final = 500
T = TypeVar("T")


def fetched(
    connection: Database, statement: str, values: Sequence[Any] | dict[str, Any] = ()
) -> list[Any]:
    """Return all rows of a query."""
    return connection.execute(statement, values).fetchall()


def first(connection: Database, statement: str, values: Sequence[Any] = ()) -> Any:
    """Return the first row of a query, None where there is none."""
    return connection.execute(statement, values).fetchone()


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield the items in lists of at most as many as one statement binds."""
    rest = iter(items)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def marks(items: Sequence[Any]) -> str:
    """Return the place holders for values."""
    return ",".join("?" * len(items))
