"""Writing documents into a collection; every function is given an open transaction.

Numbers of rows are private: what leaves a collection names chunks by their ids.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from jan_magics.domain.messages import Json
from jan_magics.domain.retrieval import RECIPE_VERSION, Chunk, Document, Recipe
from jan_magics.domain.segmentation import index_words
from jan_magics.rag.dialect import Dialect, Hash
from jan_magics.rag.statements import batches, fetched, first, marks
from jan_magics.storage.database import Database


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as it is written: with its chunks, and the vectors of their texts.

    A vector is little-endian float32; None is a text that has no usable one; a text that is
    missing belongs to a collection without an embedder. `limit` is what that reads, in tokens.
    """

    document: Document
    recipe: Recipe
    chunks: Sequence[Chunk]
    vectors: Mapping[Hash, bytes | None]
    reason: str | None = None
    limit: int | None = None

    def texts(self) -> list[str]:
        """Return the texts of the chunks, in order."""
        text = self.document.text
        return [text[chunk.start : chunk.end] for chunk in self.chunks]


def hash_of(text: str) -> Hash:
    """Return what a text is known by."""
    return sha256(text.encode()).digest()[:16]


def put(
    connection: Database,
    dialect: Dialect,
    entries: Sequence[Entry],
    now: int,
    generation: int | None,
) -> None:
    """Write documents, each in the place of the one with its source; `now` is milliseconds.

    No two entries may have the same source.
    """
    copies = dialect.copies(connection)
    old: list[int] = []
    numbers: dict[str, int] = {}
    for entry in entries:
        n = _number(connection, entry.document.source)
        if n is not None:
            old += _drop_chunks(connection, dialect, n, copies)
        numbers[entry.document.source] = _put_document(connection, n, entry, now)
    texts = [entry.texts() for entry in entries]
    passages = _put_passages(connection, [text for each in texts for text in each])
    begin = _next(connection, "chunk")
    chunks = [
        (numbers[entry.document.source], chunk) for entry in entries for chunk in entry.chunks
    ]
    fresh = range(begin, begin + len(chunks))
    _put_chunks(connection, fresh, chunks, passages)
    words = (index_words(text) for each in texts for text in each)
    dialect.put_words(connection, zip(fresh, words, strict=True))
    if generation is not None:
        vectors = {key: data for entry in entries for key, data in entry.vectors.items()}
        dialect.put_vectors(connection, generation, vectors)
        if generation in copies:
            dialect.copy_takes(connection, generation, fresh)
    _sweep(connection, old)
    changed(connection)
    dialect.copy_is_kept(connection, copies)


def remove(connection: Database, dialect: Dialect, source: str) -> bool:
    """Forget a document with its chunks, words and vectors; tell whether there was one."""
    n = _number(connection, source)
    if n is None:
        return False
    copies = dialect.copies(connection)
    passages = _drop_chunks(connection, dialect, n, copies)
    connection.execute("DELETE FROM document WHERE n = ?", (n,))
    _sweep(connection, passages)
    changed(connection)
    dialect.copy_is_kept(connection, copies)
    return True


def changed(connection: Database) -> None:
    """Tell readers that what they hold in memory is no longer what is stored."""
    connection.execute("UPDATE about SET value = CAST(value AS BIGINT) + 1 WHERE key = 'changes'")


def about(connection: Database, key: str) -> Any:
    """Return what a collection says of itself, None where it says nothing."""
    row = first(connection, "SELECT value FROM about WHERE key = ?", (key,))
    return None if row is None else row[0]


