"""A collection in one SQLite file: documents, chunks, words and vectors, always all of one state.

Several kernels may use one file at the same time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import apsw

from jan_magics.domain.errors import JanError
from jan_magics.domain.retrieval import Index
from jan_magics.rag import doctor_of_file, generations, near, where_sql
from jan_magics.rag.collection_file import CollectionFile
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.snapshot import Snapshot
from jan_magics.rag.soundness import Checked
from jan_magics.rag.sqlite_dialect import SqliteDialect

IN_MEMORY: Final = 1 << 30
"""Bytes of vectors above which `index = auto` leaves them on the disk."""
_HNSW: Final = "hnsw is for collections in PostgreSQL; here numpy finds the neighbours"


class SqliteCollection(RowCollection):
    """Documents and what is found of them, in one file; the constructor touches nothing.

    `vec0` is sqlite-vec's library where it is not beside its package; vectors of more than
    `in_memory` bytes stay on the disk where it can be used.
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], datetime],
        *,
        read_only: bool = False,
        vec0: str | None = None,
        in_memory: int = IN_MEMORY,
    ) -> None:
        self._vec0 = vec0
        self._in_memory = in_memory
        self.file = CollectionFile(path, read_only=read_only, functions=self._equip)
        super().__init__(self.file, SqliteDialect(), clock)

    @property
    def place(self) -> str:
        """Return the path of its file."""
        return str(self.file.path)

    @property
    def read_only(self) -> bool:
        """Tell whether the file is only read."""
        return self.file.read_only

    @contextmanager
    def snapshot(self, index: Index = "auto") -> Iterator[Snapshot]:
        """Give one state of the collection for as long as a search takes.

        `index` is who finds neighbours: `numpy` holds all vectors in memory, `vec0` asks
        sqlite-vec on the disk, `auto` takes memory unless there are too many. Where vec0 cannot be
        used, numpy answers the same, and the snapshot's `note` says why.
        """
        if index.startswith("hnsw"):
            with self.file.reading() as connection:
                made = self._snapshot(connection, "numpy", _HNSW)
                yield made or self._empty(connection)
            return
        with self.file.reading() as connection:
            made = self._snapshot(connection, index)
            if made is not None:
                yield made
                return
        note = self._prepare_disk()
        with self.file.reading() as connection:
            made = self._snapshot(connection, index) if note is None else None
            yield made or self._snapshot(connection, "numpy", note) or self._empty(connection)

    def vacuum(self) -> None:
        """Give the room of what was forgotten back, and leave nothing of it in the file."""
        with self.file.writing() as connection:
            # Words of forgotten chunks are only marked as such until they are merged.
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        with self.file.alone() as connection:
            connection.execute("VACUUM")
            with suppress(apsw.BusyError):  # somebody reads, so the log is emptied later
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def checked(self) -> Checked:
        """Look whether the file is sound; nothing is changed."""
        return doctor_of_file.checked(self.file)

    def close(self) -> None:
        """Close all connections; a later call opens them again."""
        if not self.read_only and self.file.path.exists():
            # What cannot be moved into the file stays in the log; a damaged file stays as it is.
            with suppress(JanError, apsw.BusyError), self.file.alone() as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.file.close()
        self._held = self._coded = None

    def _equip(self, connection: apsw.Connection) -> None:
        """Give a new connection what statements call, and vec0 where a copy is to be kept."""
        where_sql.add_functions(connection)
        if near.made(connection):
            near.load(connection, self._vec0)

    def _snapshot(
        self, connection: apsw.Connection, index: Index, note: str | None = None
    ) -> Snapshot | None:
        """Return what this state answers with; None where vec0 is to be asked and is not ready."""
        held = generations.active(connection)
        if held is None:
            return self._empty(connection)
        large = index == "auto" and generations.size(connection, held[1]) > self._in_memory
        if index != "vec0" and not large:
            return self._measured_here(connection, held, index, note)
        if not near.usable(connection, held[0]):
            return None
        return Snapshot(connection, self.dialect, held, engine="vec0")

    def _empty(self, connection: apsw.Connection) -> Snapshot:
        return Snapshot(connection, self.dialect, engine="vec0")

    def _prepare_disk(self) -> str | None:
        """Load sqlite-vec and bring its copy of the vectors up to date; return why not."""
        with self.file.alone() as connection:
            reason = None if near.loaded(connection) else near.load(connection, self._vec0)
        if reason is not None:
            return f"sqlite-vec cannot be used, so numpy finds the neighbours: {reason}"
        with self.file.reading() as connection:
            held = generations.active(connection)
            if held is None or near.state(connection, held[0]) == "kept":
                return None
        if self.read_only:
            return "numpy finds the neighbours: the file is read-only and has no copy for vec0"
        with self.file.writing() as connection:
            held = generations.active(connection)
            if held is not None and near.state(connection, held[0]) != "kept":
                near.make(connection, held[0], held[1].dim)
        return None
