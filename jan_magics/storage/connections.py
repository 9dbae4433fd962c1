"""SQLite connections: one a thread, durable, patient; apsw's errors become ours here."""

import os
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from jan_magics.domain.errors import StoreError, StoreLocked
from jan_magics.storage.files import WRITABLE
from jan_magics.storage.mounts import network_of
from jan_magics.storage.schema import migrate

PATIENCE: Final = 10.0
"""Seconds to wait for another process before giving up."""
ROOM: Final = 1 << 16
"""Bytes: a disk that has less is full; SQLite grows its shared memory by half as much."""


class Connections:
    """The connections of one database file; nothing is opened before the first use."""

    def __init__(
        self,
        path: Path,
        *,
        patience: float = PATIENCE,
        network: Callable[[Path], str | None] = network_of,
    ) -> None:
        self._path = path
        self._patience = patience
        self._network = network
        self._local = threading.local()
        self._lock = threading.Lock()
        # Weak: the connection of a thread that has ended closes itself.
        self._open: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._generation = 0

    @property
    def path(self) -> Path:
        """Return where the database is."""
        return self._path

    @property
    def network(self) -> str | None:
        """Return the kind of network file system that it is on, None for a local one."""
        return self._network(self._path.parent)

    @contextmanager
    def alone(self) -> Iterator[apsw.Connection]:
        """Give this thread's connection outside of any transaction."""
        with translated(self._path, self._patience):
            yield self._mine()

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Give this thread's connection for one snapshot of the database."""
        with translated(self._path, self._patience):
            connection = self._mine()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    @contextmanager
    def writing(self, _thread_id: str | None = None) -> Iterator[apsw.Connection]:
        """Give this thread's connection for one transaction: all of it, or nothing.

        Nobody else writes into the file meanwhile, whichever thread it is about.
        """
        with translated(self._path, self._patience):
            connection = self._mine()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def claiming(self, _title: str) -> AbstractContextManager[apsw.Connection]:
        """Give this thread's connection for one transaction, as `writing` does."""
        return self.writing()

    def close(self) -> None:
        """Close every connection that no other thread is using at this moment."""
        with self._lock:
            self._generation += 1
            connections = list(self._open)
            self._open.clear()
        for connection in connections:
            with suppress(apsw.Error):
                connection.close()

    def _mine(self) -> apsw.Connection:
        held: tuple[int, apsw.Connection] | None = getattr(self._local, "held", None)
        if held is not None and held[0] == self._generation:
            return held[1]
        generation = self._generation
        connection = self._connect()
        with self._lock:
            self._open.add(connection)
        self._local.held = (generation, connection)
        return connection

    def _connect(self) -> apsw.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._prepared()
            except apsw.BusyError:
                # Turning on WAL does not wait for a lock by itself: two kernels may start at once.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _prepared(self) -> apsw.Connection:
        frozen = self._path.is_file() and not os.access(self._path.parent, os.W_OK)
        path = self._path
        connection = reading(path, frozen=True) if frozen else apsw.Connection(str(path))
        try:
            connection.set_busy_timeout(int(self._patience * 1000))
            if not frozen:
                # The shared memory of WAL does not reach other machines.
                connection.pragma("journal_mode", "wal" if self.network is None else "delete")
            connection.pragma("synchronous", "full")
            connection.pragma("foreign_keys", 1)
            migrate(connection, self._path)
        except BaseException:
            connection.close()
            raise
        return connection


def reading(path: Path, *, frozen: bool) -> apsw.Connection:
    """Open a database that is there, only to read it; `frozen`: in a folder that is closed to us.

    Raises StoreError where its newest changes could not be read.
    """
    waiting = path.with_name(f"{path.name}-wal")
    # A log that was not emptied belongs to the data; without it the file may be half of it.
    if frozen and waiting.exists() and waiting.stat().st_size:
        raise StoreError(
            f"{path} was not closed: its newest changes are in {waiting.name}, which cannot be read"
            " in a folder that is read-only",
            "Copy both files to a folder that you may write to, and open the copy",
        )
    address = f"file:{quote(str(path.resolve()))}?{'immutable=1' if frozen else 'mode=ro'}"
    return apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


@contextmanager
def translated(path: Path, patience: float = PATIENCE, step: str = WRITABLE) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into ours, with the next step."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreLocked(
            f"{path} has been locked by another process for {patience:g} seconds",
            "Close the other kernel or program that uses it, or try again",
        ) from error
    except apsw.Error as error:
        raise StoreError(*_explained(error, path, step)) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror or error}", step) from error


def _explained(error: apsw.Error, path: Path, step: str) -> tuple[str, str]:
    match error:
        # SQLite calls it a failure of the disk when there is no room for what it shares.
        case apsw.FullError() | apsw.IOError() if _is_full(error, path):
            return f"the disk of {path} is full", "Make room and send the message again"
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            return f"{path} cannot be opened for writing: {error}", step
        case apsw.NotADBError():
            return f"{path} is not a database", "Move it away, or name another data folder"
        case apsw.CorruptError():
            return (
                f"{path} is damaged: {error}",
                "Copy it to a safe place, then restore a backup or let `sqlite3 .recover` read it",
            )
        case _:
            return f"{path}: {error}", "Look at the disk, then try again"


def _is_full(error: apsw.Error, path: Path) -> bool:
    try:
        return isinstance(error, apsw.FullError) or shutil.disk_usage(path.parent).free < ROOM
    except OSError:
        return False