def say(connection: Database, key: str, value: str | int | None) -> None:
    """Let a collection say something of itself."""
    connection.execute(
        "INSERT INTO about (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def generations(connection: Database) -> list[int]:
    """Return the numbers of the generations."""
    return [n for (n,) in fetched(connection, "SELECT n FROM generation ORDER BY n")]


def _number(connection: Database, source: str) -> int | None:
    row = first(connection, "SELECT n FROM document WHERE source = ?", (source,))
    return None if row is None else int(row[0])


def _next(connection: Database, table: str) -> int:
    row = first(connection, f"SELECT coalesce(max(n), 0) + 1 FROM {table}")
    return int(row[0])


def _put_document(connection: Database, n: int | None, entry: Entry, now: int) -> int:
    document, recipe = entry.document, entry.recipe
    values: dict[str, Any] = {
        "id": document.id,
        "source": document.source,
        "content": document.content,
        "recipe": str(recipe),
        "cut": cut_to_json(recipe, entry.limit),
        "metadata": metadata_to_json(document),
        "pages": _json(list(document.pages)),
        "kind": document.kind,
        "warning": document.warning,
        "reason": entry.reason,
        "chunks": len(entry.chunks),
        "tokens": sum(chunk.tokens for chunk in entry.chunks),
        "indexed_at": now,
        "text": zlib.compress(document.text.encode(), 1),
    }
    if n is not None:
        connection.execute("DELETE FROM document WHERE n = ?", (n,))
    values["n"] = n or _next(connection, "document")
    connection.execute(
        f"INSERT INTO document ({', '.join(values)}) VALUES ({marks(list(values))})",
        tuple(values.values()),
    )
    return int(values["n"])


def cut_to_json(recipe: Recipe, limit: int | None) -> str:
    """Return what decides how a text is cut: equal texts and equal cuts give equal chunks."""
    return _json({**{name: getattr(recipe, name) for name in recipe.__slots__}, "limit": limit})


def cut_from_json(text: str) -> Recipe:
    """Return the recipe that a text was cut by, as the rules are now."""
    known = {**json.loads(text), "version": RECIPE_VERSION}
    return Recipe(**{name: known[name] for name in Recipe.__slots__ if name in known})


def metadata_to_json(document: Document) -> str:
    """Return the metadata of a document as it is stored."""
    return _json(dict(document.metadata))


def _put_passages(connection: Database, texts: Sequence[str]) -> list[int]:
    """Write the texts that are new; return the number of each."""
    hashes = [hash_of(text) for text in texts]
    known: dict[bytes, int] = {}
    for some in batches(dict.fromkeys(hashes)):
        known |= dict(
            fetched(connection, f"SELECT hash, n FROM passage WHERE hash IN ({marks(some)})", some)
        )
    n = _next(connection, "passage")
    new = []
    for key, text in zip(hashes, texts, strict=True):
        if key not in known:
            known[key] = n
            new.append((n, key, text))
            n += 1
    connection.executemany("INSERT INTO passage (n, hash, text) VALUES (?, ?, ?)", new)
    return [known[key] for key in hashes]


def _put_chunks(
    connection: Database,
    fresh: range,
    chunks: Sequence[tuple[int, Chunk]],
    passages: Sequence[int],
) -> None:
    distinct = {chunk.headings for _, chunk in chunks}
    headings = {each: _json(list(each)) for each in distinct}
    connection.executemany(
        "INSERT INTO chunk (n, id, document, place, first, last, tokens, headings, page, warning,"
        " passage) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (n, c.id, document, c.index, c.start, c.end, c.tokens, headings[c.headings], c.page,
             c.warning, passage)
            for n, (document, c), passage in zip(fresh, chunks, passages, strict=True)
        ),
    )  # fmt: skip


def _drop_chunks(
    connection: Database, dialect: Dialect, document: int, copies: Sequence[int]
) -> list[int]:
    """Forget the chunks of a document; return the passages that they had."""
    chunks = fetched(connection, "SELECT n, passage FROM chunk WHERE document = ?", (document,))
    numbers = [n for n, _ in chunks]
    dialect.drop_words(connection, numbers)
    dialect.copy_forgets(connection, copies, numbers)
    connection.execute("DELETE FROM chunk WHERE document = ?", (document,))
    return [passage for _, passage in chunks]


def _sweep(connection: Database, passages: Iterable[int]) -> None:
    """Forget the texts that no chunk has any more, and their vectors."""
    alone = [
        (n,)
        for n in dict.fromkeys(passages)
        if first(connection, "SELECT 1 FROM chunk WHERE passage = ?", (n,)) is None
    ]
    for generation in generations(connection):
        connection.executemany(f"DELETE FROM vectors_{generation} WHERE passage = ?", alone)
    connection.executemany("DELETE FROM passage WHERE n = ?", alone)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
