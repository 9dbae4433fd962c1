"""The default Store: one SQLite file. Several kernels may use it at the same time."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from jan_magics.storage.connections import Connections
from jan_magics.storage.mounts import network_of
from jan_magics.storage.row_store import RowStore
from jan_magics.storage.sqlite_upkeep import SqliteUpkeep


class SqliteStore(RowStore, SqliteUpkeep):
    """Threads and messages in a SQLite file; the constructor touches nothing.

    `network` names the kind of network file system that a path is on, None for a local one.
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], datetime],
        *,
        network: Callable[[Path], str | None] = network_of,
    ) -> None:
        self._file = Connections(path, network=network)
        super().__init__(self._file, clock)
