"""A collection whose documents, chunks and passages are rows, whichever database has them.

A document is there wholly, in its old or in its new form, whenever the program ends. Several
kernels may use one collection at the same time. What it answers with is read through `snapshot`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Fingerprint, Index
from jan_magics.rag import generations, rows, vectors
from jan_magics.rag.bit_codes import CodedMatrix, coded
from jan_magics.rag.collection_documents import CollectionDocuments
from jan_magics.rag.dialect import Hash
from jan_magics.rag.rows import Entry
from jan_magics.rag.snapshot import Snapshot, Stored
from jan_magics.rag.soundness import Checked
from jan_magics.rag.statements import batches, fetched
from jan_magics.rag.vectors import Matrix
from jan_magics.storage.codec import to_milliseconds
from jan_magics.storage.database import Database


class RowCollection(CollectionDocuments):
    """Documents and what is found of them. A database says how it gives a snapshot."""

    of_many: bool = False
    """Whether its documents may be files of other machines."""
    _held: tuple[tuple[int, int], Matrix] | None = None
    _coded: CodedMatrix | None = None

    @property
    @abstractmethod
    def place(self) -> str:
        """Return where it is, as it may be shown."""

    @property
    @abstractmethod
    def read_only(self) -> bool:
        """Tell whether it is only read."""

    @abstractmethod
    def snapshot(self, index: Index = "auto") -> AbstractContextManager[Snapshot]:
        """Give one state of the collection for as long as a search takes.

        `index` is who finds neighbours: `numpy` holds all vectors in memory, `bits` their signs
        too, which is quicker and finds nearly all; the others ask the database. One that cannot be
        used here is not, and the snapshot's `note` says why.
        """

    def size(self) -> int | None:
        """Return the bytes that it takes on a server, None where it is a file."""
        return None

    @abstractmethod
    def vacuum(self) -> None:
        """Give the room of what was forgotten back."""

    @abstractmethod
    def checked(self) -> Checked:
        """Look whether the database is sound; nothing is changed."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections; a later call opens them again."""

    @property
    def fingerprint(self) -> Fingerprint | None:
        """Return what its vectors are made by, None where it has none."""
        with self.database.reading() as connection:
            held = generations.active(connection)
        return None if held is None else held[1]

    def switch(
        self, embedder: Embedder, progress: Callable[[int, int], None] = lambda _done, _all: None
    ) -> None:
        """Let an embedder's vectors answer, made first where they are not there. See generations.

        Raises:
            EmbedderError: when the embedder fails.
        """
        generations.switch(self.database, self.dialect, embedder, progress)

    def take(self, fingerprint: Fingerprint) -> None:
        """Let vectors of an embedder answer that are about to be written; it is empty yet."""
        n = generations.begun(self.database, self.dialect, fingerprint)
        generations.taken_over(self.database, self.dialect, n)

    def forget(self) -> None:
        """Forget all vectors, and remember that none are wanted."""
        generations.forget(self.database, self.dialect)

    def cached(self, hashes: Iterable[Hash]) -> dict[Hash, bytes | None]:
        """Return the vectors that are there of texts; None is a text that has no usable one."""
        found: dict[Hash, bytes | None] = {}
        with self.database.reading() as connection:
            held = generations.active(connection)
            if held is None:
                return found
            for some in batches(hashes):
                found |= self.dialect.vectors_of(connection, held[0], some)
        return found

    def put(self, entries: Sequence[Entry], fingerprint: Fingerprint | None) -> None:
        """Write documents in one transaction, each in the place of the one with its source.

        `fingerprint` is of the embedder that made their vectors.

        Raises:
            RetrievalError: when another process has given the collection another embedder.
        """
        with self.database.writing() as connection:
            held = generations.active(connection)
            if (None if held is None else held[1]) != fingerprint:
                raise RetrievalError(
                    f"another process has changed the embedder of {self.place}",
                    "Add again; the documents that are there already cost nothing",
                )
            now = to_milliseconds(self._clock())
            generation = None if held is None else held[0]
            rows.put(connection, self.dialect, entries, now, generation)

    def chunks(self, source: str, begin: int, end: int) -> list[Stored]:
        """Return the chunks of a document by their order, both ends included."""
        with self.database.reading() as connection:
            numbers = fetched(
                connection,
                "SELECT chunk.n FROM chunk JOIN document ON document.n = chunk.document"
                " WHERE source = ? AND place BETWEEN ? AND ? ORDER BY place",
                (source, begin, end),
            )
            return Snapshot(connection, self.dialect).stored([n for (n,) in numbers])

    def _measured_here(
        self, connection: Database, held: tuple[int, Fingerprint], index: Index, note: str | None
    ) -> Snapshot:
        """Return what this state answers with where its vectors are in memory."""
        matrix = self._matrix(connection, *held)
        if index != "bits":
            return Snapshot(connection, self.dialect, held, matrix, note)
        if self._coded is None or self._coded.rows is not matrix.rows:
            self._coded = coded(matrix)
        return Snapshot(connection, self.dialect, held, self._coded, note, engine="bits")

    def _matrix(self, connection: Database, generation: int, fingerprint: Fingerprint) -> Matrix:
        """Return the vectors of this state, from memory unless something has changed."""
        key = generation, int(rows.about(connection, "changes"))
        if self._held is None or self._held[0] != key:
            found = self.dialect.read(connection, generation, "true", ())
            self._held = key, vectors.matrix(found, fingerprint.dim)
        return self._held[1]
