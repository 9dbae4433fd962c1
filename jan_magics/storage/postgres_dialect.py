"""Statements that were written for SQLite, run by psycopg."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

_PLACE: Final = re.compile(r"\?(\d*)|(?<![:\w]):([a-z_]+)")
NUL: Final = "\u2400"
"""What stands for NUL, which no text of PostgreSQL holds; the true one is escaped in the data."""


class PostgresDatabase:
    """A connection inside a transaction."""

    def __init__(self, connection: "Connection[Any]") -> None:
        self._connection = connection
        self._last: Cursor[Any] | None = None

    def execute(self, statements: str, bindings: Any = None) -> "Cursor[Any]":
        """Run a statement with its values."""
        values = _values(bindings)
        if "?1" in statements and isinstance(values, list):
            values = {f"a{place}": value for place, value in enumerate(values, 1)}
        self._last = self._connection.execute(translated(statements), values)
        return self._last

    def executemany(self, statements: str, sequenceofbindings: Iterable[Any]) -> None:
        """Run a statement once for each of several values."""
        rows = [_values(each) for each in sequenceofbindings]
        if rows:
            self._connection.cursor().executemany(translated(statements), rows)

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        return self._last.rowcount if self._last else 0


def lexeme(word: str) -> str:
    """Return a word as a tsvector or a tsquery is written."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


@lru_cache(maxsize=256)
def translated(sql: str) -> Any:
    """Return a statement with psycopg's placeholders.

    >>> translated("SELECT ?1, ?1, :name WHERE n = ?")
    'SELECT %(a1)s, %(a1)s, %(name)s WHERE n = %s'
    """
    return _PLACE.sub(_place, sql.replace("%", "%%"))


def _place(found: re.Match[str]) -> str:
    number, name = found.groups()
    if name:
        return f"%({name})s"
    return f"%(a{number})s" if number else "%s"


def _values(bindings: Any) -> Any:
    if bindings is None:
        return None
    if isinstance(bindings, Mapping):
        return {key: _clean(value) for key, value in bindings.items()}
    return [_clean(value) for value in bindings]


def _clean(value: Any) -> Any:
    if isinstance(value, list):
        return [_clean(each) for each in value]
    return value.replace("\0", NUL) if isinstance(value, str) else value
