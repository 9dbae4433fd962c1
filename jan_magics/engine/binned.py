"""The bin of collections: which are in it, and where they stood.

A collection keeps its name and its owner there; one of a path remembers its place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jan_magics.engine.listed import FILE, SUFFIX, Listed, is_path, resolved
from jan_magics.engine.naming import plain_name
from jan_magics.rag.row_collection import RowCollection
from jan_magics.storage.postgres_url import is_postgres

BIN: Final = "bin"
_PLACE: Final = "place"


@dataclass(frozen=True, slots=True)
class Bin:
    """The bin of a folder of collections; `told` reads what a file says of itself."""

    folder: Path
    told: Callable[[Path], Listed]
    open: Callable[[Listed], RowCollection]

    def listed(self) -> list[Listed]:
        """Return the collections in the bin, the last deleted first."""
        return [*map(self.told, sorted((self.folder / BIN).glob(f"*{SUFFIX}"), reverse=True))]

    def meant(self, name: str | None, owner: str) -> list[Listed]:
        """Return those of a name or path, without one those of an owner, the last deleted first."""
        if name is None:
            return [each for each in self.listed() if each.owner == owner]
        if is_postgres(name):
            return []
        if is_path(name):
            place = resolved(name)
            return [each for each in self.listed() if self.place_of(each) == place]
        return [each for each in self.listed() if each.name == plain_name(name)]

    def remember(self, listed: Listed) -> None:
        """Let a collection of a path remember where it stands, before it goes to the bin."""
        if listed.owner == FILE and not listed.fault:
            collection = self.open(listed)
            if not collection.read_only:
                collection.say(_PLACE, str(listed.path))

    def place_of(self, listed: Listed) -> Path:
        """Return where a collection of the bin stood."""
        told = self.open(listed).about(_PLACE) if listed.owner == FILE else None
        return Path(told) if told else self.folder / listed.path.name.partition(" ")[2]
