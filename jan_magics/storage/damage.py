"""Damage in rows of threads: finding it, and mending what can be mended."""

import json
from typing import Any, Final

from jan_magics.domain.messages import Json
from jan_magics.domain.tree import TreeIndex
from jan_magics.storage.codec import EPOCH, MILLISECOND, canonical, parse
from jan_magics.storage.content import OWN
from jan_magics.storage.database import Database
from jan_magics.storage.guessing import guessed_thread
from jan_magics.storage.message_rows import (
    add_records,
    add_tombstone,
    read_messages,
    read_records,
    tombstones,
)
from jan_magics.storage.thread_rows import column

_COUNTED: Final = """
    SELECT t.n, t.id, t.messages, t.leaves,
        (SELECT count(*) FROM message WHERE thread = t.n),
        (SELECT count(*) FROM message AS leaf WHERE thread = t.n AND linked AND NOT EXISTS
            (SELECT 1 FROM message WHERE thread = t.n AND parent = leaf.id))
    FROM thread AS t
"""
_BAD: Final = (
    "SELECT thread, thread.id, message.n, message.id, message.data, message.parent"
    " FROM message JOIN thread ON thread.n = message.thread WHERE "
)
_LOOSE: Final = """
    SELECT 1 FROM message AS m WHERE thread = ?1 AND (
        linked AND parent IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM message WHERE thread = ?1 AND id = m.parent)
        OR NOT linked AND EXISTS (SELECT 1 FROM message WHERE thread = ?1 AND linked)
    ) LIMIT 1
"""
"""A message without a usable link in a thread that has links."""


def find(connection: Database, unreadable: str) -> list[str]:
    """Return what is wrong, a line each; `unreadable` is SQL for a message that is no JSON."""
    faults = [f"thread {name}: its record is damaged" for _, name in _bad_threads(connection)]
    bad = _bad(connection, unreadable)
    faults += [f"thread {row[1]}: message {row[3]!r} is damaged" for row in bad]
    faults += [f"thread {name}: its counts are wrong" for _, name in _miscounted(connection)]
    return faults


def mend(connection: Database, unreadable: str) -> list[str]:
    """Mend what can be mended; a damaged message is kept among our own records."""
    done: list[str] = []
    for thread, name, n, identifier, data, parent in _bad(connection, unreadable):
        record: dict[str, Json] = {"type": "damaged", "id": identifier, "text": str(data)}
        add_records(connection, thread, [record])
        connection.execute("DELETE FROM message WHERE n = ?", (n,))
        # What hung below it goes on where it hung itself.
        add_tombstone(connection, thread, str(identifier), parent)
        done.append(f"thread {name}: the damaged message {identifier!r} was set aside")
    for n, name in _bad_threads(connection):
        _rebuild(connection, n)
        done.append(f"thread {name}: its record was made anew from its title and messages")
    for n, name in _miscounted(connection, exact=True):
        recount(connection, n)
        done.append(f"thread {name}: its messages were counted anew")
    return done


def recount(connection: Database, thread: int) -> None:
    """Count the messages and leaves of a thread anew; its time stays."""
    row = connection.execute(f"{_COUNTED} WHERE t.n = ?", (thread,)).fetchone()
    if row is not None:
        connection.execute(
            "UPDATE thread SET messages = ?, leaves = ?, changes = changes + 1 WHERE n = ?",
            (row[4], _leaves(connection, thread, row[5]), thread),
        )


def _is_loose(connection: Database, thread: int) -> bool:
    return connection.execute(_LOOSE, (thread,)).fetchone() is not None


def _leaves(connection: Database, thread: int, counted: int) -> int:
    """Return the leaves as the tree shows them: where a message without a link hangs, it finds."""
    if not _is_loose(connection, thread):
        return counted
    graves = tombstones(connection, thread)
    return TreeIndex(read_messages(connection, thread), tombstones=graves).leaves


def _miscounted(connection: Database, *, exact: bool = False) -> list[tuple[int, str]]:
    """Return the threads whose numbers are wrong.

    The leaves of a loose thread are counted when something hangs loose or is found again. What is
    written in between may move them, which is no damage, and mended all the same: `exact`.
    """
    wrong: list[tuple[int, str]] = []
    rows: list[Any] = connection.execute(_COUNTED).fetchall()
    for n, name, messages, leaves, there, counted in rows:
        counts = leaves != (_leaves(connection, n, counted) if exact else counted)
        if messages != there or (counts and (exact or not _is_loose(connection, n))):
            wrong.append((n, name))
    return wrong


def _rebuild(connection: Database, n: int) -> None:
    """Write a thread's record anew from what its title, its messages and our records say."""
    wanted = "SELECT id, title, updated_at, data FROM thread WHERE n = ?"
    rows: list[Any] = connection.execute(wanted, (n,)).fetchall()
    name, title, updated, data = rows[0]
    thread = guessed_thread(
        str(name),
        f'{{"title": {json.dumps(title)}, {data}',
        read_messages(connection, n),
        read_records(connection, n),
        changed=EPOCH + updated * MILLISECOND,
        taken=_notebooks(connection),
    )
    record = canonical([thread.title, dict(thread.metadata), {}])
    connection.execute(
        "UPDATE thread SET title = ?, data = ? WHERE n = ?", (column(thread.title), record, n)
    )


def _notebooks(connection: Database) -> set[str]:
    """Return the notebooks that have a thread of their own."""
    rows = connection.execute("SELECT data FROM thread WHERE deleted_at IS NULL").fetchall()
    records = [record for (data,) in rows if isinstance(record := _parsed(data), list)]
    known = [each[1].get(OWN) for each in records if len(each) == 3 and isinstance(each[1], dict)]
    mine = (each for each in known if isinstance(each, dict) and each.get("cells"))
    return {str(each.get("notebook")) for each in mine}


def _bad_threads(connection: Database) -> list[tuple[int, str]]:
    rows: list[Any] = connection.execute("SELECT n, id, data FROM thread").fetchall()
    return [(n, name) for n, name, data in rows if not _is_record(data)]


def _is_record(data: Any) -> bool:
    record = _parsed(data)
    return isinstance(record, list) and len(record) == 3


def _parsed(data: Any) -> Json:
    try:
        return parse(data)
    except (TypeError, ValueError):
        return None


def _bad(connection: Database, unreadable: str) -> list[tuple[Any, ...]]:
    """Return the messages that cannot be read: thread, its id, row, id, data, parent."""
    rows = connection.execute(_BAD + unreadable)
    # What is nested too deeply for a database may be read by us.
    return [row for row in rows.fetchall() if _parsed(row[4]) is None]
