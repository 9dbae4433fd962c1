"""The doctor's side of the SQLite store: checks, repairs, copies, and the emptying of the bin."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

from jan_magics.domain.errors import StoreError
from jan_magics.storage import damage
from jan_magics.storage.connections import Connections, translated
from jan_magics.storage.files import ELSEWHERE

_UNREADABLE: Final = "NOT json_valid(message.data)"


class SqliteUpkeep:
    """A database file that can be checked, mended, copied and emptied."""

    _file: Connections

    def check(self) -> Sequence[str]:
        """Return what is wrong, a line each; nothing is changed."""
        if not self._file.path.exists():
            return []
        try:
            with self._file.reading() as connection:
                faults = [*_broken(connection), *damage.find(connection, _UNREADABLE)]
        except StoreError as error:
            faults = [error.message]
        kind = self._file.network
        if kind is not None:
            mode = "its journal mode is DELETE instead of WAL, which is safe and slower"
            faults.append(f"{self._file.path} is on a network file system ({kind}): {mode}")
        return faults

    def repair(self) -> Sequence[str]:
        """Mend what can be mended without losing anything; return what was done."""
        if not self._file.path.exists():
            return []
        with self._file.writing() as connection:
            done = damage.mend(connection, _UNREADABLE)
            if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                connection.execute("REINDEX")
                done.append("the indexes were made anew")
            return done

    def vacuum(self) -> None:
        """Empty the bin for good and give its room back."""
        if not self._file.path.exists():
            return
        with self._file.writing() as connection:
            connection.execute("DELETE FROM thread WHERE deleted_at IS NOT NULL")
        with self._file.alone() as connection:
            connection.execute("VACUUM")
            with suppress(apsw.BusyError):  # somebody reads, so the log is emptied a little later
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, path: Path) -> None:
        """Write a copy to a new file while others go on. Raises StoreError when it exists."""
        new = path.with_name(f"{path.name}.new")
        with self._file.alone() as source, translated(path, step=ELSEWHERE):
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


def _broken(connection: apsw.Connection) -> Iterator[str]:
    """Yield what SQLite says of its own file."""
    for (line,) in connection.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            yield f"the database is damaged: {line}"
    for table, *_ in connection.execute("PRAGMA foreign_key_check").fetchall():
        yield f"a row of {table} belongs to no thread"
