"""A Store for a team: a schema of a PostgreSQL database. Many kernels of many users may use it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import StoreError
from jan_magics.storage import damage
from jan_magics.storage.postgres_connections import PostgresConnections
from jan_magics.storage.postgres_url import PostgresUrl
from jan_magics.storage.row_store import RowStore
from jan_magics.storage.sqlite import SqliteStore

_UNREADABLE: Final = "message.data IS NOT JSON"


class PostgresStore(RowStore):
    """Threads and messages in a schema of a database; the constructor touches nothing.

    Every method raises StoreError when the server cannot be reached or refuses.
    """

    def __init__(self, url: PostgresUrl, clock: Callable[[], datetime]) -> None:
        self.database = PostgresConnections(url)
        super().__init__(self.database, clock)

    def check(self) -> Sequence[str]:
        """Return what is wrong, a line each; nothing is changed."""
        try:
            with self.database.reading() as connection:
                return damage.find(connection, _UNREADABLE)
        except StoreError as error:
            return [error.message]

    def repair(self) -> Sequence[str]:
        """Mend what can be mended without losing anything; return what was done."""
        with self.database.writing() as connection:
            connection.execute("LOCK TABLE thread IN SHARE ROW EXCLUSIVE MODE")
            return damage.mend(connection, _UNREADABLE)

    def vacuum(self) -> None:
        """Empty the bin for good; the server gives the room back by itself."""
        with self.database.writing() as connection:
            connection.execute("DELETE FROM thread WHERE deleted_at IS NOT NULL")

    def backup(self, path: Path) -> None:
        """Write all threads, also those in the bin, into a new file: a SQLite store.

        Each thread is as it was at one moment. Raises StoreError when the file exists.
        """
        if path.exists():
            raise StoreError(f"{path} exists already", "Name a file that does not exist")
        new = path.with_name(f"{path.name}.new")
        new.unlink(missing_ok=True)
        target = SqliteStore(new, self._clock)
        # The oldest first, since equal times are listed in the order of writing.
        for row in reversed(self.threads()):
            target.adopt(self.whole(row.thread.id))
        for whole, at in self.deleted():
            target.adopt(whole)
            target.delete_at(whole.thread.id, at)
        target.close()
        new.rename(path)
