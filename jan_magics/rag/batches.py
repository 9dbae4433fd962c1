"""Documents are written in batches: what waits is embedded together, and goes in at once.

A batch takes about two seconds, so that a slow embedder is not waited for in vain when somebody
stops it. Each document is wholly in, or not at all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from jan_magics.domain.counting import counted
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Chunk, Document, DocumentRow, Recipe
from jan_magics.rag import gate
from jan_magics.rag.dialect import Hash
from jan_magics.rag.pace import LARGEST_BATCH, LARGEST_SLICE, SMALLEST, Pace
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.rows import Entry, hash_of

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is done, how many of it, and of how many in all where that is known."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A document that is about to be written; `said` is told of this run, and not kept."""

    row: DocumentRow
    document: Document
    recipe: Recipe
    chunks: Sequence[Chunk]
    said: str | None = None

    @property
    def texts(self) -> list[str]:
        """Return the texts of its chunks."""
        text = self.document.text
        return [text[chunk.start : chunk.end] for chunk in self.chunks]


Prepare: TypeAlias = Callable[[Document], Waiting | DocumentRow]
"""Cuts a document, or says why it is not to be written."""


@dataclass(frozen=True, slots=True)
class Batches:
    """Writes documents into a collection; `embedder` is its own, None: it has no vectors."""

    collection: RowCollection
    embedder: Embedder | None
    progress: Progress

    def written(
        self, documents: Iterable[Document | DocumentRow], prepare: Prepare, what: str
    ) -> Iterator[DocumentRow]:
        """Yield what became of each document, in their order, once it is written.

        `what` is what they are called while it goes on.
        """
        pace = Pace(2, 64, LARGEST_BATCH)
        batch: list[Waiting | DocumentRow] = []
        for done, document in enumerate(documents, 1):
            if any(_source(each) == document.source for each in batch):
                # A newer form of the same document waits for the older one.
                yield from self._write(batch)
                batch = []
            batch.append(document if isinstance(document, DocumentRow) else prepare(document))
            self.progress(what, done, None)
            chunks = sum(len(each.chunks) for each in batch if isinstance(each, Waiting))
            if chunks >= pace.size or not any(isinstance(each, Waiting) for each in batch):
                with pace.measured(chunks):
                    rows = self._write(batch)
                yield from rows
                batch = []
        yield from self._write(batch)

    def _write(self, batch: Sequence[Waiting | DocumentRow]) -> list[DocumentRow]:
        """Embed and write what waits; return the rows of the batch."""
        waiting = [item for item in batch if isinstance(item, Waiting)]
        hashes = [[hash_of(text) for text in item.texts] for item in waiting]
        vectors: dict[Hash, bytes | None] = {}
        if self.embedder is not None:
            texts = {
                key: text
                for item, keys in zip(waiting, hashes, strict=True)
                for key, text in zip(keys, item.texts, strict=True)
            }
            vectors = self._vectors(texts, self.embedder)
        limit = None if self.embedder is None else self.embedder.fingerprint.max_tokens
        entries: list[Entry] = []
        rows: dict[str, DocumentRow] = {}
        for item, keys in zip(waiting, hashes, strict=True):
            own = {key: vectors[key] for key in keys if key in vectors}
            refused = sum(data is None for data in own.values())
            why = f"no vector for {counted(refused, 'chunk')}: zeros, NaN or infinities came back"
            reason = _joined(item.row.reason, why if refused else None)
            rows[item.row.source] = replace(item.row, reason=_joined(item.said, reason))
            entries.append(Entry(item.document, item.recipe, item.chunks, own, reason, limit))
        if entries:
            self.collection.put(entries, self.embedder.fingerprint if self.embedder else None)
        at = self.collection.now()
        return [
            each if isinstance(each, DocumentRow) else replace(rows[each.row.source], indexed_at=at)
            for each in batch
        ]

    def _vectors(self, texts: Mapping[Hash, str], embedder: Embedder) -> dict[Hash, bytes | None]:
        """Return the vectors of texts; only those that the collection lacks are embedded."""
        vectors = self.collection.cached(texts)
        new = [text for key, text in texts.items() if key not in vectors]
        pace, at = Pace(0.5, SMALLEST, LARGEST_SLICE), 0
        while at < len(new):
            some = new[at : at + pace.size]
            with pace.measured(len(some)):
                vectors |= gate.embedded(embedder, some)
            at += len(some)
            self.progress("chunks", at, len(new))
        return vectors


def _joined(*parts: str | None) -> str | None:
    return "; ".join(filter(None, parts)) or None


def _source(item: Waiting | DocumentRow) -> str:
    return item.source if isinstance(item, DocumentRow) else item.document.source
