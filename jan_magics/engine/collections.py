"""Which collection: by name, by owner, a file of its own, or on a server; and the bin.

A collection belongs to a notebook, a thread or a project, or to nobody in particular and is shared
by its name. Name and owner stand inside its file.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import JanError
from jan_magics.engine.binned import BIN, Bin
from jan_magics.engine.listed import (
    FILE,
    NOTEBOOK,
    PROJECT,
    SUFFIX,
    Listed,
    is_path,
    missing,
    new_file,
    one_called,
    resolved,
    unreadable,
    with_all,
)
from jan_magics.engine.naming import usable_title
from jan_magics.engine.on_servers import OnServers, meant, not_deleted
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.row_collection import RowCollection
from jan_magics.storage.files import translated
from jan_magics.storage.postgres_url import is_postgres

FOLDER: Final = "collections"


@dataclass(slots=True)
class Collections:
    """The collections of a data folder as one kernel sees them; nothing is made before it is used.

    `notebook` returns the path of the running notebook, "" where it is not known, and `former` the
    paths that it had before. `project` and `sqlite_vec` return settings.
    """

    folder: Path
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    notebook: Callable[[], str]
    former: Callable[[], Sequence[str]]
    project: Callable[[], str | None]
    sqlite_vec: Callable[[], str | None] = lambda: None
    default: str | None = None
    _open: dict[tuple[Path, bool], RowCollection] = field(default_factory=dict)
    servers: OnServers = field(init=False)

    def __post_init__(self) -> None:
        self.servers = OnServers(self.now)

    @property
    def bin(self) -> Bin:
        """Return where deleted ones are."""
        return Bin(self.folder, self.told, self.open)

    def in_bin(self, name: str | None) -> list[Listed]:
        """Return those in the bin that `find` would have found, the last deleted first."""
        return self.bin.meant(name or self.default, self.owner()[1])

    def listed(self) -> list[Listed]:
        """Return all collections of the data folder, also those that cannot be read, by name."""
        found = map(self.told, sorted(self.folder.glob(f"*{SUFFIX}")))
        return sorted(found, key=lambda each: (each.name.casefold(), each.path.name))

    def find(self, name: str | None = None) -> Listed | None:
        """Return the collection of that name, path or address, else the default, else the own.

        Raises RetrievalError when several have that name; as OnServers for an address.
        """
        name = name or self.default
        if name is None:
            return _own(self)
        if is_postgres(name):
            return self.servers.find(name)
        if is_path(name):
            path = resolved(name)
            return self.told(path, FILE) if path.exists() else None
        return one_called(name, self.listed(), self.owner()[1])

    def existing(self, name: str | None = None) -> Listed:
        """Return what `find` does. Raises CollectionNotFound with the nearest names."""
        found = self.find(name)
        if found is None:
            raise missing(name or self.default, self.listed(), self.in_bin(name), default=not name)
        if found.fault:
            raise unreadable(found)
        return found

    def obtain(self, name: str | None = None) -> Listed:
        """Return what `existing` does, or make it. Raises SettingError for an unusable name."""
        if self.find(name) is not None:
            return self.existing(name)
        name = name or self.default
        if name is None:
            return self._made(*self.owner())
        if is_postgres(name):
            return self.servers.made(self._called(meant(name)))
        if is_path(name):
            path = new_file(name)
            return self._made(path.stem, FILE, path)
        return self._made(usable_title(name), "")

    def owned(self, owner: str) -> Listed | None:
        """Return the collection of a thread, a project or a notebook, None where there is none."""
        return next((each for each in self.listed() if each.owner == owner), None)

    def of_owner(self, owner: str, name: str) -> Listed:
        """Return what `owned` does, made where there is none yet."""
        return self.owned(owner) or self._made(name, owner)

    def open(self, listed: Listed, *, read_only: bool = False) -> RowCollection:
        """Return an open collection; each is opened once a kernel."""
        if listed.url is not None:
            return self.servers.open(listed, read_only=read_only)
        key = (listed.path, read_only)
        if key not in self._open:
            self._open[key] = SqliteCollection(
                listed.path, self.now, read_only=read_only, vec0=self.sqlite_vec()
            )
        return self._open[key]

    def delete(self, listed: Listed) -> Path:
        """Move a collection to the bin, and return where it is then. Raises StoreError.

        Where it was the default here, the own one is it again. One on a server is refused.
        """
        if listed.url is not None:
            raise not_deleted(listed.url)
        with suppress(JanError):  # where nobody can tell which one it means, it stays
            if self.default and (found := self.find(self.default)) and found.path == listed.path:
                self.default = None
        self.bin.remember(listed)
        return self.move(
            listed.path, self.folder / BIN / f"{self.now():%Y%m%dT%H%M%S} {listed.path.name}"
        )

    def move(self, path: Path, place: Path) -> Path:
        """Close the file of a collection and move it. Raises StoreError."""
        for key in [each for each in self._open if each[0] == path]:
            self._open.pop(key).close()
        _move(path, place)
        return place

    def close(self) -> None:
        """Close what is open; a later call opens it again."""
        for each in self._open.values():
            each.close()
        self._open.clear()
        self.servers.close()

    def owner(self) -> tuple[str, str]:
        """Return the name and the owner of the default collection here."""
        if project := self.project():
            return project, PROJECT + project
        here = self.notebook() or str(Path.cwd() / "console")
        return Path(here).stem, NOTEBOOK + here

    def told(self, path: Path, owner: str = "") -> Listed:
        """Return a collection by its file, with what that says of itself."""
        try:
            collection = self.open(Listed(path, ""))
            name, told = collection.about("name"), collection.about("owner")
        except JanError as fault:
            return Listed(path, path.stem, owner, fault.message)
        return Listed(path, str(name or path.stem), owner or str(told or ""))

    def _made(self, name: str, owner: str, path: Path | None = None) -> Listed:
        place = path or self.folder / f"{self.new_id()}{SUFFIX}"
        with translated(place):
            place.parent.mkdir(parents=True, exist_ok=True)
        return self._called(Listed(place, name, owner))

    def _called(self, listed: Listed) -> Listed:
        """Make a collection by writing into it what it is called, and whose it is."""
        collection = self.open(listed)
        collection.say("name", listed.name)
        collection.say("owner", listed.owner)
        return listed


def _own(collections: Collections) -> Listed | None:
    """Return the collection of the project or notebook, also after the notebook was moved."""
    _, owner = collections.owner()
    if found := collections.owned(owner):
        return found
    listed = collections.listed()
    if collections.project() or not any(each.owner.startswith(NOTEBOOK) for each in listed):
        return None
    former = {NOTEBOOK + each for each in collections.former() if not Path(each).exists()}
    moved = next((each for each in listed if each.owner in former), None)
    if moved is None:
        return None
    # The notebook was moved; so is what belongs to it.
    collections.open(moved).say("owner", owner)
    return collections.told(moved.path)


def _move(path: Path, place: Path) -> None:
    with translated(path):
        place.parent.mkdir(parents=True, exist_ok=True)
        for old, new in zip(with_all(path), with_all(place), strict=True):
            if old.exists():
                old.replace(new)
