"""Generations: all vectors of one embedder. Another one is made beside it, and then takes over.

Until the new generation has every text, the old one answers; then one transaction switches and
drops it. What was embedded stays when the making is interrupted, and is not embedded again.
"""

import json
from collections.abc import Callable
from typing import Final

import apsw

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.rag import near
from jan_magics.rag.collection_file import CollectionFile
from jan_magics.rag.collection_schema import drop_generation, make_generation
from jan_magics.rag.gate import embedded
from jan_magics.rag.pace import LARGEST_SLICE, SMALLEST, Pace
from jan_magics.rag.rows import about, changed, generations, put_vectors, say
from jan_magics.rag.statements import fetched, first

_EMBEDDER: Final = "embedder"
"""What a collection says where no vectors are wanted; where they are, its generation tells."""
_NONE: Final = "none"


def active(connection: apsw.Connection) -> tuple[int, Fingerprint] | None:
    """Return the generation that answers, None where a collection has no vectors."""
    n = about(connection, "generation")
    return None if n is None else (int(n), _fingerprint(connection, int(n)))


def is_forgotten(connection: apsw.Connection) -> bool:
    """Tell whether a collection is to have no vectors, as its user said."""
    return bool(about(connection, _EMBEDDER) == _NONE)


def forget(file: CollectionFile) -> None:
    """Drop all generations, and remember that none is wanted."""
    with file.writing() as connection:
        for n in generations(connection):
            near.drop(connection, n)
            drop_generation(connection, n)
        say(connection, "generation", None)
        say(connection, _EMBEDDER, _NONE)
        changed(connection)


def building(connection: apsw.Connection) -> list[tuple[int, Fingerprint, int]]:
    """Return the generations that are not complete, and how many texts each still lacks."""
    now = about(connection, "generation")
    return [
        (n, _fingerprint(connection, n), _lacking(connection, n))
        for n in generations(connection)
        if n != now
    ]


def size(connection: apsw.Connection, fingerprint: Fingerprint) -> int:
    """Return about how many bytes all vectors of a generation take in memory."""
    row = first(connection, "SELECT max(n) FROM chunk")
    return int(row[0] or 0) * fingerprint.dim * 4


def number_of(connection: apsw.Connection, fingerprint: Fingerprint) -> int | None:
    """Return the generation of an embedder, complete or not."""
    found = first(
        connection, "SELECT n FROM generation WHERE fingerprint = ?", (_text(fingerprint),)
    )
    return None if found is None else int(found[0])


def switch(
    file: CollectionFile,
    embedder: Embedder,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> None:
    """Make an embedder's generation the one that answers; nothing to do where it is already.

    `progress` is called after each batch with the texts that are done, and all of them; what it
    raises interrupts the making, which goes on from there the next time.

    Raises:
        EmbedderError: when the embedder fails; the old generation answers as before.
    """
    fingerprint = embedder.fingerprint
    with file.reading() as connection:
        held = active(connection)
        if held is not None and held[1] == fingerprint:
            return
    with file.writing() as connection:
        n = number_of(connection, fingerprint)
        if n is None:
            n = make_generation(connection, _text(fingerprint))
    while not _taken_over(file, n):
        _fill(file, n, embedder, progress)


def _fill(
    file: CollectionFile, n: int, embedder: Embedder, progress: Callable[[int, int], None]
) -> None:
    last = done = 0
    pace = Pace(0.5, SMALLEST, LARGEST_SLICE)
    with file.reading() as connection:
        total = _lacking(connection, n)
    while True:
        with file.reading() as connection:
            rows = fetched(
                connection,
                f"SELECT n, text FROM passage WHERE n > ? AND n NOT IN"
                f" (SELECT passage FROM {_table(connection, n)}) ORDER BY n LIMIT ?",
                (last, pace.size),
            )
        if not rows:
            return
        with pace.measured(len(rows)):
            vectors = embedded(embedder, [text for _, text in rows])
        with file.writing() as connection:
            _table(connection, n)
            put_vectors(connection, n, vectors)
        last = rows[-1][0]
        done += len(rows)
        progress(done, max(done, total))


def _taken_over(file: CollectionFile, n: int) -> bool:
    """Let a generation answer if it is complete, and drop the others."""
    with file.writing() as connection:
        table = _table(connection, n)
        if connection.execute(
            f"SELECT 1 FROM passage WHERE n NOT IN (SELECT passage FROM {table}) LIMIT 1"
        ).fetchone():
            return False
        for other in generations(connection):
            if other != n:
                near.drop(connection, other)
                drop_generation(connection, other)
        say(connection, "generation", n)
        say(connection, _EMBEDDER, None)
        changed(connection)
    return True


def _table(connection: apsw.Connection, n: int) -> str:
    """Return the table of a generation; another process may have finished another one."""
    if n not in generations(connection):
        raise RetrievalError(
            "another process has given this collection another embedder meanwhile",
            "Decide on one of them, then add again: %rag add PATH --embedder NAME",
        )
    return f"vectors_{n}"


def _lacking(connection: apsw.Connection, n: int) -> int:
    row = first(
        connection, f"SELECT count(*) FROM passage WHERE n NOT IN (SELECT passage FROM vectors_{n})"
    )
    return int(row[0])


def _fingerprint(connection: apsw.Connection, n: int) -> Fingerprint:
    row = first(connection, "SELECT fingerprint FROM generation WHERE n = ?", (n,))
    return Fingerprint(**json.loads(row[0]))


def _text(fingerprint: Fingerprint) -> str:
    return json.dumps({name: getattr(fingerprint, name) for name in fingerprint.__slots__})
