"""What a writer knows of a thread's files without reading them again, while they are the same."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, Parent
from jan_magics.domain.protocols import Stamp
from jan_magics.domain.tree import ACTIVE_ROOT_KEY
from jan_magics.storage.codec import parent_of
from jan_magics.storage.files import Print, print_of, read_at
from jan_magics.storage.folder import Folder
from jan_magics.storage.journal import Journal, merged
from jan_magics.storage.json_text import parse_or_none
from jan_magics.storage.log import Log, Place, message_of

_KEPT: Final = 64
"""Threads whose ids stay in memory."""

Prints: TypeAlias = tuple[Print | None, Print | None]


@dataclass(slots=True)
class Index:
    """The ids of one thread with their links, where their lines are, and what waits."""

    prints: Prints
    parents: dict[str, Parent]
    places: dict[str, Place]
    journal: Journal
    whole: bool

    def stored(self, folder: Folder, message_id: str) -> dict[str, Json] | None:
        """Return a message as it is on the disk, by reading its line only."""
        pending = self.journal.pending.get(message_id)
        if message_id not in self.parents:
            return None
        return self.logged(folder, message_id) if pending is None else pending.value

    def logged(self, folder: Folder, message_id: str) -> dict[str, Json] | None:
        """Return a message as its line in the log says."""
        place = self.places.get(message_id)
        return place and message_of(parse_or_none(read_at(folder.log_path, *place)))


class Indices:
    """The indices of a store's threads, by thread id."""

    def __init__(self) -> None:
        self._indices: dict[str, Index] = {}

    def of(self, folder: Folder) -> Index:
        """Return the index of a thread whose lock is held; damaged lines are set aside first."""
        found = self._indices.get(folder.path.name)
        if found is not None and found.prints == prints_of(folder):
            return found
        log, journal = folder.repaired_log(), folder.journal()
        entries = merged(log, journal)
        _forget_losers(log, journal, entries)
        parents = {key: parent_of(value) for key, (_, value) in entries.items()}
        index = Index(prints_of(folder), parents, dict(log.places), journal, log.whole)
        while len(self._indices) >= _KEPT:
            self._indices.pop(next(iter(self._indices)), None)
        self._indices[folder.path.name] = index
        return index

    def forget(self, thread_id: str) -> None:
        """Forget one thread, whose files were written anew."""
        self._indices.pop(thread_id, None)

    def clear(self) -> None:
        """Forget everything."""
        self._indices.clear()


def prints_of(folder: Folder) -> Prints:
    """Return the fingerprints of the log and of our own records."""
    return print_of(folder.log_path), print_of(folder.records_path)


def stamp_of(folder: Folder) -> Stamp:
    """Return the fingerprints with the active root, which Jan keeps in the thread's own record."""
    root: Json = None
    with suppress(StoreError, ThreadNotFound):
        root = folder.thread().metadata.get(ACTIVE_ROOT_KEY)
    return (*prints_of(folder), root)


def _forget_losers(log: Log, journal: Journal, entries: Mapping[str, object]) -> None:
    """Drop what waits in vain, so that whatever still waits is how its message is."""
    for key in [*journal.pending]:
        valid = entries.get(key)
        if valid is None or valid is log.entries.get(key):
            del journal.pending[key]
