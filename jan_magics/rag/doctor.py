"""Whether a collection is sound: what belongs to nothing, whose vectors it has, what it weighs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import apsw

from jan_magics.domain.counting import counted
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.rag import generations, near
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.embedders import installed
from jan_magics.rag.matching import missing, typed
from jan_magics.rag.statements import fetched, first

Grade: TypeAlias = Literal["ok", "warning", "error"]

_ORPHANS: Final = (
    ("chunks without a document", "chunk WHERE document NOT IN (SELECT n FROM document)"),
    ("texts without a chunk", "passage WHERE n NOT IN (SELECT passage FROM chunk)"),
    ("words without a chunk", "words_docsize WHERE id NOT IN (SELECT n FROM chunk)"),
    ("chunks without words", "chunk WHERE n NOT IN (SELECT id FROM words_docsize)"),
    ("chunks without a text", "chunk WHERE passage NOT IN (SELECT n FROM passage)"),
)
_NAMED: Final = 5
"""Files that are named; of more it is said how many."""
_ANEW: Final = "Add the documents to a new collection: %rag add PATH -c NAME"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, and what to type where it should be otherwise."""

    check: str
    status: Grade
    detail: str
    fix: str = ""


def examine(collection: SqliteCollection, base: Path | None = None) -> list[Finding]:
    """Look at everything; nothing is changed. `base` is what sources are relative to."""
    with collection.file.alone() as connection:
        unusable = None if near.loaded(connection) else near.load(connection)
    with collection.file.reading() as connection:
        found = [*_soundness(connection), *_vectors(connection), _copy(connection, unusable)]
        found.append(_size(connection, collection))
    if collection.file.network is not None:
        found.append(Finding(
            "file system", "warning",
            f"on a network ({collection.file.network}): safe, slower, one writer at a time",
        ))  # fmt: skip
    return [*found, *_files(collection.sources(of_files=True), base)]


def _files(sources: Sequence[str], base: Path | None) -> Iterator[Finding]:
    """Tell which documents are of files that are no longer there."""
    if gone := [*missing(sources, base)]:
        names = ", ".join(gone[:_NAMED]) + (
            f" and {len(gone) - _NAMED:,} more" * (len(gone) > _NAMED)
        )
        yield Finding(
            "files", "warning", f"no longer there, and still found: {names}",
            f"%rag remove {typed(gone[0])}   or bring the file back",
        )  # fmt: skip


def _soundness(connection: apsw.Connection) -> Iterator[Finding]:
    lines = [line for (line,) in fetched(connection, "PRAGMA integrity_check(5)") if line != "ok"]
    yield (
        Finding("database", "error", "; ".join(lines), _ANEW)
        if lines
        else Finding("database", "ok", "whole")
    )
    counts = [
        (first(connection, f"SELECT count(*) FROM {rest}")[0], what) for what, rest in _ORPHANS
    ]
    told = ", ".join(f"{what}: {count:,}" for count, what in counts if count)
    yield Finding("orphans", "error" if told else "ok", told or "none", _ANEW if told else "")


def _vectors(connection: apsw.Connection) -> Iterator[Finding]:
    held = generations.active(connection)
    if held is None and generations.is_forgotten(connection):
        yield Finding("embedder", "ok", "none, as it was told (--embedder none): words only")
    elif held is None:
        yield Finding(
            "embedder",
            "warning",
            "none: words only",
            "pip install 'jan-magics[rag]', then add again",
        )
    else:
        yield from _generation(connection, *held)
    for _, fingerprint, lacking in generations.building(connection):
        yield Finding(
            "generation", "warning",
            f"one of {fingerprint.id!r} was begun; {counted(lacking, 'text')} left to embed",
            f"Go on: %rag add PATH --embedder {fingerprint.id}",
        )  # fmt: skip


def _generation(connection: apsw.Connection, n: int, fingerprint: Fingerprint) -> Iterator[Finding]:
    name = fingerprint.id
    here = name in installed() or ":" in name
    yield Finding(
        "embedder", "ok" if here else "error",
        f"{name} {fingerprint.revision}, {fingerprint.dim} numbers, {fingerprint.pooling}",
        "" if here else "Install it, or name another one: %rag add PATH --embedder NAME",
    )  # fmt: skip
    table = f"vectors_{n}"
    lacking, refused, alone = first(
        connection,
        f"SELECT (SELECT count(*) FROM passage WHERE n NOT IN (SELECT passage FROM {table})),"
        f" (SELECT count(*) FROM {table} WHERE data IS NULL),"
        f" (SELECT count(*) FROM {table} WHERE passage NOT IN (SELECT n FROM passage)"
        f" OR length(data) <> {4 * fingerprint.dim})",
    )
    parts = [
        f"none for {counted(lacking, 'text')}" * bool(lacking),
        f"no usable one for {counted(refused, 'text')} (zeros, NaN or infinities)" * bool(refused),
        f"of nothing, or of another length: {alone}" * bool(alone),
    ]
    told = ", ".join(filter(None, parts))
    status: Grade = "error" if lacking or alone else "warning" if refused else "ok"
    yield Finding(
        "vectors", status, told or "one for each text", _ANEW if status == "error" else ""
    )


def _copy(connection: apsw.Connection, unusable: str | None) -> Finding:
    if unusable is not None:
        return Finding("vec0", "warning", f"numpy is used: {unusable}", "pip install sqlite-vec")
    held = generations.active(connection)
    states = {
        "absent": "works; its copy is made when `index = vec0` first asks for it",
        "behind": "works; its copy is behind, and is made anew when it is asked for",
        "kept": "works, and its copy has all",
    }
    return Finding("vec0", "ok", states[near.state(connection, held[0]) if held else "absent"])


def _size(connection: apsw.Connection, collection: SqliteCollection) -> Finding:
    page, pages, free = (
        int(first(connection, f"PRAGMA {name}")[0])
        for name in ("page_size", "page_count", "freelist_count")
    )
    detail = f"{page * pages / 1e6:.1f} MB, of which {page * free / 1e6:.1f} MB are free"
    wasteful = free * 4 > pages and page * free > 1_000_000 and not collection.read_only
    fix = "%rag doctor --vacuum" if wasteful else ""
    return Finding("size", "warning" if wasteful else "ok", detail, fix)
