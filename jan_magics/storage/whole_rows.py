"""Whole threads in rows of a database: the bin, and threads on their way elsewhere."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import Thread
from jan_magics.domain.protocols import ThreadRow
from jan_magics.storage import damage, message_rows, thread_rows
from jan_magics.storage.codec import from_milliseconds
from jan_magics.storage.database import Database, Transactions
from jan_magics.storage.names import check_thread_id
from jan_magics.storage.thread_rows import live_number, live_thread
from jan_magics.storage.upkeep import WholeThread


class WholeRows:
    """Threads as a whole, over the connections of a database."""

    def __init__(self, connections: Transactions, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._clock = clock

    def create_thread(self, thread: Thread) -> None:
        """Write a new thread; an id that exists already is left as it is."""
        check_thread_id(thread.id)
        with self._connections.writing() as connection:
            thread_rows.add_thread(connection, thread)

    def claim_thread(self, thread: Thread) -> Thread:
        """Write a new thread unless another has its title; return the one that has it."""
        check_thread_id(thread.id)
        with self._connections.claiming(thread.title) as connection:
            found = thread_rows.titled(connection, thread.title)
            if found is None:
                thread_rows.add_thread(connection, thread)
            return found or thread

    def binned(self) -> Sequence[ThreadRow]:
        """List the threads in the bin, the last deleted first."""
        with self._connections.reading() as connection:
            return thread_rows.read_rows(connection.execute(thread_rows.BINNED).fetchall())

    def whole(self, thread_id: str) -> WholeThread:
        """Return all that is known of a thread. Raises ThreadNotFound."""
        with self._connections.reading() as connection:
            n = live_number(connection, thread_id)
            return _whole(connection, n, live_thread(connection, thread_id))

    def deleted(self) -> Iterator[tuple[WholeThread, datetime]]:
        """Yield the threads in the bin and when they were deleted, the first deleted first."""
        threads = {row.thread.id: row.thread for row in self.binned()}
        with self._connections.reading() as connection:
            places = connection.execute(
                "SELECT n, id, deleted_at FROM thread WHERE deleted_at IS NOT NULL"
                " ORDER BY deleted_at, n"
            ).fetchall()
        for n, name, at in places:
            with self._connections.reading() as connection:
                whole = _whole(connection, n, threads[name])
            yield whole, from_milliseconds(at)

    def adopt(self, whole: WholeThread) -> None:
        """Write a whole thread as it is, its times included. Raises StoreError if it exists."""
        check_thread_id(whole.thread.id)
        with self._connections.writing() as connection:
            if not thread_rows.add_thread(connection, whole.thread):
                raise StoreError(
                    f"there is a thread {whole.thread.id!r} already, perhaps in the bin",
                    "Delete it, then empty the bin",
                )
            n = live_number(connection, whole.thread.id)
            for message in whole.messages:
                message_rows.put(connection, n, message)
            message_rows.add_records(connection, n, whole.records)
            for name, parent in whole.tombstones.items():
                message_rows.add_tombstone(connection, n, name, parent)
            damage.recount(connection, n)


def _whole(connection: Database, n: int, thread: Thread) -> WholeThread:
    records = message_rows.read_records(connection, n)
    return WholeThread(
        thread,
        message_rows.read_messages(connection, n),
        [record for record in records if isinstance(record, dict)],
        message_rows.tombstones(connection, n),
    )
