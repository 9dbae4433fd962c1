"""What the tools of a model look into: files, their chunks in order, and a search over them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any, Protocol

from jan_magics.domain.errors import EmbedderError, SettingError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Document, Hit
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.search import search


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that can be searched; `id` is its document's, `name` its source."""

    id: str
    name: str
    chunks: int


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a query found, the best first, and how it was searched."""

    hits: tuple[Hit, ...]
    mode: str
    notes: tuple[str, ...] = ()


class Attachments(Protocol):
    """Files that a model may look into."""

    def listed(self) -> Sequence[Attached]:
        """List the files by name."""
        ...

    def retrieve(
        self, query: str, k: int, threshold: float | None, files: Sequence[Attached] | None
    ) -> Retrieved:
        """Find at most k chunks, in some files or in all. Raises RetrievalError."""
        ...

    def chunks(self, file: Attached, first: int, last: int) -> Sequence[Hit]:
        """Return the chunks of a file by order, both ends included; their score is NaN."""
        ...


@dataclass(frozen=True, slots=True)
class CollectionAttachments:
    """The documents of a collection as attached files; `embedder` is the collection's own."""

    collection: RowCollection
    embedder: Embedder | None = None

    def listed(self) -> Sequence[Attached]:
        """List the documents by source."""
        return [
            Attached(Document(row.source, "").id, row.source, row.chunks or 0)
            for row in self.collection.documents()
        ]

    def retrieve(
        self, query: str, k: int, threshold: float | None, files: Sequence[Attached] | None
    ) -> Retrieved:
        """Find at most k chunks; without an embedder by words alone, and says so.

        Raises:
            RetrievalError: when the collection is empty or its embedder fails.
        """
        where: Any = None if files is None else {"source": [file.name for file in files]}
        options = Options(k, threshold=threshold, where=where)
        try:
            (found,) = search(self.collection, [query], options, self.embedder)
            notes = found.notes
        except SettingError as error:
            if not isinstance(error.__cause__, EmbedderError):
                raise
            options = replace(options, threshold=None)
            (found,) = search(self.collection, [query], options, self.embedder)
            notes = (*found.notes, f"the threshold {threshold!r} is off: it is a cosine")
        return Retrieved(found.hits, str(found.facts["mode"]), notes)

    def chunks(self, file: Attached, first: int, last: int) -> Sequence[Hit]:
        """Return the chunks of a document by order, both ends included."""
        stored = self.collection.chunks(file.name, first, last)
        return [
            Hit(each.chunk, each.source, each.text, n, nan, "order")
            for n, each in enumerate(stored, 1)
        ]
