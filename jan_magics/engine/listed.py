"""A collection as it is listed: its file, its name, whose it is; and the error of a missing one."""

import difflib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import CollectionNotFound, RetrievalError
from jan_magics.engine.naming import plain_name
from jan_magics.storage.postgres_url import PostgresUrl

SUFFIX: Final = ".db"
NOTEBOOK: Final = "notebook:"
THREAD: Final = "thread:"
PROJECT: Final = "project:"
FILE: Final = "file"
"""The owner of a collection that was named by its path."""
SERVER: Final = "server"
"""The owner of a collection that was named by its address."""
_ENDS: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite keeps beside a file while it is open; all of it is the collection."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A collection's file, name and owner; `fault` says why it cannot be read.

    The owner is `notebook:PATH`, `thread:ID`, `project:NAME`, `file`, `server`, or "" for a shared
    one. One on a server has a `url`, and its path only tells it from others.
    """

    path: Path
    name: str
    owner: str = ""
    fault: str | None = None
    url: PostgresUrl | None = None

    @property
    def base(self) -> Path | None:
        """Return the folder that sources below it are named relative to."""
        if self.owner.startswith(NOTEBOOK):
            return Path(self.owner.removeprefix(NOTEBOOK)).parent
        return self.path.parent if self.owner == FILE else None

    @property
    def address(self) -> str:
        """Return what it is found by again: its path where it was named by that, else its name."""
        return str(self.path) if self.owner == FILE else self.name

    @property
    def size(self) -> int:
        """Return the bytes that it takes on the disk, with what is not yet in its file."""
        return sum(map(_size, with_all(self.path)))


def with_all(path: Path) -> list[Path]:
    """Return a collection's file and what SQLite may keep beside it."""
    return [path.with_name(path.name + end) for end in _ENDS]


def is_path(name: str) -> bool:
    """Tell whether a collection is named by its file: with a slash, or ending in `.db`."""
    return "/" in name or os.sep in name or name.endswith(SUFFIX)


def shown_owner(listed: Listed, titles: Callable[[str], str | None] = lambda _: None) -> str:
    """Return an owner as people read it; `titles` gives the title of a thread's id."""
    owner = listed.owner
    if owner.startswith(NOTEBOOK):
        return f"notebook {Path(owner).name}"
    if owner.startswith(THREAD):
        identifier = owner.removeprefix(THREAD)
        return f"thread {titles(identifier) or identifier[:8]}"
    if owner.startswith(PROJECT):
        return f"project {owner.removeprefix(PROJECT)}"
    if owner == SERVER:
        return f"server {listed.url}"
    return f"file {listed.path}" if owner == FILE else "shared"


def resolved(name: str) -> Path:
    """Return the file that a name with a slash means. Raises RetrievalError."""
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError as fault:
        raise RetrievalError(f"{name!r} names nobody's folder", "Write the whole path.") from fault


def new_file(name: str) -> Path:
    """Return the file of a new collection that is named by its path. Raises RetrievalError."""
    path = resolved(name)
    if path.suffix != SUFFIX:
        raise RetrievalError(
            f"{name!r} is no collection", f"A new file ends in {SUFFIX}: {name}{SUFFIX}"
        )
    return path


def one_called(name: str, listed: Sequence[Listed], owner: str) -> Listed | None:
    """Return the collection of that name, None where there is none.

    A shared one goes before others, then that of the `owner` who asks.

    Raises:
        RetrievalError: when several of others have it.
    """
    found = [each for each in listed if each.name == plain_name(name)]
    shared = [each for each in found if not each.owner]
    meant = shared or [each for each in found if each.owner == owner] or found
    if len(meant) > 1:
        raise RetrievalError(
            f"several collections are called {name!r}",
            f"Name one by its file: -c {meant[0].path}",
        )
    return next(iter(meant), None)


def unreadable(listed: Listed) -> RetrievalError:
    """Return the error for a collection whose file is damaged, or is none."""
    return RetrievalError(
        f"the collection {listed.name!r} cannot be read: {listed.fault}",
        f"Look: %rag doctor   or delete it: %rag delete {listed.name!r}",
    )


def missing(
    name: str | None, listed: Sequence[Listed], binned: Sequence[Listed], *, default: bool
) -> CollectionNotFound:
    """Return the error for a collection that is not there: the nearest name, or the bin.

    `name` None is the own one. Of `binned` all can be brought back. `default`: nobody named it now.
    """
    if binned:
        which = "this notebook's collection" if name is None else f"the collection {name!r}"
        return CollectionNotFound(
            f"{which} is in the bin", f"Bring it back: %rag delete {binned[0].name!r} --off"
        )
    if name is None:
        return CollectionNotFound(
            "this notebook has no collection yet", "Make it of files: %rag add PATH"
        )
    near = difflib.get_close_matches(name, [each.name for each in listed], 1)
    closest = f", closest: {near[0]!r}" if near else ""
    back = "   or take the notebook's own again: %rag use" if default else ""
    return CollectionNotFound(
        f"there is no collection {name!r}{closest}",
        f"List them: %rag collections   or make it: %rag add PATH -c {name!r}{back}",
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # SQLite keeps it only while it needs it
