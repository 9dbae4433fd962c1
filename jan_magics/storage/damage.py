"""Damage in a SQLite store: finding it, and mending what can be mended."""

from typing import Any, Final

import apsw

from jan_magics.domain.messages import Json
from jan_magics.storage.codec import parse
from jan_magics.storage.message_rows import add_records

_COUNTED: Final = """
    SELECT t.n, t.id, t.messages, t.leaves,
        (SELECT count(*) FROM message WHERE thread = t.n),
        (SELECT count(*) FROM message AS leaf WHERE thread = t.n AND linked AND NOT EXISTS
            (SELECT 1 FROM message WHERE thread = t.n AND parent = leaf.id))
    FROM thread AS t
"""


def find(connection: apsw.Connection) -> list[str]:
    """Return what is wrong, a line each."""
    lines = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(20)")]
    faults = [f"the database is damaged: {line}" for line in lines if line != "ok"]
    orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    faults += [f"a row of {table} belongs to no thread" for table, *_ in orphans]
    faults += [f"thread {name}: its record is damaged" for _, name in _bad_threads(connection)]
    faults += [f"thread {row[1]}: message {row[3]!r} is damaged" for row in _bad(connection)]
    faults += [f"thread {name}: its counts are wrong" for _, name in _miscounted(connection)]
    return faults


def mend(connection: apsw.Connection) -> list[str]:
    """Mend what can be mended; a damaged message is kept among our own records."""
    done: list[str] = []
    for n, name in _bad_threads(connection):
        connection.execute(
            "UPDATE thread SET data = json_array(title, json('{}'), json('{}')) WHERE n = ?", (n,)
        )
        done.append(f"thread {name}: its record was made anew from its title")
    for thread, name, n, identifier, data in _bad(connection):
        record: dict[str, Json] = {"type": "damaged", "id": identifier, "text": str(data)}
        add_records(connection, thread, [record])
        connection.execute("DELETE FROM message WHERE n = ?", (n,))
        done.append(f"thread {name}: the damaged message {identifier!r} was set aside")
    for n, name in _miscounted(connection):
        recount(connection, n)
        done.append(f"thread {name}: its messages were counted anew")
    if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
        connection.execute("REINDEX")
        done.append("the indexes were made anew")
    return done


def recount(connection: apsw.Connection, thread: int) -> None:
    """Count the messages and leaves of a thread anew; its time stays."""
    row = connection.execute(f"{_COUNTED} WHERE t.n = ?", (thread,)).fetchone()
    if row is not None:
        connection.execute(
            "UPDATE thread SET messages = ?, leaves = ?, changes = changes + 1 WHERE n = ?",
            (row[4], row[5], thread),
        )


def _miscounted(connection: apsw.Connection) -> list[tuple[int, str]]:
    rows: list[Any] = connection.execute(_COUNTED).fetchall()
    return [(n, name) for n, name, *counts in rows if counts[:2] != counts[2:]]


def _bad_threads(connection: apsw.Connection) -> list[tuple[int, str]]:
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


def _bad(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    """Return the messages that cannot be read: thread, its id, row, id, data."""
    rows = connection.execute(
        "SELECT thread, thread.id, message.n, message.id, message.data"
        " FROM message JOIN thread ON thread.n = message.thread WHERE NOT json_valid(message.data)"
    )
    # SQLite cannot read what is nested deeper than a thousand levels; we may.
    return [row for row in rows.fetchall() if _parsed(row[4]) is None]
