"""Whether a collection is sound: what belongs to nothing, whose vectors it has, what it weighs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from jan_magics.domain.counting import counted
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.rag import generations
from jan_magics.rag.dialect import Sound
from jan_magics.rag.embedders import installed
from jan_magics.rag.matching import missing, typed
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.soundness import ANEW, Finding, Grade
from jan_magics.rag.statements import first
from jan_magics.storage.database import Database

_ORPHANS: Final = (
    ("chunks without a document", "chunk WHERE document NOT IN (SELECT n FROM document)"),
    ("texts without a chunk", "passage WHERE n NOT IN (SELECT passage FROM chunk)"),
    ("words without a chunk", "{words} WHERE {number} NOT IN (SELECT n FROM chunk)"),
    ("chunks without words", "chunk WHERE n NOT IN (SELECT {number} FROM {words})"),
    ("chunks without a text", "chunk WHERE passage NOT IN (SELECT n FROM passage)"),
)
_NAMED: Final = 5
"""Files that are named; of more it is said how many."""


def examine(collection: RowCollection, base: Path | None = None) -> list[Finding]:
    """Look at everything; nothing is changed. `base` is what sources are relative to."""
    checked, sound = collection.checked(), collection.dialect.sound
    with collection.database.reading() as connection:
        orphans, vectors = _orphans(connection, sound), [*_vectors(connection, sound)]
    sources = () if collection.of_many else collection.sources(of_files=True)
    gone = _files(sources, base)
    return [checked.whole, orphans, *vectors, *checked.kept, *gone]


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


def _orphans(connection: Database, sound: Sound) -> Finding:
    counts = []
    for what, rest in _ORPHANS:
        table = rest.format(words=sound.words, number=sound.number)
        counts.append((first(connection, f"SELECT count(*) FROM {table}")[0], what))
    told = ", ".join(f"{what}: {count:,}" for count, what in counts if count)
    return Finding("orphans", "error" if told else "ok", told or "none", ANEW if told else "")


def _vectors(connection: Database, sound: Sound) -> Iterator[Finding]:
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
        yield from _generation(connection, sound, *held)
    for _, fingerprint, lacking in generations.building(connection):
        yield Finding(
            "generation", "warning",
            f"one of {fingerprint.id!r} was begun; {counted(lacking, 'text')} left to embed",
            f"Go on: %rag add PATH --embedder {fingerprint.id}",
        )  # fmt: skip


def _generation(
    connection: Database, sound: Sound, n: int, fingerprint: Fingerprint
) -> Iterator[Finding]:
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
        f" OR {sound.wrong_length})",
        (fingerprint.dim,),
    )
    parts = [
        f"none for {counted(lacking, 'text')}" * bool(lacking),
        f"no usable one for {counted(refused, 'text')} (zeros, NaN or infinities)" * bool(refused),
        f"of nothing, or of another length: {alone}" * bool(alone),
    ]
    told = ", ".join(filter(None, parts))
    status: Grade = "error" if lacking or alone else "warning" if refused else "ok"
    yield Finding("vectors", status, told or "one for each text", ANEW if status == "error" else "")
