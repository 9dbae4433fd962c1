"""The list of threads of the JSONL layout, without reading a file again that is the same.

What was read is kept beside the threads, for the next process: a cache, made anew when damaged.
"""

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, Thread
from jan_magics.domain.protocols import ThreadRow
from jan_magics.domain.tree import TreeIndex
from jan_magics.storage.changes import count_branches, is_loose
from jan_magics.storage.codec import (
    EPOCH,
    MILLISECOND,
    canonical,
    parent_of,
    parse,
    to_milliseconds,
)
from jan_magics.storage.files import Print
from jan_magics.storage.folder import Folder
from jan_magics.storage.guessing import guessed_thread
from jan_magics.storage.journal import Journal, decoded, merged
from jan_magics.storage.log import Entry
from jan_magics.storage.names import is_thread_id

_WORTH: Final = 200
"""Threads that must have been read anew before the cache is written."""
_NEAR: Final = 500
"""Threads at the top of the list whose logs are looked at each time."""
_ALL: Final = 3_000
"""Threads that are few enough for a look at all their logs, once in a process."""
_PARTS: Final = 10
"""Of more threads each process looks at one part of the logs besides, so that none is forgotten."""
_VERSION: Final = 2
_COLUMNS: Final = (
    "name", "record_inode", "record_size", "record_time", "log_inode", "log_size", "log_time",
    "title", "created", "updated", "metadata", "extra", "messages", "branches",
)  # fmt: skip
"""The cache holds a list for each of these: a record for each thread would be read half as fast."""

Prints: TypeAlias = tuple[Print | None, Print | None]


_Known: TypeAlias = tuple[str, Prints, ThreadRow]
"""The path of a thread's own record; when its row was read, the fingerprints of the record and of
the log; and the row."""


@dataclass(frozen=True, slots=True)
class _State:
    """What is known, the rows newest first, and what to look at: paths with their fingerprints."""

    known: Mapping[str, _Known]
    rows: Sequence[ThreadRow]
    paths: Sequence[str]
    records: Sequence[Print | None]

    @classmethod
    def of(cls, known: Mapping[str, _Known], rows: Sequence[ThreadRow]) -> "_State":
        """Collect what to look at."""
        paths = [each[0] for each in known.values()]
        return cls(known, rows, paths, [each[1][0] for each in known.values()])


