"""The doctor's side of the SQLite store: checks, repairs, the bin, copies and whole threads."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import apsw

from jan_magics.domain.errors import StoreError
from jan_magics.domain.protocols import ThreadRow
from jan_magics.storage import damage, message_rows, thread_rows
from jan_magics.storage.connections import Connections, translated
from jan_magics.storage.files import ELSEWHERE
from jan_magics.storage.mounts import network_of
from jan_magics.storage.names import check_thread_id
from jan_magics.storage.thread_rows import live_number, live_thread
from jan_magics.storage.upkeep import WholeThread


class SqliteUpkeep:
    """A database file that can be checked, mended, copied and emptied."""

    def __init__(
        self,
        path: Path,
        clock: Callable[[], datetime],
        *,
        network: Callable[[Path], str | None] = network_of,
    ) -> None:
        self._connections = Connections(path, network=network)
        self._clock = clock

    def check(self) -> Sequence[str]:
        """Return what is wrong, a line each; nothing is changed."""
        if not self._connections.path.exists():
            return []
        try:
            with self._connections.reading() as connection:
                faults = damage.find(connection)
        except StoreError as error:
            faults = [error.message]
        kind = self._connections.network
        if kind is not None:
            mode = "its journal mode is DELETE instead of WAL, which is safe and slower"
            faults.append(f"{self._connections.path} is on a network file system ({kind}): {mode}")
        return faults

    def repair(self) -> Sequence[str]:
        """Mend what can be mended without losing anything; return what was done."""
        if not self._connections.path.exists():
            return []
        with self._connections.writing() as connection:
            return damage.mend(connection)

    def vacuum(self) -> None:
        """Empty the bin for good and give its room back."""
        if not self._connections.path.exists():
            return
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM thread WHERE deleted_at IS NOT NULL")
        with self._connections.alone() as connection:
            connection.execute("VACUUM")
            with suppress(apsw.BusyError):  # somebody reads, so the log is emptied a little later
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, path: Path) -> None:
        """Write a copy to a new file while others go on. Raises StoreError when it exists."""
        new = path.with_name(f"{path.name}.new")
        with self._connections.alone() as source, translated(path, step=ELSEWHERE):
            if path.exists():
                raise StoreError(f"{path} exists already", "Name a file that does not exist")
            path.parent.mkdir(parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            target = apsw.Connection(str(new))
            try:
                with target.backup("main", source, "main") as copying:
                    copying.step()
                target.pragma("journal_mode", "delete")
            finally:
                target.close()
            new.rename(path)

    def binned(self) -> Sequence[ThreadRow]:
        """List the threads in the bin, the last deleted first."""
        with self._connections.reading() as connection:
            return thread_rows.read_rows(connection.execute(thread_rows.BINNED).fetchall())

    def whole(self, thread_id: str) -> WholeThread:
        """Return all that is known of a thread. Raises ThreadNotFound."""
        with self._connections.reading() as connection:
            n = live_number(connection, thread_id)
            records = message_rows.read_records(connection, n)
            return WholeThread(
                live_thread(connection, thread_id),
                message_rows.read_messages(connection, n),
                [record for record in records if isinstance(record, dict)],
                message_rows.tombstones(connection, n),
            )

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
