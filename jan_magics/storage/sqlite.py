"""The default Store: one SQLite file. Several kernels may use it at the same time."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import apsw

from jan_magics.domain.errors import MessageNotFound, ThreadNotFound
from jan_magics.domain.messages import UNLINKED, Json, Message, Thread
from jan_magics.domain.protocols import ThreadRow
from jan_magics.storage.changes import changed_thread, one_thread
from jan_magics.storage.codec import (
    EPOCH,
    canonical,
    decode_message,
    encode_message,
    parse,
    to_milliseconds,
)
from jan_magics.storage.connections import Connections
from jan_magics.storage.names import check_thread_id

_LIST: Final = """
    SELECT id, created_at, updated_at, data, messages, leaves FROM thread
    WHERE deleted_at IS NULL ORDER BY updated_at DESC, n DESC
"""
_ONE: Final = """
    SELECT id, created_at, updated_at, data FROM thread WHERE id = ? AND deleted_at IS NULL
"""
_LEAVES: Final = """
    SELECT count(*) FROM message AS leaf
    WHERE thread = :thread AND id IN (:id, :parent, :before) AND linked
    AND NOT EXISTS (SELECT 1 FROM message WHERE thread = :thread AND parent = leaf.id)
"""


class SqliteStore:
    """Threads and messages in a SQLite file; the constructor touches nothing."""

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        self._connections = Connections(path)
        self._clock = clock
        self._listed: dict[tuple[Any, ...], ThreadRow] = {}

    def threads(self) -> Sequence[ThreadRow]:
        """List threads, the newest first, without the deleted ones."""
        with self._connections.reading() as connection:
            rows = connection.execute(_LIST).fetchall()
        # Reading a row costs five times as much as seeing that it is still the same.
        known = self._listed
        new = [row for row in rows if row not in known]
        made = dict(zip(new, map(_row, new, _parsed([row[3] for row in new])), strict=True))
        self._listed = {row: known.get(row) or made[row] for row in rows}
        return list(self._listed.values())

    def thread(self, thread_id: str) -> Thread:
        """Return one thread. Raises ThreadNotFound."""
        with self._connections.reading() as connection:
            return _live(connection, thread_id)

    def create_thread(self, thread: Thread) -> None:
        """Write a new thread; an id that exists already is left as it is."""
        check_thread_id(thread.id)
        with self._connections.writing() as connection:
            connection.execute(
                "INSERT INTO thread (id, title, created_at, updated_at, data)"
                " VALUES (:id, :title, :created, :updated, :data) ON CONFLICT (id) DO NOTHING",
                _columns(thread),
            )

    def update_thread(
        self,
        thread_id: str,
        *,
        title: str | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> None:
        """Change the title, merge metadata (a None value removes its key)."""
        with self._connections.writing() as connection:
            thread = _live(connection, thread_id)
            changed = changed_thread(thread, title, metadata)
            if changed != thread:
                connection.execute(
                    "UPDATE thread SET title = :title, updated_at = :updated, data = :data"
                    " WHERE id = :id",
                    _columns(replace(changed, updated_at=self._clock())),
                )

    def delete_thread(self, thread_id: str) -> None:
        """Move a thread to the bin; an absent one is no error."""
        with self._connections.writing() as connection:
            connection.execute(
                "UPDATE thread SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL",
                (to_milliseconds(self._clock()), _column(thread_id)),
            )

    def restore_thread(self, thread_id: str) -> None:
        """Bring a thread back from the bin."""
        with self._connections.writing() as connection:
            connection.execute(
                "UPDATE thread SET deleted_at = NULL WHERE id = ?", (_column(thread_id),)
            )
            if not connection.changes():
                raise ThreadNotFound(thread_id)

    def messages(self, thread_id: str) -> Sequence[Message]:
        """Return all messages of a thread in the order of writing."""
        with self._connections.reading() as connection:
            n = _live_number(connection, thread_id)
            rows = connection.execute("SELECT data FROM message WHERE thread = ? ORDER BY n", (n,))
            texts = [str(data) for (data,) in rows]
        return [decode_message(parse(text)) for text in texts]

    def create(self, message: Message) -> None:
        """Write a new message; an id that exists already is left as it is."""
        self._write((message,), replacing=False)

    def save(self, *messages: Message) -> None:
        """Write the newest state of messages of one thread in one transaction."""
        if messages:
            self._write(messages, replacing=True)

    def delete(self, thread_id: str, message_id: str) -> None:
        """Delete a message for good; a late save does not bring it back."""
        with self._connections.writing() as connection:
            n = _live_number(connection, thread_id)
            change = _remove(connection, n, message_id)
            connection.execute(
                "INSERT OR IGNORE INTO tombstone (thread, id) VALUES (?, ?)",
                (n, _column(message_id)),
            )
            self._count(connection, n, change)

    def close(self) -> None:
        """Close all connections; a later call opens them again."""
        self._connections.close()
        self._listed = {}

    def _write(self, messages: Sequence[Message], *, replacing: bool) -> None:
        thread_id = one_thread(messages)
        with self._connections.writing() as connection:
            n = _live_number(connection, thread_id)
            changes = [_put(connection, n, message, replacing=replacing) for message in messages]
            made = [change for change in changes if change is not None]
            if made:
                self._count(connection, n, (sum(m for m, _ in made), sum(b for _, b in made)))

    def _count(self, connection: apsw.Connection, n: int, change: tuple[int, int]) -> None:
        connection.execute(
            "UPDATE thread SET messages = messages + ?, leaves = leaves + ?, updated_at = ?"
            " WHERE n = ?",
            (*change, to_milliseconds(self._clock()), n),
        )


def _parsed(texts: Sequence[Any]) -> list[Json]:
    """Read many JSON texts at once, which takes half the time; None for one that is damaged."""
    with suppress(ValueError):
        values = parse(f"[{','.join(texts)}]")
        if isinstance(values, list) and len(values) == len(texts):
            return values
    return [_parsed_one(text) for text in texts]


def _parsed_one(text: str) -> Json:
    try:
        return parse(text)
    except ValueError:
        return None


def _row(row: Sequence[Any], record: Json) -> ThreadRow:
    messages, leaves = row[4], row[5]
    thread = _thread(row, record)
    if type(record) is list:
        return ThreadRow(thread, messages, max(1, leaves) if messages else 0)
    return ThreadRow(thread, messages, max(1, leaves) if messages else 0, "its record is damaged")


def _thread(row: Sequence[Any], record: Any) -> Thread:
    title, metadata, extra = record if type(record) is list else (row[0], {}, {})
    # Ten thousand of these make the list of threads, so nothing is checked that we wrote.
    created, updated = EPOCH + timedelta(0, 0, 0, row[1]), EPOCH + timedelta(0, 0, 0, row[2])
    return Thread(row[0], title, created, updated, metadata, extra)


def _columns(thread: Thread) -> dict[str, str | int]:
    return {
        "id": thread.id,
        "title": _column(thread.title),
        "created": to_milliseconds(thread.created_at),
        "updated": to_milliseconds(thread.updated_at),
        "data": canonical([thread.title, dict(thread.metadata), dict(thread.extra)]),
    }


def _live(connection: apsw.Connection, thread_id: str) -> Thread:
    row = connection.execute(_ONE, (_column(thread_id),)).fetchone()
    if row is None:
        raise ThreadNotFound(thread_id)
    return _thread(row, _parsed_one(str(row[3])))


def _live_number(connection: apsw.Connection, thread_id: str) -> int:
    found = connection.execute(
        "SELECT n FROM thread WHERE id = ? AND deleted_at IS NULL", (_column(thread_id),)
    ).fetchone()
    if found is None:
        raise ThreadNotFound(thread_id)
    return int(found[0])


def _put(
    connection: apsw.Connection, thread: int, message: Message, *, replacing: bool
) -> tuple[int, int] | None:
    """Write a message and return how many messages and leaves came to be; None: no change."""
    identity = (thread, _column(message.id))
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
        "parent": parent and _column(parent),
        "before": stored and stored[1],
    }
    leaves = _leaves(connection, touched)
    connection.execute(
        "INSERT INTO message (thread, id, linked, parent, data)"
        " VALUES (:thread, :id, :linked, :parent, :data) ON CONFLICT (thread, id)"
        " DO UPDATE SET linked = excluded.linked, parent = excluded.parent, data = excluded.data",
        {**touched, "linked": message.parent_id is not UNLINKED, "data": data},
    )
    return int(stored is None), _leaves(connection, touched) - leaves


def _remove(connection: apsw.Connection, thread: int, message_id: str) -> tuple[int, int]:
    identity = (thread, _column(message_id))
    stored = connection.execute(
        "SELECT parent FROM message WHERE thread = ? AND id = ?", identity
    ).fetchone()
    if stored is None:
        raise MessageNotFound(message_id)
    touched = {"thread": thread, "id": identity[1], "parent": stored[0], "before": None}
    leaves = _leaves(connection, touched)
    connection.execute("DELETE FROM message WHERE thread = ? AND id = ?", identity)
    return -1, _leaves(connection, touched) - leaves


def _is_deleted(connection: apsw.Connection, identity: tuple[int, str]) -> bool:
    found = connection.execute("SELECT 1 FROM tombstone WHERE thread = ? AND id = ?", identity)
    return found.fetchone() is not None


def _leaves(connection: apsw.Connection, touched: Mapping[str, int | str | None]) -> int:
    """Count the leaves among a message, its parent and its parent before the change."""
    found = connection.execute(_LEAVES, dict(touched)).fetchone()
    return int(found[0]) if found else 0


def _column(text: str) -> str:
    # SQLite takes valid Unicode only; the true text is in the data, whatever it holds.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
