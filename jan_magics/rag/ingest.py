"""Documents into a collection: cut, embed, write; a row for each of them.

What is there unchanged costs nothing; of what has changed, only new texts are embedded. Small
documents share a batch of the embedder and a transaction; each is wholly in, or not at all.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import EmbedderError, RetrievalError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Chunk, Document, DocumentRow, Recipe
from jan_magics.rag import gate
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.fitting import fitted
from jan_magics.rag.rows import Entry, Hash, hash_of

Cut: TypeAlias = Callable[[Document, Recipe], Sequence[Chunk]]
Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is done, how many of it, and of how many in all where that is known."""

LARGEST_BATCH: Final = 2048
"""Chunks that are written together at most, more or less."""
_SLICE: Final = 64
"""Texts that are embedded between two calls of `progress`."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A document that is about to be written."""

    row: DocumentRow
    document: Document
    chunks: Sequence[Chunk]

    @property
    def texts(self) -> list[str]:
        text = self.document.text
        return [text[chunk.start : chunk.end] for chunk in self.chunks]


def add(
    collection: SqliteCollection,
    documents: Iterable[Document | DocumentRow],
    recipe: Recipe,
    cut: Cut,
    embedder: Embedder | None,
    progress: Progress = lambda _what, _done, _all: None,
) -> Iterator[DocumentRow]:
    """Write documents, and yield what became of each, in their order, once it is written.

    A row instead of a document, as of a file that cannot be read, goes through. The embedder
    becomes the collection's if it is another one than before. Whoever stops the iteration, or
    raises in `progress`, stops between documents.

    Raises:
        EmbedderError: when the embedder fails, or the collection has one and none was given; all
            that was yielded is written.
    """
    _settle(collection, embedder, progress)
    pace = _Pace()
    batch: list[_Waiting | DocumentRow] = []
    for done, document in enumerate(documents, 1):
        if any(_source(each) == document.source for each in batch):
            # A newer form of the same document waits for the older one.
            yield from _written(collection, batch, recipe, embedder, progress)
            batch = []
        batch.append(
            document
            if isinstance(document, DocumentRow)
            else _prepared(collection, document, recipe, cut, embedder)
        )
        progress("documents", done, None)
        chunks = [len(each.chunks) for each in batch if isinstance(each, _Waiting)]
        if not chunks or sum(chunks) >= pace.size:
            with pace.measured(sum(chunks)):
                rows = _written(collection, batch, recipe, embedder, progress)
            yield from rows
            batch = []
    yield from _written(collection, batch, recipe, embedder, progress)


class _Pace:
    """How many chunks are written together: about as many as take two seconds."""

    def __init__(self) -> None:
        self.size = 64

    @contextmanager
    def measured(self, chunks: int) -> Iterator[None]:
        """Learn from how long a batch takes."""
        begun = time.monotonic()
        yield
        seconds = max(time.monotonic() - begun, 1e-6)
        self.size = max(16, min(LARGEST_BATCH, int(2 * chunks / seconds), 4 * self.size))


def _settle(collection: SqliteCollection, embedder: Embedder | None, progress: Progress) -> None:
    if embedder is not None:
        collection.switch(embedder, lambda done, total: progress("re-embedded", done, total))
    elif (held := collection.fingerprint) is not None:
        raise EmbedderError(
            f"the collection has vectors of the embedder {held.id!r}, which is not at hand",
            "Install it, or give the collection another one: --embedder NAME",
        )


def _source(item: _Waiting | DocumentRow) -> str:
    return item.source if isinstance(item, DocumentRow) else item.document.source


