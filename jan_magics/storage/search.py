"""Full-text search over all threads, in a file of its own that can be made anew at any time.

It works for every store: what it needs of one are its list of threads and their messages. Before
each search it takes in what has changed since the last one, thread by thread.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

import apsw

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Message, Role, Thread
from jan_magics.domain.overlays import NextRoot, Overlay
from jan_magics.domain.protocols import Store, ThreadRow
from jan_magics.domain.segmentation import Phrase, query_phrases
from jan_magics.domain.snippets import snippet
from jan_magics.domain.tree import ACTIVE_ROOT_KEY, TreeIndex
from jan_magics.storage.codec import from_milliseconds
from jan_magics.storage.connections import PATIENCE, translated
from jan_magics.storage.mounts import network_of
from jan_magics.storage.search_rows import (
    LAYOUT,
    VERSION,
    drop_thread,
    known_threads,
    put_thread,
    ranked,
    thread_number,
)

SHOWN: Final = 50
_SETTLED: Final = 0.05
"""Seconds after which a change of a thread is seen by its time alone."""


@dataclass(frozen=True, slots=True)
class Found:
    """A message that was found; in `snippet` the words that were asked for stand in «…»."""

    thread: Thread
    message_id: str
    role: Role
    created_at: datetime
    snippet: str
    on_path: bool


class Searching(Protocol):
    """What finds messages in the threads of a store."""

    def find(
        self, words: str, *, thread_id: str | None = None, limit: int = SHOWN
    ) -> Sequence[Found]:
        """Return messages that have all words, the best first; any text is a query."""
        ...

    def close(self) -> None:
        """Close what is open; a later search opens it again."""
        ...


class Search:
    """The index of one store. `stamp` tells of changes that a thread's own record does not."""

    def __init__(
        self, path: Path, store: Store, stamp: Callable[[Thread], str] = lambda _: ""
    ) -> None:
        self._path = path
        self._store = store
        self._stamp = stamp
        self._lock = threading.Lock()
        self._held: apsw.Connection | None = None

    def find(
        self, words: str, *, thread_id: str | None = None, limit: int = SHOWN
    ) -> Sequence[Found]:
        """Return messages that have all words, the best first; any text is a query.

        The last word may be the beginning of one; words in quotes stand together. Where very
        many messages fit, the best of the newest are returned.
        """
        phrases = query_phrases(words)
        rows = self._store.threads()
        with self._lock, translated(self._path):
            try:
                return self._found(rows, phrases, thread_id, limit)
            except (apsw.NotADBError, apsw.CorruptError):
                self._start_anew()
                return self._found(rows, phrases, thread_id, limit)

    def close(self) -> None:
        """Close the file; a later search opens it again."""
        with self._lock:
            self._let_go()

    def _found(
        self,
        rows: Sequence[ThreadRow],
        phrases: Sequence[Phrase],
        thread_id: str | None,
        limit: int,
    ) -> Sequence[Found]:
        connection = self._connection()
        self._catch_up(connection, rows)
        if not phrases:
            return []
        n = None if thread_id is None else thread_number(connection, thread_id)
        if thread_id is not None and n is None:
            return []
        threads = {row.thread.id: row.thread for row in rows}
        return [
            Found(
                threads[hit.thread],
                hit.id,
                hit.role,
                from_milliseconds(hit.created_at),
                snippet(hit.text, phrases),
                hit.on_path,
            )
            for hit in ranked(connection, phrases, n, limit)
            if hit.thread in threads
        ]

    def _catch_up(self, connection: apsw.Connection, rows: Sequence[ThreadRow]) -> None:
        """Take in every thread that has changed, each in a transaction of its own."""
        known = known_threads(connection)
        for row in rows:
            stamp = self._stamp_of(row)
            if known.pop(row.thread.id, None) == stamp:
                continue
            if abs(time.time() - row.thread.updated_at.timestamp()) < _SETTLED:
                stamp = ""  # a second change in this moment would have the same one
            # It may be damaged, or just have gone to the bin: what is known of it stays.
            with suppress(StoreError, ThreadNotFound):
                messages, on_path = read_path(self._store, row.thread)
                with _writing(connection):
                    put_thread(connection, row.thread.id, messages, on_path, stamp)
        if known:
            with _writing(connection):
                for gone in known:
                    drop_thread(connection, gone)

    def _stamp_of(self, row: ThreadRow) -> str:
        thread = row.thread
        changed = thread.updated_at.timestamp()
        return f"{changed} {row.messages} {row.branches} {self._stamp(thread)}"

    def _connection(self) -> apsw.Connection:
        if self._held is None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._held = _opened(str(self._path))
            except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, OSError):
                # A folder that cannot be written to can still be searched, from memory.
                self._held = _opened(":memory:")
        return self._held

    def _start_anew(self) -> None:
        self._let_go()
        for ending in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)

    def _let_go(self) -> None:
        if self._held is not None:
            with suppress(apsw.Error):
                self._held.close()
            self._held = None


def read_path(store: Store, thread: Thread) -> tuple[Sequence[Message], set[str]]:
    """Return the messages of a thread, and the ids of those on its path.

    Raises:
        ThreadNotFound, StoreError: when it has just gone, or cannot be read.
    """
    root = thread.metadata.get(ACTIVE_ROOT_KEY)
    index = TreeIndex(
        store.messages(thread.id),
        active_root_id=root if isinstance(root, str) else None,
        tombstones=store.tombstones(thread.id),
    )
    # A root branch that is about to begin has no message yet.
    path = () if _begins(store.overlays(thread.id)) else index.path()
    return index.messages, {message.id for message in path}


def log_stamp(threads: Path, thread: Thread) -> str:
    """Return the stamp of a log of Jan's, who changes messages without a word in the record."""
    try:
        # A Path for each of many threads would cost more than the search.
        found = os.stat(f"{threads}/{thread.id}/messages.jsonl")  # noqa: PTH116
    except OSError:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _begins(records: Sequence[Overlay]) -> bool:
    roots = [record for record in records if isinstance(record, NextRoot)]
    return bool(roots) and roots[-1].pending


def _opened(path: str) -> apsw.Connection:
    connection = apsw.Connection(path)
    try:
        connection.set_busy_timeout(int(PATIENCE * 1000))
        if str(connection.pragma("user_version")) != str(VERSION):
            network = path != ":memory:" and network_of(Path(path).parent)
            connection.pragma("journal_mode", "delete" if network else "wal")
            with _writing(connection):
                if str(connection.pragma("user_version")) != str(VERSION):
                    connection.execute(LAYOUT)
                    connection.pragma("user_version", VERSION)
        connection.pragma("synchronous", "normal")
        connection.pragma("secure_delete", 1)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _writing(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
