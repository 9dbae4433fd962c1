"""The connections to one collection in PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from jan_magics.rag import pgvector_schema
from jan_magics.storage.database import Database
from jan_magics.storage.postgres_connections import PostgresConnections, loaded, translated
from jan_magics.storage.postgres_url import PostgresUrl

if TYPE_CHECKING:
    from psycopg import Connection

_SHARED: Final = "LOCK TABLE generation IN ACCESS SHARE MODE"
_ONE_WRITER: Final = "LOCK TABLE generation IN SHARE ROW EXCLUSIVE MODE"


class CollectionConnections(PostgresConnections):
    """One writes at a time, and readers wait for nobody; but nothing that they see is dropped."""

    def __init__(self, url: PostgresUrl, *, read_only: bool = False) -> None:
        prepare = pgvector_schema.only_read if read_only else pgvector_schema.enter
        super().__init__(url, prepare=prepare)

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """Give this thread's connection for one snapshot of the collection."""
        with super().reading() as database:
            # Before the first query, so that what is seen is still there.
            database.execute(_SHARED)
            yield database

    @contextmanager
    def writing(self, thread_id: str | None = None) -> Iterator[Database]:
        """Give this thread's connection for one transaction: all of it, or nothing."""
        with self._transaction("BEGIN") as database:
            database.execute(_ONE_WRITER)
            yield database

    @contextmanager
    def alone(self) -> Iterator["Connection[Any]"]:
        """Give a connection outside of any transaction, for a short while."""
        with translated(self.url, self._patience):
            connection = self._connect()
            try:
                yield connection
            finally:
                connection.close()

    def is_there(self) -> bool:
        """Tell whether there is such a collection; nothing is made."""
        with translated(self.url, self._patience):
            connection: Connection[Any] = loaded().connect(
                self.url.address, autocommit=True, connect_timeout=self._patience
            )
            try:
                return pgvector_schema.is_there(connection, self.url)
            finally:
                connection.close()
