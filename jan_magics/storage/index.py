"""What is known of a thread's files without reading them again, as long as they are the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from jan_magics.domain.messages import Parent
from jan_magics.storage.changes import count_branches
from jan_magics.storage.codec import parent_of
from jan_magics.storage.files import Print, print_of
from jan_magics.storage.folder import Folder
from jan_magics.storage.log import Log

_KEPT: Final = 64
"""Threads whose ids stay in memory; of all others only the counts do."""

Prints: TypeAlias = tuple[Print | None, Print | None]


@dataclass(slots=True)
class Index:
    """The ids of one log with their links, and the deleted ids. Kept up to date by the writer."""

    prints: Prints
    parents: dict[str, Parent]
    gone: dict[str, str | None]
    whole: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """What the list of threads says about one log."""

    messages: int
    branches: int
    damaged: int


class Indices:
    """The indices of a store's threads, by thread id."""

    def __init__(self) -> None:
        self._indices: dict[str, Index] = {}
        self._counts: dict[str, tuple[Prints, Counts]] = {}

    def of(self, folder: Folder) -> Index:
        """Return the index of a thread whose lock is held; damaged lines are set aside first."""
        found = self._indices.get(folder.path.name)
        if found is not None and found.prints == prints_of(folder):
            return found
        log, gone = folder.repaired_log(), folder.tombstones()
        index = Index(prints_of(folder), _parents(log, gone), gone, log.whole)
        while len(self._indices) >= _KEPT:
            self._indices.pop(next(iter(self._indices)), None)
        self._indices[folder.path.name] = index
        return index

    def counts(self, folder: Folder) -> Counts:
        """Count messages and branches; needs no lock and repairs nothing."""
        prints = prints_of(folder)
        known = self._counts.get(folder.path.name)
        if known is not None and known[0] == prints:
            return known[1]
        log = folder.log()
        parents = _parents(log, folder.tombstones())
        counts = Counts(len(parents), count_branches(parents), len(log.damaged))
        self._counts[folder.path.name] = (prints, counts)
        return counts

    def clear(self) -> None:
        """Forget everything."""
        self._indices.clear()
        self._counts.clear()


def prints_of(folder: Folder) -> Prints:
    """Return the fingerprints of the log and of our own records."""
    return print_of(folder.log_path), print_of(folder.records_path)


def _parents(log: Log, gone: dict[str, str | None]) -> dict[str, Parent]:
    entries: Mapping[str, Parent] = {
        identity: parent_of(value) for identity, (_, value) in log.entries.items()
    }
    return {identity: parent for identity, parent in entries.items() if identity not in gone}
