"""A collection into another one: documents with their chunks and vectors, as they are.

Nothing is cut or embedded. Some documents are written at a time, each wholly; what is there and
equal is not sent, so that an interrupted transfer goes on where it was.
"""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.retrieval import Chunk, Document, DocumentRow, Fingerprint, Recipe
from jan_magics.rag import generations
from jan_magics.rag.dialect import Hash
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.rows import Entry, hash_of
from jan_magics.rag.statements import batches, fetched, first
from jan_magics.storage.database import Database

AT_A_TIME: Final = 2_000
"""Chunks that are written together, about a second of work."""
_EQUAL: Final = "content, cut, metadata, kind, pages, warning, reason"
"""Of documents where these are equal, the chunks are, too."""


def transfer(
    source: RowCollection,
    target: RowCollection,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    *,
    at_a_time: int = AT_A_TIME,
) -> Iterator[DocumentRow]:
    """Write what a collection has into another one, and yield what became of each document.

    What only the other one has stays, and follows as a row at the end. Whoever stops the iteration,
    or raises in `progress`, stops between documents.

    Raises:
        RetrievalError: when the other one has documents with vectors of another embedder.
    """
    fingerprint = _agreed(source, target)
    here, there = _standing(source), _standing(target)
    rows = {row.source: row for row in source.documents()}
    wanted: list[str] = []
    waiting = done = 0
    for name in here:
        if here[name] == there.get(name) or name not in rows:
            done += 1
            if name in rows:
                yield replace(rows[name], status="unchanged")
            continue
        wanted.append(name)
        waiting += rows[name].chunks or 0
        if waiting >= at_a_time:
            progress(done, len(here))
            yield from _sent(source, target, wanted, fingerprint, there)
            done += len(wanted)
            wanted, waiting = [], 0
    progress(done, len(here))
    yield from _sent(source, target, wanted, fingerprint, there)
    progress(len(here), len(here))
    for name in there:
        if name not in here:
            yield DocumentRow(name, "skipped", "it is only there, and stays")


def _agreed(source: RowCollection, target: RowCollection) -> Fingerprint | None:
    """Let an empty collection have vectors as the other one has; return who makes them."""
    fingerprint = source.fingerprint
    if not target.sources():
        if fingerprint is not None:
            target.take(fingerprint)
        elif target.fingerprint is not None or source.words_alone:
            target.forget()
    held = target.fingerprint
    if held != fingerprint:
        raise RetrievalError(
            f"{target.place} has {_vectors(held)}, {source.place} has {_vectors(fingerprint)}",
            "Name an empty collection, or give both the same: %rag add PATH --embedder NAME",
        )
    if (recipe := source.recipe) is not None:
        target.cut_by(recipe)
    return fingerprint


def _vectors(fingerprint: Fingerprint | None) -> str:
    if fingerprint is None:
        return "no vectors"
    return f"vectors of {fingerprint.id!r} ({fingerprint.revision}, {fingerprint.dim} numbers)"


def _standing(collection: RowCollection) -> dict[str, tuple[Any, ...]]:
    """Return what tells the documents of a collection from others, by source."""
    with collection.database.reading() as connection:
        found = fetched(connection, f"SELECT source, {_EQUAL} FROM document ORDER BY source")
    return {row[0]: tuple(row[1:]) for row in found}


def _sent(
    source: RowCollection,
    target: RowCollection,
    wanted: Sequence[str],
    fingerprint: Fingerprint | None,
    there: dict[str, tuple[Any, ...]],
) -> list[DocumentRow]:
    """Write some documents; those that were removed meanwhile are not."""
    entries = _entries(source, wanted, fingerprint)
    if entries:
        target.put(entries, fingerprint)
    return [_written(entry, target, known=entry.document.source in there) for entry in entries]


def _entries(
    collection: RowCollection, sources: Sequence[str], fingerprint: Fingerprint | None
) -> list[Entry]:
    """Read documents with their chunks and vectors, all of one state."""
    with collection.database.reading() as connection:
        held = generations.active(connection)
        if (None if held is None else held[1]) != fingerprint:
            raise RetrievalError(
                f"another process has changed the embedder of {collection.place}",
                "Decide on one of them, then do it again",
            )
        found = [_entry(connection, source) for source in sources]
        entries = [each for each in found if each is not None]
        vectors: dict[Hash, bytes | None] = {}
        hashes = {hash_of(text) for entry in entries for text in entry.texts()}
        for some in batches(hashes if held else ()):
            vectors |= collection.dialect.vectors_of(connection, held[0] if held else 0, some)
    return [_with(entry, vectors) for entry in entries]


def _with(entry: Entry, vectors: Mapping[Hash, bytes | None]) -> Entry:
    own = map(hash_of, entry.texts())
    return replace(entry, vectors={key: vectors[key] for key in own if key in vectors})


def _entry(connection: Database, source: str) -> Entry | None:
    row = first(
        connection,
        "SELECT n, text, kind, pages, metadata, warning, reason, cut FROM document"
        " WHERE source = ?",
        (source,),
    )
    if row is None:
        return None
    number, text, kind, pages, metadata, warning, reason, cut = row
    document = Document(
        source, zlib.decompress(text).decode(), kind, tuple(json.loads(pages)),
        json.loads(metadata), warning,
    )  # fmt: skip
    told = json.loads(cut)
    # The version, too: the rules may have changed since.
    recipe = Recipe(**{name: told[name] for name in Recipe.__slots__ if name in told})
    chunks = fetched(
        connection,
        "SELECT id, place, first, last, tokens, headings, page, warning FROM chunk"
        " WHERE document = ? ORDER BY place",
        (number,),
    )
    made = [_chunk(document.id, each) for each in chunks]
    return Entry(document, recipe, made, {}, reason, told["limit"])


def _chunk(document: str, row: Sequence[Any]) -> Chunk:
    identity, place, start, end, tokens, headings, page, warning = row
    told = tuple(json.loads(headings))
    return Chunk(identity, document, place, start, end, tokens, told, page, warning)


def _written(entry: Entry, target: RowCollection, *, known: bool) -> DocumentRow:
    tokens = sum(chunk.tokens for chunk in entry.chunks)
    return DocumentRow(
        entry.document.source, "replaced" if known else "added", entry.reason, len(entry.chunks),
        tokens, str(entry.recipe), target.now(),
    )  # fmt: skip