def _prepared(
    collection: SqliteCollection,
    document: Document,
    recipe: Recipe,
    cut: Cut,
    embedder: Embedder | None,
) -> _Waiting | DocumentRow:
    """Cut a document that is new or has changed; say what it is otherwise."""
    document = _clean(document)
    known = collection.known(document.source)
    limit = None if embedder is None else embedder.fingerprint.max_tokens
    if known is not None and known.same(document, recipe, limit):
        return replace(known.row, status="unchanged")
    try:
        chunks = fitted(document, recipe, cut(document, recipe), embedder, limit)
    except RetrievalError as error:
        return DocumentRow(document.source, "failed", error.message)
    if not chunks and known is None:
        return DocumentRow(document.source, "skipped", "there is no text in it")
    row = DocumentRow(
        document.source,
        "added" if known is None else "replaced",
        _reason(document, chunks, embedder),
        len(chunks),
        sum(chunk.tokens for chunk in chunks),
        str(recipe),
    )
    return _Waiting(row, document, chunks)


def _clean(document: Document) -> Document:
    """Replace what no file can hold: halves of characters. Places in the text stay."""
    text, broken = _SURROGATES.subn("\ufffd", document.text)
    source = _SURROGATES.sub("\ufffd", document.source)
    if not broken and source == document.source:
        return document
    warning = f"replaced {counted(broken, 'broken character')}" if broken else None
    warnings = [each for each in (document.warning, warning) if each]
    return replace(document, source=source, text=text, warning="; ".join(warnings) or None)


def _reason(document: Document, chunks: Sequence[Chunk], embedder: Embedder | None) -> str | None:
    parts = [document.warning] if document.warning else []
    if embedder is not None:
        text = document.text
        foreign = sum(not embedder.reads(text[chunk.start : chunk.end]) for chunk in chunks)
        if foreign:
            name = embedder.fingerprint.id
            share = f"{foreign} of {counted(len(chunks), 'chunk')}"
            parts.append(f"{name} cannot read the script of {share}")
    odd = Counter(chunk.warning for chunk in chunks if chunk.warning)
    parts += [f"{counted(number, 'chunk')}: {warning}" for warning, number in odd.items()]
    return "; ".join(parts) or None


def _written(
    collection: SqliteCollection,
    batch: Sequence[_Waiting | DocumentRow],
    recipe: Recipe,
    embedder: Embedder | None,
    progress: Progress,
) -> list[DocumentRow]:
    """Embed and write what waits; return the rows of the batch."""
    waiting = [item for item in batch if isinstance(item, _Waiting)]
    hashes = [[hash_of(text) for text in item.texts] for item in waiting]
    vectors: dict[Hash, bytes | None] = {}
    if embedder is not None:
        texts = {
            key: text
            for item, keys in zip(waiting, hashes, strict=True)
            for key, text in zip(keys, item.texts, strict=True)
        }
        vectors = _vectors(collection, texts, embedder, progress)
    limit = None if embedder is None else embedder.fingerprint.max_tokens
    entries: list[Entry] = []
    for item, keys in zip(waiting, hashes, strict=True):
        own = {key: vectors[key] for key in keys if key in vectors}
        refused = sum(data is None for data in own.values())
        why = f"no vector for {counted(refused, 'chunk')}: zeros, NaN or infinities came back"
        reason = "; ".join(filter(None, (item.row.reason, why if refused else None))) or None
        entries.append(Entry(item.document, recipe, item.chunks, own, reason, limit))
    if entries:
        collection.put(entries, None if embedder is None else embedder.fingerprint)
    reasons = {entry.document.source: entry.reason for entry in entries}
    at = collection.now()
    return [
        each
        if isinstance(each, DocumentRow)
        else replace(each.row, reason=reasons[each.row.source], indexed_at=at)
        for each in batch
    ]


def _vectors(
    collection: SqliteCollection,
    texts: Mapping[Hash, str],
    embedder: Embedder,
    progress: Progress,
) -> dict[Hash, bytes | None]:
    """Return the vectors of texts; only those that the collection does not have are embedded."""
    vectors = collection.cached(texts)
    new = [text for key, text in texts.items() if key not in vectors]
    for at in range(0, len(new), _SLICE):
        if at:
            progress("chunks", at, len(new))
        vectors |= gate.embedded(embedder, new[at : at + _SLICE])
    return vectors
