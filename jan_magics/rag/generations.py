"""Generations: all vectors of one embedder. Another one is made beside it, and then takes over.

Until the new generation has every text, the old one answers; then one transaction switches and
drops it. What was embedded stays when the making is interrupted, and is not embedded again.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.rag.dialect import Dialect
from jan_magics.rag.gate import embedded
from jan_magics.rag.pace import LARGEST_SLICE, SMALLEST, Pace
from jan_magics.rag.rows import about, changed, generations, hash_of, say
from jan_magics.rag.statements import fetched, first
from jan_magics.storage.database import Database, Transactions

_EMBEDDER: Final = "embedder"
"""What a collection says where no vectors are wanted; where they are, its generation tells."""
_NONE: Final = "none"


def active(connection: Database) -> tuple[int, Fingerprint] | None:
    """Return the generation that answers, None where a collection has no vectors."""
    n = about(connection, "generation")
    return None if n is None else (int(n), _fingerprint(connection, int(n)))


def is_forgotten(connection: Database) -> bool:
    """Tell whether a collection is to have no vectors, as its user said."""
    return bool(about(connection, _EMBEDDER) == _NONE)


def forget(database: Transactions, dialect: Dialect) -> None:
    """Drop all generations, and remember that none is wanted."""
    with database.writing() as connection:
        for n in generations(connection):
            _drop(connection, dialect, n)
        say(connection, "generation", None)
        say(connection, _EMBEDDER, _NONE)
        changed(connection)


def building(connection: Database) -> list[tuple[int, Fingerprint, int]]:
    """Return the generations that are not complete, and how many texts each still lacks."""
    held = active(connection)
    return [
        (n, _fingerprint(connection, n), _lacking(connection, n))
        for n in generations(connection)
        if held is None or n != held[0]
    ]


def size(connection: Database, fingerprint: Fingerprint) -> int:
    """Return about how many bytes all vectors of a generation take in memory."""
    row = first(connection, "SELECT max(n) FROM chunk")
    return int(row[0] or 0) * fingerprint.dim * 4


def number_of(connection: Database, fingerprint: Fingerprint) -> int | None:
    """Return the generation of an embedder, complete or not."""
    found = first(
        connection, "SELECT n FROM generation WHERE fingerprint = ?", (_text(fingerprint),)
    )
    return None if found is None else int(found[0])


def switch(
    database: Transactions,
    dialect: Dialect,
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
    with database.reading() as connection:
        held = active(connection)
        if held is not None and held[1] == fingerprint:
            return
    n = begun(database, dialect, fingerprint)
    filling = _Filling(database, dialect, n, embedder)
    while not taken_over(database, dialect, n):
        filling.fill(progress)


def begun(database: Transactions, dialect: Dialect, fingerprint: Fingerprint) -> int:
    """Return the generation of an embedder, made empty where there is none."""
    with database.writing() as connection:
        n = number_of(connection, fingerprint)
        if n is None:
            n = int(first(connection, "SELECT coalesce(max(n), 0) + 1 FROM generation")[0])
            connection.execute(
                "INSERT INTO generation (n, fingerprint) VALUES (?, ?)", (n, _text(fingerprint))
            )
            dialect.make_vectors(connection, n, fingerprint.dim)
    return n


@dataclass(frozen=True, slots=True)
class _Filling:
    """Embeds what a generation lacks."""

    database: Transactions
    dialect: Dialect
    n: int
    embedder: Embedder

    def fill(self, progress: Callable[[int, int], None]) -> None:
        """Go once over all texts."""
        last = done = 0
        pace = Pace(0.5, SMALLEST, LARGEST_SLICE)
        with self.database.reading() as connection:
            total = _lacking(connection, self.n)
        while rows := self._next(last, pace.size):
            with pace.measured(len(rows)):
                made = embedded(self.embedder, [text for _, _, text in rows])
            # By the hash that is stored: a database may hold a text a little otherwise.
            vectors = {key: made[hash_of(text)] for _, key, text in rows}
            with self.database.writing() as connection:
                _table(connection, self.n)
                self.dialect.put_vectors(connection, self.n, vectors)
            last = rows[-1][0]
            done += len(rows)
            progress(done, max(done, total))

    def _next(self, last: int, size: int) -> list[Any]:
        with self.database.reading() as connection:
            return fetched(
                connection,
                f"SELECT n, hash, text FROM passage WHERE n > ? AND n NOT IN"
                f" (SELECT passage FROM {_table(connection, self.n)}) ORDER BY n LIMIT ?",
                (last, size),
            )


def taken_over(database: Transactions, dialect: Dialect, n: int) -> bool:
    """Let a generation answer if it is complete, and drop the others."""
    with database.writing() as connection:
        table = _table(connection, n)
        if connection.execute(
            f"SELECT 1 FROM passage WHERE n NOT IN (SELECT passage FROM {table}) LIMIT 1"
        ).fetchone():
            return False
        for other in generations(connection):
            if other != n:
                _drop(connection, dialect, other)
        say(connection, "generation", n)
        say(connection, _EMBEDDER, None)
        changed(connection)
    return True


def _drop(connection: Database, dialect: Dialect, n: int) -> None:
    dialect.drop_vectors(connection, n)
    connection.execute("DELETE FROM generation WHERE n = ?", (n,))


def _table(connection: Database, n: int) -> str:
    """Return the table of a generation; another process may have finished another one."""
    if n not in generations(connection):
        raise RetrievalError(
            "another process has given this collection another embedder meanwhile",
            "Decide on one of them, then add again: %rag add PATH --embedder NAME",
        )
    return f"vectors_{n}"


def _lacking(connection: Database, n: int) -> int:
    row = first(
        connection, f"SELECT count(*) FROM passage WHERE n NOT IN (SELECT passage FROM vectors_{n})"
    )
    return int(row[0])


def _fingerprint(connection: Database, n: int) -> Fingerprint:
    row = first(connection, "SELECT fingerprint FROM generation WHERE n = ?", (n,))
    return Fingerprint(**json.loads(row[0]))


def _text(fingerprint: Fingerprint) -> str:
    return json.dumps({name: getattr(fingerprint, name) for name in fingerprint.__slots__})
