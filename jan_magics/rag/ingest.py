"""Documents into a collection: cut, embed, write; a row for each of them.

What is there unchanged costs nothing; of what has changed, only new texts are embedded. Another
embedder touches every document: each is then cut again to what that one reads.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import EmbedderError, RetrievalError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import (
    Chunk,
    Document,
    DocumentRow,
    Fingerprint,
    Indexed,
    Recipe,
)
from jan_magics.rag.batches import Batches, Progress, Waiting
from jan_magics.rag.collection_documents import Known
from jan_magics.rag.embedders import WordsAlone
from jan_magics.rag.fitting import fitted
from jan_magics.rag.recipes import Keeping
from jan_magics.rag.row_collection import RowCollection

Cut: TypeAlias = Callable[[Document, Recipe], Sequence[Chunk]]

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def add(
    collection: RowCollection,
    documents: Iterable[Document | DocumentRow],
    recipe: Recipe | Keeping,
    cut: Cut,
    embedder: Embedder | WordsAlone | None,
    progress: Progress = lambda _what, _done, _all: None,
) -> Iterator[DocumentRow]:
    """Write documents, and yield what became of each, in their order, once it is written.

    A row instead of a document, as of a file that cannot be read, goes through. The embedder
    becomes the collection's if it is another one than before; the documents that this changes
    besides follow at the end. Whoever stops the iteration, or raises in `progress`, stops between
    documents.

    Raises:
        EmbedderError: when the embedder fails, or the collection has one and none was given; all
            that was yielded is written.
    """
    before = collection.fingerprint
    _settle(collection, embedder, progress)
    own = None if isinstance(embedder, WordsAlone) else embedder
    cutting = _Cutting(collection, recipe, cut, own)
    writing = Batches(collection, own, progress)
    changed = collection.fingerprint != before
    touched = collection.sources() if changed else collection.cut_for_others(cutting.limit)
    how = _how(before, own) if changed else None
    rows = writing.written(
        map(collection.document, touched), partial(cutting.again, how=how), "cut again"
    )
    again = {row.source: row for row in rows if changed or row.status != "unchanged"}
    for row in writing.written(documents, cutting.prepared, "documents"):
        earlier = again.pop(row.source, None)
        yield earlier if earlier is not None and row.status == "unchanged" else row
    yield from again.values()


def _settle(
    collection: RowCollection, embedder: Embedder | WordsAlone | None, progress: Progress
) -> None:
    if isinstance(embedder, WordsAlone):
        if not collection.words_alone:
            collection.forget()
    elif embedder is not None:
        collection.switch(embedder, lambda done, total: progress("re-embedded", done, total))
    elif (held := collection.fingerprint) is not None:
        raise EmbedderError(
            f"the collection has vectors of the embedder {held.id!r}, which is not at hand",
            "Install it, or give the collection another one: --embedder NAME",
        )


def _how(before: Fingerprint | None, embedder: Embedder | None) -> str:
    """Say what happened to documents that nobody named."""
    if embedder is None:
        return "its vectors are forgotten (--embedder none)"
    return f"{'' if before is None else 're-'}embedded by {embedder.fingerprint.id}"


@dataclass(frozen=True, slots=True)
class _Cutting:
    """How documents become chunks that the embedder reads whole."""

    collection: RowCollection
    recipe: Recipe | Keeping
    cut: Cut
    embedder: Embedder | None

    @property
    def limit(self) -> int | None:
        """Return what the embedder reads of a text, in its tokens."""
        return None if self.embedder is None else self.embedder.fingerprint.max_tokens

    def prepared(self, document: Document) -> Waiting | DocumentRow:
        """Cut a document that is new or has changed; say what it is otherwise."""
        document = clean(document)
        known = self.collection.known(document.source)
        if known is not None and known.same(document, self._kept(known), self.limit):
            return replace(known.row, status="unchanged")
        recipe = self._followed(known)
        chunks = self._chunks(document, recipe)
        if isinstance(chunks, DocumentRow):
            return chunks
        if not chunks and known is None:
            return DocumentRow(document.source, "skipped", "there is no text in it")
        return self._waiting(document, recipe, chunks, "added" if known is None else "replaced")

    def again(self, document: Document, how: str | None) -> Waiting | DocumentRow:
        """Cut a document that is there for another embedder; `how` says what happened to it."""
        known = self.collection.known(document.source)
        if known is None:
            return DocumentRow(document.source, "skipped", "it was removed meanwhile")
        recipe = self.recipe.own(known.recipe) if isinstance(self.recipe, Keeping) else known.recipe
        chunks = self._chunks(document, recipe)
        if isinstance(chunks, DocumentRow):
            return chunks
        same = [chunk.id for chunk in chunks] == self.collection.chunk_ids(document.source)
        waiting = self._waiting(document, recipe, chunks, "unchanged" if same else "replaced")
        return replace(waiting, said=how)

    def _kept(self, known: Known) -> Recipe:
        """Return by which recipe a document is unchanged; who counts its tokens is no matter."""
        return known.recipe if isinstance(self.recipe, Keeping) else self.recipe

    def _followed(self, known: Known | None) -> Recipe:
        if not isinstance(self.recipe, Keeping):
            return self.recipe
        return self.recipe.recipe if known is None else self.recipe.own(known.recipe)

    def _waiting(
        self, document: Document, recipe: Recipe, chunks: Sequence[Chunk], status: Indexed
    ) -> Waiting:
        tokens = sum(chunk.tokens for chunk in chunks)
        reason = self._reason(document, chunks)
        row = DocumentRow(document.source, status, reason, len(chunks), tokens, str(recipe))
        return Waiting(row, document, recipe, chunks)

    def _chunks(self, document: Document, recipe: Recipe) -> Sequence[Chunk] | DocumentRow:
        try:
            cut = self.cut(document, recipe)
        except RetrievalError as error:
            return DocumentRow(document.source, "failed", error.message)
        return fitted(document, recipe, cut, self.embedder, self.limit)

    def _reason(self, document: Document, chunks: Sequence[Chunk]) -> str | None:
        parts = [document.warning] if document.warning else []
        if self.embedder is not None:
            text = document.text
            foreign = sum(not self.embedder.reads(text[each.start : each.end]) for each in chunks)
            if foreign:
                name = self.embedder.fingerprint.id
                share = f"{foreign} of {counted(len(chunks), 'chunk')}"
                parts.append(f"{name} cannot read the script of {share}")
        odd = Counter(chunk.warning for chunk in chunks if chunk.warning)
        parts += [f"{counted(number, 'chunk')}: {warning}" for warning, number in odd.items()]
        return "; ".join(parts) or None


def clean(document: Document) -> Document:
    """Replace what no file can hold: halves of characters. Places in the text stay."""
    text, broken = _SURROGATES.subn("\ufffd", document.text)
    source = _SURROGATES.sub("\ufffd", document.source)
    if not broken and source == document.source:
        return document
    warning = f"replaced {counted(broken, 'broken character')}" if broken else None
    warnings = [each for each in (document.warning, warning) if each]
    return replace(document, source=source, text=text, warning="; ".join(warnings) or None)
