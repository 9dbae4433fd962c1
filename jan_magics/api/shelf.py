"""Where a collection is found and opened, and what it holds in a few lines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from jan_magics.api.given_documents import checked
from jan_magics.api.hit_tables import collections_table
from jan_magics.api.host import Host
from jan_magics.api.ingesting import recipe_for
from jan_magics.api.opening import current_host
from jan_magics.api.working import Adding
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import EmbedderError, JanError, RetrievalError, SettingError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import DocumentRow
from jan_magics.engine.embedding import NONE
from jan_magics.engine.listed import Listed, shown_owner
from jan_magics.engine.restoring import take_back
from jan_magics.engine.retrieving import Retriever, of_settings
from jan_magics.rag.counting import counter_here
from jan_magics.rag.explain import Explained, explain
from jan_magics.rag.landscape import Landscape, landscape
from jan_magics.rag.limits import MEGABYTE
from jan_magics.rag.matching import meant, none_is
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.search import Found, search
from jan_magics.rag.soundness import Finding

if TYPE_CHECKING:
    import pandas as pd

_EMBEDDERS: Final[Mapping[str | None, str]] = MappingProxyType({
    None: "none: searched by words · better: pip install 'jan-magics[rag]'",
    NONE: "none, as it was told (--embedder none): searched by words",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shelf:
    """A collection by name, None: the default here; `own_host` None: the one that cells use."""

    own_host: Host | None = None
    name: str | None = None
    read_only: bool = False

    def host(self) -> Host:
        """Return whose collections are meant."""
        return self.own_host or current_host()

    def retriever(self) -> Retriever:
        """Return what looks things up there."""
        return retriever_of(self.host())

    def found(self) -> Listed | None:
        """Return the collection, None where there is none yet."""
        return self.retriever().collections.find(self.name)

    def existing(self) -> Listed:
        """Return the collection. Raises CollectionNotFound, RetrievalError."""
        return self.retriever().collections.existing(self.name)

    def obtain(self) -> Listed:
        """Return the collection, made where there is none. Raises as `writable`."""
        listed = self.retriever().collections.obtain(self.name)
        self.writable(listed)
        return listed

    def open(self) -> RowCollection:
        """Open the collection. Raises CollectionNotFound, RetrievalError."""
        return self.retriever().collections.open(self.existing(), read_only=self.read_only)

    def documents(self) -> list[DocumentRow]:
        """Return how the documents stand; where no vectors are wanted, each says so."""
        collection = self.open()
        rows = list(collection.documents())
        if not collection.words_alone:
            return rows
        return [replace(row, reason=_and_no_vectors(row.reason)) for row in rows]

    def delete(self) -> None:
        """Move the collection to the bin, also one that cannot be read. Raises RetrievalError."""
        self.retriever().collections.delete(self.found() or self.existing())

    def take_back(self) -> Listed:
        """Take the collection out of the bin. Raises CollectionNotFound, RetrievalError."""
        return take_back(self.retriever().collections, self.name)

    def in_the_bin(self) -> Iterator[Finding]:
        """Yield which collections can still be brought back."""
        names = dict.fromkeys(each.name for each in self.retriever().collections.bin.listed())
        if names:
            listed = ", ".join(map(repr, names))
            yield Finding("bin", "ok", f"can be brought back: {listed}", "%rag delete NAME --off")

    def writable(self, listed: Listed) -> RowCollection:
        """Open a collection to write to it. Raises RetrievalError where that is not allowed."""
        collection = self.retriever().collections.open(listed, read_only=self.read_only)
        if collection.read_only:
            raise RetrievalError(
                f"the collection {listed.name!r} is read-only ({shown_owner(listed)})",
                "Open a copy that you may write to.",
            )
        return collection

    def remove(self, given: str | Path) -> list[str]:
        """Forget the documents that a name means; returns their sources. Raises as `writable`.

        Raises:
            RetrievalError: when there are none.
            SettingError: when it is no name.
        """
        wanted, listed = checked(given), self.existing()
        collection = self.writable(listed)
        sources = collection.sources()
        found = meant(wanted, sources, listed.base)
        if not found:
            raise none_is(wanted, sources)
        collection.remove(*found)
        return found

    def adding(self, named: Mapping[str, Any], embedder: str | None) -> Adding:
        """Return how something is added; the collection is made last.

        Raises:
            EmbedderError, SettingError: when the embedder or the sizes cannot be used.
            RetrievalError: when the collection cannot be written to.
        """
        if embedder is not None and not isinstance(embedder, str):
            raise SettingError(f"the embedder is {embedder!r}", "Name one: embedder='static'")
        collections, counter = self.retriever().collections, counter_here()
        collection = collections.open(self.existing()) if self.found() else None
        recipe = recipe_for(counter, named, collection.recipe if collection else None)
        chosen = self.retriever().embedders.for_adding(collection, embedder)
        listed = collections.obtain(self.name)
        return Adding(self.writable(listed), listed, recipe, counter, chosen, self.name)

    def search(
        self, questions: Sequence[str], rerank: str | None, how: Mapping[str, Any]
    ) -> list[Found]:
        """Return what questions find, under the settings that hold here. Raises as `search`."""
        collection = self.open()
        options = self._options(rerank, how)
        return search(collection, questions, options, self._embedder_of(collection))

    def explain(
        self, question: str, chunk: str, rerank: str | None, how: Mapping[str, Any]
    ) -> Explained:
        """Return why a chunk is not used, under the settings that hold here."""
        collection = self.open()
        options = self._options(rerank, how)
        return explain(collection, question, chunk, options, self._embedder_of(collection))

    def landscape(self, question: str) -> Landscape:
        """Return where the chunks lie around a question, on a plane.

        Raises:
            EmbedderError: when the collection has no vectors, or its embedder is not here.
        """
        collection = self.open()
        embedder = self._embedder_of(collection)
        if embedder is None:
            raise EmbedderError(
                "a map needs vectors, and this collection has none that can be compared",
                "Give it some: %rag add PATH --embedder NAME"
                "   an embedder is: pip install 'jan-magics[rag]'",
            )
        with collection.snapshot() as snapshot:
            return landscape(snapshot, embedder, question)

    def _embedder_of(self, collection: RowCollection) -> Embedder | None:
        return self.retriever().embedders.of(collection.fingerprint)

    def _options(self, rerank: str | None, how: Mapping[str, Any]) -> Options:
        chosen = self.retriever().embedders.reranker(rerank)
        return Options(rerank=chosen, **how, **of_settings(self.host().session().settings()))


def _and_no_vectors(reason: str | None) -> str:
    return "; ".join(filter(None, (reason, "no vectors (--embedder none)")))


def questions_in(given: object) -> list[str]:
    """Return one question, or several. Raises SettingError for what is neither."""
    listed = [given] if isinstance(given, str) else given
    found = list(listed) if isinstance(listed, Iterable) else [given]
    if strange := [each for each in found if not isinstance(each, str)]:
        raise SettingError(
            f"{strange[0]!r} is no question", "Ask with text, a list or a Series of texts."
        )
    return [str(each) for each in found]


def retriever_of(host: Host) -> Retriever:
    """Return what looks things up in a host's collections."""
    made = host.session().retriever
    assert made is not None  # noqa: S101 - for the type checker: every host's session has one
    return made()