class Listing:
    """The rows of one folder of threads, the newest first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._base = f"{folder}{os.sep}"
        self._cache = folder.with_name(f"{folder.name}.index.json")
        # Replaced and never changed, since several threads may list.
        self._state: _State | None = None
        self._unsaved = 0

    def rows(self) -> list[ThreadRow]:
        """List the threads; only what changed is read."""
        state = self._state or self._load()
        known = state.known
        changed = self._changed(state, self._near(state))
        gone = {name for name, prints in changed.items() if prints == (None, None)}
        read = {name: read_row(Folder(self._folder / name)) for name in changed.keys() - gone}
        if not read and not gone and len(state.rows) == len(known):
            self._state = state
            return [*state.rows]
        new = {
            name: (self._path(name), changed[name], row)
            for name, row in read.items()
            if row is not None
        }
        moved = read.keys() | gone
        same = {name: each for name, each in known.items() if name not in moved}
        listed = newest_first(each[2] for each in (*same.values(), *new.values()))
        # A row with a fault is read again each time, so that its repair is seen.
        sound = {name: each for name, each in new.items() if each[2].fault is None}
        self._state = _State.of(same | sound, listed)
        self._unsaved += len(sound)
        if self._unsaved >= _WORTH:
            self._save(same | sound)
        return listed.copy()

    def forget(self) -> None:
        """Forget what is in memory."""
        self._state = None

    def _near(self, state: _State) -> Set[str]:
        """Return the threads whose logs are looked at."""
        near = {row.thread.id for row in state.rows[:_NEAR]}
        if self._state is not None:
            return near
        if len(state.known) <= _ALL:
            return state.known.keys()
        return near | {*[*state.known][os.getpid() % _PARTS :: _PARTS]}

    def _changed(self, state: _State, near: Set[str]) -> dict[str, Prints]:
        """Return new fingerprints; logs are looked at only near the top of the list.

        Whoever writes into a log, Jan or we, marks the time in the thread's own record. So an
        older thread whose record is the same has the same log, and half the time is saved.
        """
        known, records = state.known, _prints(state.paths)
        odd: list[str] = []
        if records != state.records:
            pairs = zip(known, records, state.records, strict=True)
            odd = [name for name, now, before in pairs if now != before]
        there = [name for name in known if name in near]
        logs = _prints([f"{self._base}{name}{os.sep}messages.jsonl" for name in there])
        looked = zip(there, logs, strict=True)
        odd += [name for name, log in looked if log != known[name][1][1]]
        changed = {name: (_print(self._path(name)), self._log(name)) for name in odd}
        names = os.listdir(self._folder)  # noqa: PTH208 (a Path for each costs too much)
        for name in set(names) - known.keys():
            prints = _print(self._path(name)), self._log(name)
            if prints != (None, None) and is_thread_id(name):
                changed[name] = prints
        return changed

    def _path(self, name: str) -> str:
        return f"{self._base}{name}{os.sep}thread.json"

    def _log(self, name: str) -> Print | None:
        return _print(f"{self._base}{name}{os.sep}messages.jsonl")

    def _load(self) -> _State:
        try:
            raw: Any = parse(self._cache.read_bytes())
            columns = [raw[name] for name in _COLUMNS] if raw["version"] == _VERSION else []
            known = {
                each[0]: (self._path(each[0]), _prints_of(each), _row_of(each))
                for each in zip(*columns, strict=True)
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return _State({}, [], [], [])
        return _State.of(known, newest_first(each[2] for each in known.values()))

    def _save(self, known: Mapping[str, _Known]) -> None:
        self._unsaved = 0
        rows = [(name, *_fields(prints, row)) for name, (_, prints, row) in known.items()]
        columns: dict[str, Json] = {
            name: [row[n] for row in rows] for n, name in enumerate(_COLUMNS)
        }
        new = self._cache.with_name(f"{self._cache.name}.{os.getpid()}.new")
        # It can be made anew at any time: a disk that is full or closed to us is no fault here.
        with suppress(OSError):
            text = canonical({"version": _VERSION, **columns})
            new.write_text(text, encoding="utf-8")
            new.replace(self._cache)


def read_row(folder: Folder) -> ThreadRow | None:
    """Read what the list says of one thread; None for a folder that is none."""
    log, journal = folder.log(), folder.journal()
    entries = merged(log, journal)
    parents = {key: parent_of(value) for key, (_, value) in entries.items()}
    fault = folder.fault(log, journal)
    try:
        thread, damaged = folder.thread(), False
    except (ThreadNotFound, StoreError) as error:
        if not folder.exists() and not folder.log_path.exists():
            return None
        fault = error.message if folder.exists() else "it has messages but no thread.json"
        thread, damaged = _guessed(folder, entries, journal), True
    branches = count_branches(parents)
    if is_loose(parents):
        # Where a message hangs that has no usable link depends on the times of all of them.
        branches = TreeIndex(decoded(entries, thread.id), tombstones=journal.gone).leaves
    return ThreadRow(thread, len(parents), branches, fault, damaged=damaged)


def _guessed(folder: Folder, entries: Mapping[str, Entry], journal: Journal) -> Thread:
    text, messages = folder.left(), decoded(entries, folder.path.name)
    changed = folder.changed_at()
    return guessed_thread(folder.path.name, text, messages, journal.kept, changed=changed)


def newest_first(rows: Iterable[ThreadRow]) -> list[ThreadRow]:
    """Sort rows by the time of the last change."""
    return sorted(
        rows, key=lambda row: (row.thread.updated_at, row.thread.created_at), reverse=True
    )


def _prints(paths: Sequence[str]) -> list[Print | None]:
    # Ten thousand at a time, so with as little Python as possible.
    with suppress(OSError):
        return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in map(os.stat, paths)]
    return [_print(path) for path in paths]


def _print(path: str) -> Print | None:
    try:
        found = os.stat(path)  # noqa: PTH116 (see above)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _prints_of(fields: tuple[Any, ...]) -> Prints:
    return fields[1:4] if fields[1] else None, fields[4:7] if fields[4] else None


def _row_of(fields: tuple[Any, ...]) -> ThreadRow:
    name, title, created, updated, metadata, extra, messages, branches = fields[0], *fields[7:]
    times = EPOCH + created * MILLISECOND, EPOCH + updated * MILLISECOND
    return ThreadRow(Thread(name, title, *times, metadata, extra), messages, branches)


def _fields(prints: Prints, row: ThreadRow) -> tuple[Json, ...]:
    """Return what is kept of a thread beside its name; a file that is not there has no inode."""
    thread = row.thread
    times = to_milliseconds(thread.created_at), to_milliseconds(thread.updated_at)
    files = [number for found in prints for number in found or (0, 0, 0)]
    kept = (dict(thread.metadata), dict(thread.extra), row.messages, row.branches)
    return (*files, thread.title, *times, *kept)
