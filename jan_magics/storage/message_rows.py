"""Rows of messages, tombstones and our own records; each function is given a transaction."""

from collections.abc import Iterable, Mapping
from typing import Final

from jan_magics.domain.messages import UNLINKED, Json, Message
from jan_magics.storage.codec import canonical, decode_message, encode_message, parse
from jan_magics.storage.database import Database
from jan_magics.storage.json_text import parse_each
from jan_magics.storage.log import message_of
from jan_magics.storage.thread_rows import column

_LEAVES: Final = """
    SELECT count(*) FROM message AS leaf
    WHERE thread = :thread AND id IN (:id, :parent, :before) AND linked
    AND NOT EXISTS (SELECT 1 FROM message WHERE thread = :thread AND parent = leaf.id)
"""
_PUT: Final = """
    INSERT INTO message (thread, id, linked, parent, data)
    VALUES (:thread, :id, :linked, :parent, :data) ON CONFLICT (thread, id)
    DO UPDATE SET linked = excluded.linked, parent = excluded.parent, data = excluded.data
"""


def read_messages(connection: Database, thread: int) -> list[Message]:
    """Return the messages of a thread in the order of writing; a damaged one is left out."""
    rows = connection.execute(
        "SELECT data FROM message WHERE thread = ? ORDER BY n", (thread,)
    ).fetchall()
    # What is None here was damaged on the disk, which `check` says.
    found = parse_each([str(data) for (data,) in rows])
    return [decode_message(raw) for raw in found if message_of(raw) is not None]


def put(
    connection: Database, thread: int, message: Message, *, replacing: bool = True
) -> tuple[int, int] | None:
    """Write a message and return how many messages and leaves came to be; None: no change."""
    identity = (thread, column(message.id))
    stored = connection.execute(
        "SELECT data, parent FROM message WHERE thread = ? AND id = ?", identity
    ).fetchone()
    data = canonical(encode_message(message))
    if stored is not None and (not replacing or stored[0] == data):
        return None
    if stored is None and _is_deleted(connection, identity):
        return None
    parent = None if message.parent_id is UNLINKED else message.parent_id
    touched = {
        "thread": thread,
        "id": identity[1],
        "parent": parent and column(parent),
        "before": stored and stored[1],
    }
    leaves = _leaves(connection, touched)
    connection.execute(_PUT, {**touched, "linked": message.parent_id is not UNLINKED, "data": data})
    return int(stored is None), _leaves(connection, touched) - leaves


def is_awaited(connection: Database, thread: int, message: Message) -> bool:
    """Tell whether a message that is not there yet has children already."""
    identity = (thread, column(message.id))
    rows = connection.execute(
        "SELECT 1 FROM message WHERE thread = ?1 AND parent = ?2"
        " AND NOT EXISTS (SELECT 1 FROM message WHERE thread = ?1 AND id = ?2) LIMIT 1",
        identity,
    )
    return rows.fetchone() is not None


def any_orphan(connection: Database, thread: int, messages: Iterable[Message]) -> bool:
    """Tell whether a message names a parent that is not there."""
    parents = {message.parent_id for message in messages}
    there = "SELECT 1 FROM message WHERE thread = ? AND id = ?"
    return any(
        connection.execute(there, (thread, column(parent))).fetchone() is None
        for parent in parents
        if isinstance(parent, str)
    )


def bury(connection: Database, thread: int, message_id: str) -> tuple[int, int] | None:
    """Delete a message, leaving a tombstone; None where there is no such message."""
    identity = (thread, column(message_id))
    stored = connection.execute(
        "SELECT parent, data FROM message WHERE thread = ? AND id = ?", identity
    ).fetchone()
    if stored is None:
        return None
    touched = {"thread": thread, "id": identity[1], "parent": stored[0], "before": None}
    leaves = _leaves(connection, touched)
    connection.execute("DELETE FROM message WHERE thread = ? AND id = ?", identity)
    add_tombstone(connection, thread, message_id, _parent(str(stored[1])))
    return -1, _leaves(connection, touched) - leaves


def add_tombstone(connection: Database, thread: int, message_id: str, parent: str | None) -> None:
    """Remember that a message was deleted, and where it hung."""
    connection.execute(
        "INSERT INTO tombstone (thread, id, data) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (thread, column(message_id), canonical([message_id, parent])),
    )


def lift(connection: Database, thread: int, messages: Iterable[Message]) -> None:
    """Forget that messages were deleted, so that they can come back."""
    names = [(thread, column(message.id)) for message in messages]
    connection.executemany("DELETE FROM tombstone WHERE thread = ? AND id = ?", names)


def tombstones(connection: Database, thread: int) -> dict[str, str | None]:
    """Return the ids of deleted messages with their parents."""
    rows = connection.execute("SELECT id, data FROM tombstone WHERE thread = ?", (thread,))
    found: dict[str, str | None] = {}
    for identifier, data in rows.fetchall():
        pair = parse(str(data)) if data else None
        name, parent = pair if isinstance(pair, list) else (identifier, None)
        found[str(name)] = parent if isinstance(parent, str) else None
    return found


def add_records(connection: Database, thread: int, records: Iterable[Mapping[str, Json]]) -> None:
    """Append records of ours, of whatever kind."""
    rows = [(thread, canonical(dict(record))) for record in records]
    connection.executemany("INSERT INTO overlay (thread, data) VALUES (?, ?)", rows)


def read_records(connection: Database, thread: int) -> list[Json]:
    """Return our own records of a thread in the order of writing."""
    rows = connection.execute("SELECT data FROM overlay WHERE thread = ? ORDER BY n", (thread,))
    return [parse(str(data)) for (data,) in rows.fetchall()]


def _parent(data: str) -> str | None:
    raw = parse(data)
    metadata = raw.get("metadata") if isinstance(raw, dict) else None
    parent = metadata.get("parentId") if isinstance(metadata, dict) else None
    return parent if isinstance(parent, str) else None


def _is_deleted(connection: Database, identity: tuple[int, str]) -> bool:
    found = connection.execute("SELECT 1 FROM tombstone WHERE thread = ? AND id = ?", identity)
    return found.fetchone() is not None


def _leaves(connection: Database, touched: Mapping[str, int | str | None]) -> int:
    """Count the leaves among a message, its parent and its parent before the change."""
    found = connection.execute(_LEAVES, dict(touched)).fetchone()
    return int(found[0]) if found else 0
