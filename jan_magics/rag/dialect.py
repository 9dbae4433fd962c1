"""What collections do differently in one kind of database than in another: the narrow seam.

Statements over documents, chunks and passages are written once (rows.py, generations.py,
snapshot.py). Words, vectors and the fields of a filter are each database's own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from jan_magics.rag.where import Tree
from jan_magics.storage.database import Database

Hash: TypeAlias = bytes
"""The first 16 bytes of the SHA-256 of a text."""
Where: TypeAlias = tuple[str, Sequence[Any]]
"""A query for the numbers of the chunks that may be found, with its values."""
Ranked: TypeAlias = tuple[list[int], list[float], dict[int, float]]
"""Numbers and scores of the best, the best first; and the scores of others that were asked for."""


@dataclass(frozen=True, slots=True)
class Sound:
    """What a check of a database counts: tables of words and of their numbers, and lengths."""

    words: str
    number: str
    wrong_length: str


class Dialect(Protocol):
    """One kind of database. Every method is given a connection inside a transaction."""

    @property
    def words(self) -> str:
        """Return the name of the score by words."""
        ...

    @property
    def fields(self) -> str:
        """Return what stands after FROM for the fields of a document: `key` and `value`."""
        ...

    @property
    def sound(self) -> Sound:
        """Return what a check counts."""
        ...

    def where(self, tree: Tree) -> Where:
        """Return a filter as a query. Raises WhereError."""
        ...

    def ranked(
        self,
        connection: Database,
        question: str,
        k: int,
        where: Where | None = None,
        besides: Sequence[int] = (),
    ) -> Ranked:
        """Return the k best by words, ties by id, and the scores of chunks of `besides`."""
        ...

    def nearest(
        self,
        connection: Database,
        generation: int,
        query: bytes,
        k: int,
        where: Where | None = None,
    ) -> list[int]:
        """Return the numbers of the k nearest chunks and of all that may be as near, unordered."""
        ...

    def put_words(self, connection: Database, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Write the words of chunks."""
        ...

    def drop_words(self, connection: Database, chunks: Sequence[int]) -> None:
        """Forget the words of chunks."""
        ...

    def make_vectors(self, connection: Database, generation: int, dim: int) -> None:
        """Make the empty table of a generation."""
        ...

    def drop_vectors(self, connection: Database, generation: int) -> None:
        """Drop the table of a generation, and what was copied of it."""
        ...

    def put_vectors(
        self, connection: Database, generation: int, vectors: Mapping[Hash, bytes | None]
    ) -> None:
        """Write the vectors of texts that are there; of the others nothing is kept."""
        ...

    def vectors_of(
        self, connection: Database, generation: int, hashes: Sequence[Hash]
    ) -> dict[Hash, bytes | None]:
        """Return the vectors that are there of texts, as many as one statement binds."""
        ...

    def read(
        self, connection: Database, generation: int, condition: str, values: Sequence[Any]
    ) -> list[Any]:
        """Return number, id and vector of the chunks for which a condition of SQL holds."""
        ...

    def copies(self, connection: Database) -> list[int]:
        """Return the generations of which there is a copy that is to be kept in step."""
        ...

    def copy_forgets(
        self, connection: Database, copies: Sequence[int], chunks: Sequence[int]
    ) -> None:
        """Take chunks out of the copies."""
        ...

    def copy_takes(self, connection: Database, generation: int, chunks: range) -> None:
        """Take new chunks into the copy of a generation."""
        ...

    def copy_is_kept(self, connection: Database, copies: Sequence[int]) -> None:
        """Say that the copies hold all that there is at this moment."""
        ...
