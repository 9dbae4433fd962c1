"""What the rows of threads need of a database, whichever engine it is: statements and transactions.

Statements are written once, for all engines, with the placeholders of SQLite: `?`, `?1`, `:name`.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

Values: TypeAlias = Sequence[Any] | Mapping[str, Any]


class Rows(Protocol):
    """What a statement found."""

    def fetchone(self) -> Any:
        """Return the next row, None at the end."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        ...


class Database(Protocol):
    """A connection inside a transaction, which runs statements."""

    def execute(self, statements: str, bindings: Any = None) -> Rows:
        """Run a statement with its values."""
        ...

    def executemany(self, statements: str, sequenceofbindings: Iterable[Any]) -> object:
        """Run a statement once for each of several values."""
        ...

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        ...


class Transactions(Protocol):
    """Who gives connections; those of one thread are its own."""

    def reading(self) -> AbstractContextManager[Database]:
        """Give a connection that sees one state of the database."""
        ...

    def writing(self, thread_id: str | None = None) -> AbstractContextManager[Database]:
        """Give a connection for one transaction: all of it, or nothing.

        Nobody else writes into the thread meanwhile; without one, nobody writes at all, or it
        does not matter.
        """
        ...

    def claiming(self, title: str) -> AbstractContextManager[Database]:
        """Give a connection for one transaction; whoever else claims that title waits."""
        ...

    def close(self) -> None:
        """Close what is open; a later call opens it again."""
        ...
