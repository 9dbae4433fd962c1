"""A collection in one SQLite file: documents, chunks, words and vectors, always all of one state.

A document is there wholly, in its old or in its new form, whenever the program ends. Several
kernels may use one file at the same time. What it answers with is read through `snapshot`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import apsw

from jan_magics.domain.errors import JanError, RetrievalError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Fingerprint, Index
from jan_magics.rag import generations, near, rows, vectors, where_sql
from jan_magics.rag.collection_documents import CollectionDocuments
from jan_magics.rag.rows import Entry, Hash
from jan_magics.rag.snapshot import Snapshot
from jan_magics.rag.statements import batches
from jan_magics.rag.vectors import Matrix
from jan_magics.storage.codec import to_milliseconds

IN_MEMORY: Final = 1 << 30
"""Bytes of vectors above which `index = auto` leaves them on the disk."""


class SqliteCollection(CollectionDocuments):
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
        super().__init__(path, clock, read_only=read_only, functions=self._equip)
        self._held: tuple[tuple[int, int], Matrix] | None = None

    @property
    def fingerprint(self) -> Fingerprint | None:
        """Return what its vectors are made by, None where it has none."""
        with self.file.reading() as connection:
            held = generations.active(connection)
        return None if held is None else held[1]

    def switch(
        self, embedder: Embedder, progress: Callable[[int, int], None] = lambda _done, _all: None
    ) -> None:
        """Let an embedder's vectors answer, made first where they are not there. See generations.

        Raises:
            EmbedderError: when the embedder fails.
        """
        generations.switch(self.file, embedder, progress)

    def cached(self, hashes: Iterable[Hash]) -> dict[Hash, bytes | None]:
        """Return the vectors that are there of texts; None is a text that has no usable one."""
        found: dict[Hash, bytes | None] = {}
        with self.file.reading() as connection:
            held = generations.active(connection)
            if held is None:
                return found
            for some in batches(hashes):
                found |= rows.vectors_of(connection, held[0], some)
        return found

    def put(self, entries: Sequence[Entry], fingerprint: Fingerprint | None) -> None:
        """Write documents in one transaction, each in the place of the one with its source.

        `fingerprint` is of the embedder that made their vectors.

        Raises:
            RetrievalError: when another process has given the collection another embedder.
        """
        with self.file.writing() as connection:
            held = generations.active(connection)
            if (None if held is None else held[1]) != fingerprint:
                raise RetrievalError(
                    f"another process has changed the embedder of {self.file.path}",
                    "Add again; the documents that are there already cost nothing",
                )
            now = to_milliseconds(self._clock())
            rows.put(connection, entries, now, None if held is None else held[0])

    @contextmanager
    def snapshot(self, index: Index = "auto") -> Iterator[Snapshot]:
        """Give one state of the collection for as long as a search takes.

        `index` is who finds neighbours: `numpy` holds all vectors in memory, `vec0` asks
        sqlite-vec on the disk, `auto` takes memory unless there are too many. Where vec0 cannot be
        used, numpy answers the same, and the snapshot's `note` says why.
        """
        with self.file.reading() as connection:
            made = self._snapshot(connection, index)
            if made is not None:
                yield made
                return
        note = self._prepare_disk()
        with self.file.reading() as connection:
            made = self._snapshot(connection, index) if note is None else None
            yield made or self._snapshot(connection, "numpy", note) or Snapshot(connection)

    def vacuum(self) -> None:
        """Give the room of what was forgotten back, and leave nothing of it in the file."""
        with self.file.writing() as connection:
            # Words of forgotten chunks are only marked as such until they are merged.
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        with self.file.alone() as connection:
            connection.execute("VACUUM")
            with suppress(apsw.BusyError):  # somebody reads, so the log is emptied later
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close all connections; a later call opens them again."""
        if not self.read_only and self.file.path.exists():
            # What cannot be moved into the file stays in the log; a damaged file stays as it is.
            with suppress(JanError, apsw.BusyError), self.file.alone() as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.file.close()
        self._held = None

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
            return Snapshot(connection)
        large = index == "auto" and generations.size(connection, held[1]) > self._in_memory
        if index != "vec0" and not large:
            return Snapshot(connection, held, self._matrix(connection, *held), note)
        return Snapshot(connection, held) if near.usable(connection, held[0]) else None

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

    def _matrix(
        self, connection: apsw.Connection, generation: int, fingerprint: Fingerprint
    ) -> Matrix:
        """Return the vectors of this state, from memory unless the file has changed."""
        key = generation, int(rows.about(connection, "changes"))
        if self._held is None or self._held[0] != key:
            self._held = key, vectors.load(connection, generation, fingerprint.dim)
        return self._held[1]
