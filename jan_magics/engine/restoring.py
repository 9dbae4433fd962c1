"""What goes to the bin of collections with its owner, and what comes back."""

from dataclasses import replace

from jan_magics.domain.errors import CollectionNotFound, RetrievalError
from jan_magics.engine.binned import BIN
from jan_magics.engine.collections import Collections
from jan_magics.engine.listed import FILE, SUFFIX, THREAD, Listed
from jan_magics.storage.files import translated


def drop_thread(collections: Collections, thread_id: str) -> None:
    """Let the collections of a thread that goes to the bin go there, too."""
    for each in collections.listed():
        if each.owner == THREAD + thread_id:
            collections.delete(each)


def bring_back(collections: Collections, thread_id: str) -> None:
    """Take the collection of a thread out of the bin, the one that went there last."""
    owner = THREAD + thread_id
    if collections.owned(owner):
        return
    if found := next((each for each in collections.bin.listed() if each.owner == owner), None):
        collections.move(found.path, collections.bin.place_of(found))


def empty_bin(collections: Collections) -> int:
    """Delete the files in the bin, and return how many collections they were."""
    collections.close()
    found = sorted((collections.folder / BIN).glob("*"))
    for path in found:
        with translated(path):
            path.unlink(missing_ok=True)
    return sum(path.suffix == SUFFIX for path in found)


def take_back(collections: Collections, name: str | None) -> Listed:
    """Take a collection out of the bin: of several of that name the last deleted; None: the own.

    Raises:
        CollectionNotFound: when there is none in the bin.
        RetrievalError: when another one has taken its place.
    """
    found = next(iter(collections.in_bin(name)), None)
    if found is None:
        there = ", ".join(sorted({repr(each.name) for each in collections.bin.listed()}))
        raise CollectionNotFound(
            f"there is no collection {name!r} in the bin" if name else "there is none in the bin",
            f"There are: {there}" if there else "List those that are there: %rag collections",
        )
    place = collections.bin.place_of(found)
    other = collections.owned(found.owner) if found.owner not in ("", FILE) else None
    if place.exists() or other or (not found.owner and collections.find(found.name)):
        raise RetrievalError(
            f"another collection has taken the place of {found.name!r}",
            f"Look into the old one by its file: -c {str(found.path)!r}",
        )
    return replace(found, path=collections.move(found.path, place))
