"""The file of a collection: how it is opened, by whom it may be changed, what it may run."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw

from jan_magics.domain.errors import CollectionNotFound
from jan_magics.rag.collection_schema import check, prepare
from jan_magics.storage.connections import PATIENCE, Connections, reading
from jan_magics.storage.mounts import network_of

_CACHE_KIB: Final = 16_384
_LOG_PAGES: Final = 8_000


class CollectionFile(Connections):
    """The connections of one collection; `functions` gives each what its queries call.

    `read_only` opens a file that is there; in a folder that nobody writes to (`frozen`), it
    never writes beside it, either.
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        frozen: bool = False,
        functions: Callable[[apsw.Connection], None] = lambda _: None,
        patience: float = PATIENCE,
        network: Callable[[Path], str | None] = network_of,
    ) -> None:
        super().__init__(path, patience=patience, network=network)
        self.frozen = frozen or not os.access(path.parent, os.W_OK)
        self.read_only = read_only or (
            path.exists() and (self.frozen or not os.access(path, os.W_OK))
        )
        self._functions = functions

    def _connect(self) -> apsw.Connection:
        if not self.read_only:
            return super()._connect()
        if not self._path.is_file():
            raise CollectionNotFound(
                f"there is no collection at {str(self._path)!r}",
                "List them with: %rag collections",
            )
        return self._opened(reading(self._path, frozen=self.frozen))

    def _prepared(self) -> apsw.Connection:
        return self._opened(apsw.Connection(str(self._path)))

    def _opened(self, connection: apsw.Connection) -> apsw.Connection:
        """Set a new connection up; what the file itself says is never run."""
        try:
            connection.set_busy_timeout(int(self._patience * 1000))
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.pragma("cache_size", -_CACHE_KIB)
            if not self.read_only:
                self._make_durable(connection)
            check(connection, self._path)
            self._functions(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_durable(self, connection: apsw.Connection) -> None:
        prepare(connection, self._path)
        # The shared memory of WAL does not reach other machines.
        connection.pragma("journal_mode", "wal" if self.network is None else "delete")
        connection.pragma("synchronous", "normal" if self.network is None else "full")
        connection.pragma("secure_delete", 1)
        # Every document would otherwise be written twice at once.
        connection.pragma("wal_autocheckpoint", _LOG_PAGES)
