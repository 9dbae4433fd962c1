"""The tables of the search index; each writing function is given an open transaction.

The number of a message grows with its time, so the newest matches come first without sorting.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, Final

import apsw

from jan_magics.domain.legacy import words_of
from jan_magics.domain.messages import Message, Role
from jan_magics.domain.segmentation import Phrase, index_words
from jan_magics.storage.codec import to_milliseconds
from jan_magics.storage.thread_rows import column

VERSION: Final = 1
CANDIDATES: Final = 1000
"""Of more matches than these, the oldest are not ranked."""
_A_MOMENT: Final = 1 << 21
_FARTHEST: Final = 1 << 41

# Only words separated by blanks are written, so the simplest tokenizer is the right one.
LAYOUT: Final = """
    DROP TABLE IF EXISTS thread;
    DROP TABLE IF EXISTS message;
    DROP TABLE IF EXISTS words;
    CREATE TABLE thread (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL);
    CREATE TABLE message (
        n INTEGER PRIMARY KEY,
        thread INTEGER NOT NULL,
        id TEXT NOT NULL,
        role TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        on_path INTEGER NOT NULL,
        text TEXT NOT NULL
    );
    CREATE INDEX message_thread ON message (thread);
    CREATE VIRTUAL TABLE words USING fts5 (
        body, content = '', contentless_delete = 1, tokenize = 'ascii'
    );
"""
_RANKED: Final = """
    SELECT thread.id, message.id, role, created_at, on_path, text FROM (
        SELECT rowid AS n, bm25(words) AS score FROM words
        WHERE words MATCH :query ORDER BY rowid DESC LIMIT :candidates
    ) AS hit
    JOIN message ON message.n = hit.n JOIN thread ON thread.n = message.thread
    ORDER BY score, hit.n DESC LIMIT :limit
"""
_RANKED_IN_THREAD: Final = """
    SELECT thread.id, message.id, role, created_at, on_path, text FROM (
        SELECT rowid AS n, bm25(words) AS score FROM words
        WHERE words MATCH :query AND rowid IN (SELECT n FROM message WHERE thread = :thread)
        ORDER BY rowid DESC LIMIT :candidates
    ) AS hit
    JOIN message ON message.n = hit.n JOIN thread ON thread.n = message.thread
    ORDER BY score, hit.n DESC LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message of the index."""

    thread: str
    id: str
    role: Role
    created_at: int
    on_path: bool
    text: str


def known_threads(connection: apsw.Connection) -> dict[str, str]:
    """Return the threads of the index, and the stamps they had."""
    return {str(i): str(stamp) for i, stamp in connection.execute("SELECT id, stamp FROM thread")}


def thread_number(connection: apsw.Connection, thread_id: str) -> int | None:
    """Return the number of a thread in the index, None where it is not there."""
    found = connection.execute("SELECT n FROM thread WHERE id = ?", (column(thread_id),)).fetchone()
    return None if found is None else int(found[0])


def put_thread(
    connection: apsw.Connection,
    thread_id: str,
    messages: Sequence[Message],
    on_path: Container[str],
    stamp: str,
) -> None:
    """Bring a thread to its newest state: only messages that changed are written anew."""
    identity = column(thread_id)
    connection.execute(
        "INSERT INTO thread (id, stamp) VALUES (?, ?)"
        " ON CONFLICT (id) DO UPDATE SET stamp = excluded.stamp",
        (identity, stamp),
    )
    n = thread_number(connection, identity)
    rows = connection.execute(
        "SELECT n, id, role, created_at, on_path, text FROM message WHERE thread = ?", (n,)
    )
    old = {tuple(row[i] for i in (1, 2, 3, 5)): (row[0], bool(row[4])) for row in map(tuple, rows)}
    new = []
    for message in messages:
        if not (words := words_of(message)).strip():
            continue
        row = (column(message.id), message.role, to_milliseconds(message.created_at), column(words))
        place = old.pop(row, None)
        if place is None:
            new.append((row, message.id in on_path))
        elif place[1] != (message.id in on_path):
            connection.execute("UPDATE message SET on_path = NOT on_path WHERE n = ?", place[:1])
    _forget(connection, [place for place, _ in old.values()])
    for row, active in new:
        _add(connection, n, row, on_path=active)


def drop_thread(connection: apsw.Connection, thread_id: str) -> None:
    """Forget a thread."""
    n = thread_number(connection, thread_id)
    rows = connection.execute("SELECT n FROM message WHERE thread = ?", (n,)).fetchall()
    _forget(connection, [n for (n,) in rows])
    connection.execute("DELETE FROM thread WHERE n = ?", (n,))


def ranked(
    connection: apsw.Connection, phrases: Sequence[Phrase], thread: int | None, limit: int
) -> list[Hit]:
    """Return messages that have all phrases, the best first; of equals the newer one first."""
    bindings = {"query": _match(phrases), "limit": limit, "candidates": max(limit, CANDIDATES)}
    rows = (
        connection.execute(_RANKED, bindings)
        if thread is None
        else connection.execute(_RANKED_IN_THREAD, {**bindings, "thread": thread})
    )
    return [
        Hit(str(row[0]), str(row[1]), row[2], int(row[3]), bool(row[4]), str(row[5]))
        for row in rows
    ]


def _match(phrases: Sequence[Phrase]) -> str:
    # Quoted, every word is a word: FTS5 sees no operator of its own.
    terms = (f'"{" ".join(phrase.words)}"{" *" if phrase.open else ""}' for phrase in phrases)
    return " AND ".join(terms)


def _add(
    connection: apsw.Connection,
    thread: int | None,
    row: tuple[str, str, int, str],
    *,
    on_path: bool,
) -> None:
    identity, role, created, text = row
    moment = max(-_FARTHEST, min(created, _FARTHEST)) * _A_MOMENT
    last = connection.execute(
        "SELECT max(n) FROM message WHERE n BETWEEN ? AND ?", (moment, moment + _A_MOMENT - 1)
    ).fetchone()
    n = moment if last is None or last[0] is None else int(last[0]) + 1
    connection.execute(
        "INSERT INTO message (n, thread, id, role, created_at, on_path, text)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (n, thread, identity, role, created, on_path, text),
    )
    connection.execute(
        "INSERT INTO words (rowid, body) VALUES (?, ?)", (n, " ".join(index_words(text)))
    )


def _forget(connection: apsw.Connection, numbers: Sequence[Any]) -> None:
    rows = [(n,) for n in numbers]
    connection.executemany("DELETE FROM words WHERE rowid = ?", rows)
    connection.executemany("DELETE FROM message WHERE n = ?", rows)
