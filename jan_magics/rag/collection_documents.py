"""The documents of a collection: what is there, as it was read; and how one is forgotten."""

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import apsw

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.retrieval import Document, DocumentRow, Recipe
from jan_magics.rag import rows
from jan_magics.rag.collection_file import CollectionFile
from jan_magics.rag.statements import fetched, first
from jan_magics.storage.codec import from_milliseconds

_ROW: Final = "source, reason, chunks, tokens, recipe, indexed_at"


@dataclass(frozen=True, slots=True)
class Known:
    """How a document stands in a collection."""

    row: DocumentRow
    content: str
    cut: str
    metadata: str

    def same(self, document: Document, recipe: Recipe, limit: int | None) -> bool:
        """Tell whether writing a document anew would change nothing."""
        return (self.content, self.cut, self.metadata) == (
            document.content,
            rows.cut_to_json(recipe, limit),
            rows.metadata_to_json(document),
        )


class CollectionDocuments:
    """The documents in a file; the constructor touches nothing."""

    def __init__(
        self,
        path: Path,
        clock: Callable[[], datetime],
        *,
        read_only: bool = False,
        functions: Callable[[apsw.Connection], None] = lambda _: None,
    ) -> None:
        self._clock = clock
        self.file = CollectionFile(path, read_only=read_only, functions=functions)

    @property
    def read_only(self) -> bool:
        """Tell whether the file is only read."""
        return self.file.read_only

    def now(self) -> datetime:
        """Return the time by the collection's clock."""
        return self._clock()

    def about(self, key: str) -> Any:
        """Return what the collection says of itself: `name`, `owner`; None where it does not."""
        with self.file.reading() as connection:
            return rows.about(connection, key)

    def say(self, key: str, value: str | None) -> None:
        """Let the collection say something of itself."""
        with self.file.writing() as connection:
            rows.say(connection, key, value)

    def documents(self) -> Sequence[DocumentRow]:
        """List the documents by source."""
        with self.file.reading() as connection:
            found = fetched(connection, f"SELECT {_ROW} FROM document ORDER BY source")
        return [_document_row(row) for row in found]

    def known(self, source: str) -> Known | None:
        """Return how a document stands, None where there is none of this source."""
        with self.file.reading() as connection:
            row = first(
                connection,
                f"SELECT {_ROW}, content, cut, metadata FROM document WHERE source = ?",
                (source,),
            )
        return None if row is None else Known(_document_row(row), *row[6:])

    def document(self, source: str) -> Document:
        """Return a whole document. Raises RetrievalError."""
        with self.file.reading() as connection:
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

    def remove(self, source: str) -> None:
        """Forget a document: its text, chunks, words and vectors. Raises RetrievalError."""
        with self.file.writing() as connection:
            if not rows.remove(connection, source):
                raise _no_document(source)


def _document_row(row: Sequence[Any]) -> DocumentRow:
    source, reason, chunks, tokens, recipe, indexed_at = row[:6]
    return DocumentRow(
        source, "indexed", reason, chunks, tokens, recipe, from_milliseconds(indexed_at)
    )


def _no_document(source: str) -> RetrievalError:
    return RetrievalError(f"no document {source!r}", "List them with: %rag documents")
