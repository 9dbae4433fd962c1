"""PostgreSQL connections: one a thread, durable, patient; psycopg's errors become ours here."""

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from jan_magics.domain.errors import StoreError, StoreLocked
from jan_magics.storage.database import Database
from jan_magics.storage.postgres_dialect import PostgresDatabase
from jan_magics.storage.postgres_schema import migrate
from jan_magics.storage.postgres_url import PostgresUrl
from jan_magics.storage.thread_rows import column

if TYPE_CHECKING:
    from psycopg import Connection

PATIENCE: Final = 10
"""Seconds to wait for a connection, and for somebody else's lock."""


class _Held:
    """The connection of one thread, closed when the thread has ended."""

    def __init__(self, connection: "Connection[Any]") -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class PostgresConnections:
    """The connections to one schema of a database; nothing is opened before the first use.

    `prepare` enters the schema, and makes it where it is not there.
    """

    def __init__(
        self,
        url: PostgresUrl,
        *,
        patience: int = PATIENCE,
        prepare: "Callable[[Connection[Any], PostgresUrl], None]" = migrate,
    ) -> None:
        self.url = url
        self._patience = patience
        self._prepare = prepare
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: weakref.WeakSet[_Held] = weakref.WeakSet()

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """Give this thread's connection for one snapshot of the database."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as database:
            yield database

    @contextmanager
    def writing(self, thread_id: str | None = None) -> Iterator[Database]:
        """Give this thread's connection for one transaction: all of it, or nothing.

        Whoever else wants to write into the same thread waits.
        """
        with self._transaction("BEGIN") as database:
            if thread_id is not None:
                lock = "SELECT 1 FROM thread WHERE id = ? FOR UPDATE"
                database.execute(lock, (column(thread_id),))
            yield database

    @contextmanager
    def claiming(self, title: str) -> Iterator[Database]:
        """Give this thread's connection for one transaction; who else claims that title waits."""
        with self._transaction("BEGIN") as database:
            lock = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ?, 0))"
            database.execute(lock, (column(f"/{title}"),))
            yield database

    def close(self) -> None:
        """Close every connection that no other thread is using at this moment."""
        with self._lock:
            everything = list(self._open)
            self._open.clear()
        for held in everything:
            held.connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[PostgresDatabase]:
        with translated(self.url, self._patience):
            connection = self._mine(begin)
            try:
                yield PostgresDatabase(connection)
                connection.execute("COMMIT")
            except BaseException:
                # A connection that broke has nothing left to take back.
                with suppress(loaded().Error):
                    connection.execute("ROLLBACK")
                raise

    def _mine(self, begin: str) -> "Connection[Any]":
        """Return this thread's connection inside a new transaction; a lost one is made anew."""
        held: _Held | None = getattr(self._local, "held", None)
        if held is not None and not held.connection.closed:
            with suppress(loaded().OperationalError):
                held.connection.execute(begin)
                return held.connection
            held.connection.close()
        made = _Held(self._connect())
        with self._lock:
            self._open.add(made)
        self._local.held = made
        made.connection.execute(begin)
        return made.connection

    def _connect(self) -> "Connection[Any]":
        connection: Connection[Any] = loaded().connect(
            self.url.address, autocommit=True, connect_timeout=self._patience,
            application_name="jan_magics", prepare_threshold=2,
        )  # fmt: skip
        try:
            connection.execute(f"SET lock_timeout = '{self._patience}s'")
            self._prepare(connection, self.url)
        except BaseException:
            connection.close()
            raise
        return connection


def loaded() -> Any:
    """Return psycopg. Raises StoreError with the command that installs it."""
    try:
        import psycopg
    except ImportError as error:
        raise StoreError(
            "PostgreSQL needs psycopg", "pip install 'jan-magics[postgres]'"
        ) from error
    return psycopg


@contextmanager
def translated(url: PostgresUrl, patience: int = PATIENCE) -> Iterator[None]:
    """Turn errors of the server and of the way to it into ours, with the next step."""
    psycopg = loaded()
    try:
        yield
    except psycopg.errors.LockNotAvailable as error:
        raise StoreLocked(
            f"{url} has been locked by somebody else for {patience} seconds", "Try again"
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(
            f"{url}: {_first(error)}",
            f'Ask its owner for: GRANT USAGE ON SCHEMA "{url.schema}" …, or name another schema',
        ) from error
    except psycopg.errors.DiskFull as error:
        raise StoreError(f"the disk of {url} is full", "Make room and try again") from error
    except psycopg.OperationalError as error:
        raise StoreError(
            f"{url} cannot be reached: {_first(error)}",
            "Look whether the server runs; a password belongs into PGPASSWORD or ~/.pgpass",
        ) from error
    except psycopg.Error as error:
        raise StoreError(f"{url}: {_first(error)}", "Look at the server's log") from error


def _first(error: Exception) -> str:
    """Return the first line of an error; the others quote statements and their values."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
