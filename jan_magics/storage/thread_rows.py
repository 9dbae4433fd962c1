"""Rows of the table `thread` <-> values; each function is given an open transaction."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from jan_magics.domain.errors import ThreadNotFound
from jan_magics.domain.messages import Thread
from jan_magics.domain.protocols import Stamp, ThreadRow
from jan_magics.domain.tree import ACTIVE_ROOT_KEY as ROOT
from jan_magics.storage.codec import EPOCH, MILLISECOND, canonical, to_milliseconds
from jan_magics.storage.database import Database
from jan_magics.storage.json_text import parse_each, parse_or_none

LIST: Final = """
    SELECT id, created_at, updated_at, data, messages, leaves FROM thread
    WHERE deleted_at IS NULL ORDER BY updated_at DESC, n DESC
"""
BINNED: Final = """
    SELECT id, created_at, updated_at, data, messages, leaves FROM thread
    WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC, n DESC
"""
_ONE: Final = """
    SELECT id, created_at, updated_at, data FROM thread WHERE id = ? AND deleted_at IS NULL
"""
_TITLED: Final = """
    SELECT id, created_at, updated_at, data FROM thread WHERE title = ? AND deleted_at IS NULL
    ORDER BY updated_at DESC, n DESC
"""
_STAMP: Final = """
    SELECT n, created_at, changes, data FROM thread WHERE id = ? AND deleted_at IS NULL
"""
_INSERT: Final = """
    INSERT INTO thread (id, title, created_at, updated_at, data)
    VALUES (:id, :title, :created, :updated, :data) ON CONFLICT (id) DO NOTHING
"""
_UPDATE: Final = """
    UPDATE thread SET title = :title, updated_at = :updated, data = :data WHERE id = :id
"""


def read_rows(rows: Sequence[tuple[Any, ...]]) -> list[ThreadRow]:
    """Read rows of a list of threads; a damaged one says so."""
    made: list[ThreadRow] = []
    # Ten thousand of these make the list: one loop, and nothing is checked that we wrote.
    for row, record in zip(rows, parse_each([row[3] for row in rows]), strict=True):
        fault = None if type(record) is list else "its record is damaged"
        messages, leaves = row[4:]
        branches = (leaves or 1) if messages else 0
        thread = _thread(row, record)
        made.append(ThreadRow(thread, messages, branches, fault, damaged=fault is not None))
    return made


def live_thread(connection: Database, thread_id: str) -> Thread:
    """Return a thread that is not in the bin. Raises ThreadNotFound."""
    row = connection.execute(_ONE, (column(thread_id),)).fetchone()
    if row is None:
        raise ThreadNotFound(thread_id)
    return _thread(row, parse_or_none(str(row[3])))


def titled(connection: Database, title: str) -> Thread | None:
    """Return the newest thread of that title that is not in the bin."""
    row = connection.execute(_TITLED, (column(title),)).fetchone()
    return _thread(row, parse_or_none(str(row[3]))) if row else None


def live_number(connection: Database, thread_id: str) -> int:
    """Return the row number of a thread that is not in the bin. Raises ThreadNotFound."""
    found = connection.execute(
        "SELECT n FROM thread WHERE id = ? AND deleted_at IS NULL", (column(thread_id),)
    ).fetchone()
    if found is None:
        raise ThreadNotFound(thread_id)
    return int(found[0])


def add_thread(connection: Database, thread: Thread) -> bool:
    """Write a new thread; tell whether its id was free."""
    connection.execute(_INSERT, _columns(thread))
    return bool(connection.changes())


def change_thread(connection: Database, thread: Thread, now: datetime) -> None:
    """Write a thread's title, metadata and time anew."""
    connection.execute(_UPDATE, _columns(replace(thread, updated_at=now)))


def count(connection: Database, n: int, change: tuple[int, int], now: datetime) -> None:
    """Add to the numbers of messages and leaves; the thread was changed now."""
    connection.execute(
        "UPDATE thread SET messages = messages + ?, leaves = leaves + ?, updated_at = ?,"
        " changes = changes + 1"
        " WHERE n = ?",
        (*change, to_milliseconds(now), n),
    )


def stamp(connection: Database, thread_id: str) -> Stamp:
    """Return what differs after every write into a thread. Raises ThreadNotFound."""
    row = connection.execute(_STAMP, (column(thread_id),)).fetchone()
    if row is None:
        raise ThreadNotFound(thread_id)
    return (*row[:3], _thread((thread_id, 0, 0), parse_or_none(str(row[3]))).metadata.get(ROOT))


def column(text: str) -> str:
    """Return a text for a column, which holds valid Unicode only; the true one is in the data."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _thread(row: Sequence[Any], record: Any) -> Thread:
    title, metadata, extra = record if type(record) is list else (row[0], {}, {})
    times = EPOCH + row[1] * MILLISECOND, EPOCH + row[2] * MILLISECOND
    return Thread(row[0], title, *times, metadata, extra)


def _columns(thread: Thread) -> dict[str, str | int]:
    return {
        "id": thread.id,
        "title": column(thread.title),
        "created": to_milliseconds(thread.created_at),
        "updated": to_milliseconds(thread.updated_at),
        "data": canonical([thread.title, dict(thread.metadata), dict(thread.extra)]),
    }
