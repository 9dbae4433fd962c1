"""The documents of a collection: what is there, as it was read; and how one is forgotten."""

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.retrieval import Document, DocumentRow, Recipe
from jan_magics.rag import generations, rows
from jan_magics.rag.dialect import Dialect
from jan_magics.rag.statements import fetched, first, marks
from jan_magics.storage.codec import from_milliseconds
from jan_magics.storage.database import Transactions

_RECIPE: Final = "recipe"
_ROW: Final = "source, reason, chunks, tokens, recipe, indexed_at"


@dataclass(frozen=True, slots=True)
class Known:
    """How a document stands in a collection."""

    row: DocumentRow
    content: str
    cut: str
    metadata: str

    @property
    def recipe(self) -> Recipe:
        """Return the recipe that it was cut by, as the rules are now."""
        return rows.cut_from_json(self.cut)

    def same(self, document: Document, recipe: Recipe, limit: int | None) -> bool:
        """Tell whether writing a document anew would change nothing."""
        return (self.content, self.cut, self.metadata) == (
            document.content,
            rows.cut_to_json(recipe, limit),
            rows.metadata_to_json(document),
        )


class CollectionDocuments:
    """The documents in a database; the constructor touches nothing."""

    def __init__(
        self, database: Transactions, dialect: Dialect, clock: Callable[[], datetime]
    ) -> None:
        self.database = database
        self.dialect = dialect
        self._clock = clock

    def now(self) -> datetime:
        """Return the time by the collection's clock."""
        return self._clock()

    def about(self, key: str) -> Any:
        """Return what the collection says of itself: `name`, `owner`; None where it does not."""
        with self.database.reading() as connection:
            return rows.about(connection, key)

    def say(self, key: str, value: str | None) -> None:
        """Let the collection say something of itself."""
        with self.database.writing() as connection:
            rows.say(connection, key, value)

    @property
    def words_alone(self) -> bool:
        """Tell whether it was said that it is to have no vectors."""
        with self.database.reading() as connection:
            return generations.is_forgotten(connection)

    @property
    def recipe(self) -> Recipe | None:
        """Return how new documents are cut: as was last said, else as the newest one was."""
        with self.database.reading() as connection:
            said = rows.about(connection, _RECIPE)
            newest = first(
                connection, "SELECT cut FROM document ORDER BY indexed_at DESC, n DESC LIMIT 1"
            )
        found = said or (newest and newest[0])
        return rows.cut_from_json(found) if found else None

    def cut_by(self, recipe: Recipe) -> None:
        """Let new documents be cut by a recipe. Nothing is written where they are already."""
        said = rows.cut_to_json(recipe, None)
        if self.about(_RECIPE) != said:
            self.say(_RECIPE, said)

    def documents(self) -> Sequence[DocumentRow]:
        """List the documents by source."""
        with self.database.reading() as connection:
            found = fetched(connection, f"SELECT {_ROW} FROM document ORDER BY source")
        return [_document_row(row) for row in found]

    def sources(self, *, of_files: bool = False) -> Sequence[str]:
        """List the sources, or only those that are no rows of a table."""
        rest = " WHERE kind <> 'row'" if of_files else ""
        return self._column(f"SELECT source FROM document{rest} ORDER BY source")

    def cut_for_others(self, limit: int | None) -> Sequence[str]:
        """List the documents that are cut for an embedder which reads more or fewer tokens."""
        cuts = self._column("SELECT DISTINCT cut FROM document")
        others = [cut for cut in cuts if json.loads(cut)["limit"] != limit]
        return (
            self._column(
                f"SELECT source FROM document WHERE cut IN ({marks(others)}) ORDER BY source",
                *others,
            )
            if others
            else []
        )

    def chunk_ids(self, source: str) -> Sequence[str]:
        """List the ids of a document's chunks, in their order."""
        return self._column(
            "SELECT chunk.id FROM chunk JOIN document ON document.n = chunk.document"
            " WHERE source = ? ORDER BY place",
            source,
        )

    def _column(self, query: str, *values: Any) -> list[str]:
        with self.database.reading() as connection:
            return [text for (text,) in fetched(connection, query, values)]

    def known(self, source: str) -> Known | None:
        """Return how a document stands, None where there is none of this source."""
        with self.database.reading() as connection:
            row = first(
                connection,
                f"SELECT {_ROW}, content, cut, metadata FROM document WHERE source = ?",
                (source,),
            )
        return None if row is None else Known(_document_row(row), *row[6:])

    def document(self, source: str) -> Document:
        """Return a whole document. Raises RetrievalError."""
        with self.database.reading() as connection:
            row = first(
                connection,
                "SELECT text, kind, pages, metadata, warning FROM document WHERE source = ?",
                (source,),
            )
        if row is None:
            raise _no_document(source)
        text = zlib.decompress(row[0]).decode()
        pages = tuple(json.loads(row[2]))
        return Document(source, text, row[1], pages, json.loads(row[3]), row[4])

    def remove(self, *sources: str) -> None:
        """Forget documents: their texts, chunks, words and vectors; all of them, or none.

        Raises:
            RetrievalError: when one of them is not there.
        """
        with self.database.writing() as connection:
            for source in sources:
                if not rows.remove(connection, self.dialect, source):
                    raise _no_document(source)


def _document_row(row: Sequence[Any]) -> DocumentRow:
    source, reason, chunks, tokens, recipe, indexed_at = row[:6]
    return DocumentRow(
        source, "indexed", reason, chunks, tokens, recipe, from_milliseconds(indexed_at)
    )


def _no_document(source: str) -> RetrievalError:
    return RetrievalError(f"no document {source!r}", "List them with: %rag documents")
