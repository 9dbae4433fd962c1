"""What a search reads of a collection: one state of it, whoever writes meanwhile."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jan_magics.domain.retrieval import Chunk, Fingerprint
from jan_magics.rag import bit_codes, generations, vectors, where_notes
from jan_magics.rag.bit_codes import CodedMatrix
from jan_magics.rag.dialect import Dialect
from jan_magics.rag.statements import batches, fetched, first, marks
from jan_magics.rag.vectors import FloatVector, Matrix
from jan_magics.rag.where import Tree
from jan_magics.storage.database import Database
from jan_magics.storage.postgres_dialect import NUL

Pool = tuple[list[int], list[float]]
"""Numbers of chunks and their scores, the best first."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A chunk as a search shows it."""

    chunk: Chunk
    source: str
    text: str


class Snapshot:
    """One state of a collection, open for reading. Without a matrix, the database finds neighbours.

    `engine` is who finds neighbours. Numbers of chunks hold inside one snapshot only.
    """

    def __init__(
        self,
        connection: Database,
        dialect: Dialect,
        generation: tuple[int, Fingerprint] | None = None,
        matrix: Matrix | None = None,
        note: str | None = None,
        *,
        engine: str = "numpy",
    ) -> None:
        self._connection = connection
        self._dialect = dialect
        self._generation = generation
        self._matrix = matrix
        self.note = note
        self.engine = engine

    @property
    def fingerprint(self) -> Fingerprint | None:
        """Return what the vectors were made by; None where there are none."""
        return None if self._generation is None else self._generation[1]

    @property
    def by(self) -> str:
        """Return the name of the score by words."""
        return self._dialect.words

    @property
    def words_alone(self) -> bool:
        """Tell whether it was said that there are to be no vectors."""
        return generations.is_forgotten(self._connection)

    def by_words(self, question: str, k: int, where: Tree | None = None) -> Pool:
        """Return the k best by words of those that a filter lets pass."""
        numbers, scores, _ = self.words(question, k, where)
        return numbers, scores

    def words(
        self, question: str, k: int, where: Tree | None = None, besides: Sequence[int] = ()
    ) -> tuple[list[int], list[float], dict[int, float]]:
        """Return the k best by words, and the score of other chunks that have one of them."""
        passing = None if where is None else self._dialect.where(where)
        return self._dialect.ranked(self._connection, question, k, passing, besides)

    def by_vector(self, query: FloatVector, k: int, where: Tree | None = None) -> Pool:
        """Return the k best by cosine of those that a filter lets pass; no vectors, no hits."""
        if self._generation is None or k <= 0:
            return [], []
        if self._matrix is None:
            return self._in_database(query, k, where)
        allowed = None if where is None else vectors.numbers_in(self.passing(where))
        if isinstance(self._matrix, CodedMatrix):
            return bit_codes.top(self._matrix, query, k, allowed)
        return vectors.top(self._matrix, query, k, allowed)

    def cosines(self, query: FloatVector, numbers: Sequence[int]) -> dict[int, float]:
        """Return the exact cosines of chunks; without those that have no usable vector."""
        if self._generation is None or not numbers:
            return {}
        return vectors.cosines(self._matrix or self._part(numbers), query, numbers)

    def percentiles(self, query: FloatVector, cosines: Sequence[float]) -> list[float] | None:
        """Return the share of chunks that are less near than each cosine; None where unmeasured.

        Where the database finds neighbours, no vectors are at hand to compare with.
        """
        if self._matrix is None or not cosines:
            return None
        return vectors.percentiles(self._matrix, query, cosines)

    def rows(self, numbers: Sequence[int]) -> dict[int, FloatVector]:
        """Return the unit vectors of chunks, by number; without those that have none."""
        part = self._part(numbers)
        return dict(zip(part.numbers.tolist(), part.rows, strict=True))

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of chunks by number."""
        found: dict[int, str] = {}
        for some in batches(numbers):
            rows = fetched(
                self._connection, f"SELECT n, id FROM chunk WHERE n IN ({marks(some)})", some
            )
            found |= dict(rows)
        return found

    def passing(self, where: Tree) -> list[int]:
        """Return the numbers of all chunks that a filter lets pass, ascending."""
        query, values = self._dialect.where(where)
        return [n for (n,) in fetched(self._connection, f"{query} ORDER BY chunk.n", values)]

    def notes_on(self, where: Tree) -> tuple[str, ...]:
        """Return what the user of a filter must be told. See where_notes."""
        return where_notes.notes_on(self._connection, self._dialect.fields, where)

    def number(self, chunk_id: str) -> int | None:
        """Return the number of a chunk, None where there is no such chunk."""
        row = first(self._connection, "SELECT n FROM chunk WHERE id = ?", (chunk_id,))
        return None if row is None else row[0]

    def is_empty(self) -> bool:
        """Tell whether there is no chunk; counting many would take longer than finding one."""
        return first(self._connection, "SELECT 1 FROM chunk LIMIT 1") is None

    def count(self) -> int:
        """Return how many chunks there are."""
        return int(first(self._connection, "SELECT count(*) FROM chunk")[0])

    def numbers(self, most: int) -> list[int]:
        """Return the numbers of at most so many chunks, the same as long as nothing changes."""
        # An id is a hash, so that these are of all documents alike.
        rows = fetched(self._connection, "SELECT n FROM chunk ORDER BY id LIMIT ?", (most,))
        return [n for (n,) in rows]

    def sample(self, most: int) -> list[str]:
        """Return the texts of some chunks, the same ones as long as nothing changes."""
        # The order of their hashes has nothing to do with what they say.
        sql = "SELECT text FROM passage ORDER BY hash LIMIT ?"
        return [text for (text,) in fetched(self._connection, sql, (most,))]

    def stored(self, numbers: Sequence[int]) -> list[Stored]:
        """Return chunks by number, in that order."""
        return _read(self._connection, numbers)

    def _in_database(self, query: FloatVector, k: int, where: Tree | None) -> Pool:
        number = self._generation[0] if self._generation else 0
        passing = None if where is None else self._dialect.where(where)
        found = self._dialect.nearest(self._connection, number, query.tobytes(), k, passing)
        part = self._part(found)
        return vectors.ordered(part.numbers, part.ids, vectors.exact(part.rows, query), k)

    def _part(self, numbers: Sequence[int]) -> Matrix:
        """Read the vectors of a few chunks."""
        if self._generation is None:
            return vectors.matrix([], 0)
        number, fingerprint = self._generation
        rows: list[Any] = []
        for some in batches(sorted(set(numbers))):
            rows += self._dialect.read(
                self._connection, number, f"chunk.n IN ({marks(some)})", some
            )
        return vectors.matrix(rows, fingerprint.dim)


def _read(connection: Database, numbers: Sequence[int]) -> list[Stored]:
    found: dict[int, Stored] = {}
    for some in batches(numbers):
        rows = fetched(
            connection,
            "SELECT chunk.n, chunk.id, document.id, place, first, last, chunk.tokens, headings,"
            " page, chunk.warning, source, passage.text FROM chunk"
            " JOIN document ON document.n = chunk.document"
            f" JOIN passage ON passage.n = chunk.passage WHERE chunk.n IN ({marks(some)})",
            some,
        )
        found |= {row[0]: _stored(row) for row in rows}
    return [_whole(connection, found[n]) for n in numbers]


def _whole(connection: Database, stored: Stored) -> Stored:
    """Return a chunk with its text as it was read, where its database cannot hold that as text."""
    if NUL not in stored.text:
        return stored
    query = "SELECT text FROM document WHERE id = ?"
    text = zlib.decompress(first(connection, query, (stored.chunk.document_id,))[0]).decode()
    return replace(stored, text=text[stored.chunk.start : stored.chunk.end])


def _stored(row: Sequence[Any]) -> Stored:
    headings = tuple(json.loads(row[7])) if row[7] != "[]" else ()
    _, identity, document, place, start, end, tokens, _, page, warning, source, text = row
    chunk = Chunk(identity, document, place, start, end, tokens, headings, page, warning)
    return Stored(chunk, source, text)