def collections() -> "pd.DataFrame":
    """Return the collections of the data folder in use, by name; then those on servers here."""
    retriever = retriever_of(current_host())
    return collections_table(collection_row(retriever, each) for each in listed_of(retriever))


def listed_of(retriever: Retriever) -> list[Listed]:
    """Return the collections of a data folder, by name; then those on servers."""
    collections = retriever.collections
    return [*collections.listed(), *collections.servers.listed()]


def status_of(shelf: Shelf) -> str:
    """Say in a few lines what a collection is, what it holds, and who makes its vectors."""
    listed = shelf.found()
    if listed is None:
        name = "this notebook has no collection yet" if shelf.name is None else shelf.name
        gone = shelf.retriever().collections.in_bin(shelf.name)
        back = [f"in the bin · back: %rag delete {each.name!r} --off" for each in gone[:1]]
        return "\n".join((f"{name} · make it of files: %rag add PATH", *back))
    row = collection_row(shelf.retriever(), shelf.existing())
    size = f"{counted(row['documents'], 'document')}, {counted(row['chunks'], 'chunk')}"
    lines = (
        f"collection  {listed.name} ({row['owner']})",
        f"holds       {size}, {row['tokens']:,} tokens, {row['size_mb']:.1f} MB",
        f"cut         {row['recipe'] or 'not yet'}",
        f"embedder    {_EMBEDDERS.get(row['embedder'], row['embedder'])}",
    )
    return "\n".join(lines)


def collection_row(retriever: Retriever, listed: Listed) -> dict[str, Any]:
    """Return a collection as a row of `collections`; of a damaged one only what its file tells."""
    known: dict[str, Any] = {
        "collection": listed.name,
        "owner": listed.fault or shown_owner(listed, _title_of),
        "size_mb": listed.size / MEGABYTE,
    }
    if listed.fault:
        return known
    collection = retriever.collections.open(listed)
    if (there := collection.size()) is not None:
        known["size_mb"] = there / MEGABYTE
    rows = collection.documents()
    fingerprint = collection.fingerprint
    return known | {
        "documents": len(rows),
        "chunks": sum(row.chunks or 0 for row in rows),
        "tokens": sum(row.tokens or 0 for row in rows),
        "embedder": fingerprint.id if fingerprint else NONE if collection.words_alone else None,
        "recipe": "; ".join(sorted({row.recipe for row in rows if row.recipe})) or None,
        "updated_at": max((row.indexed_at for row in rows if row.indexed_at), default=None),
    }


def _title_of(thread_id: str) -> str | None:
    with suppress(JanError):
        return current_host().session().engine.store.thread(thread_id).title
    return None
