"""Whether the file of a collection is sound: SQLite's own check, the copy for `vec0`, its size."""

from collections.abc import Iterator

from jan_magics.rag import generations, near
from jan_magics.rag.collection_file import CollectionFile
from jan_magics.rag.soundness import ANEW, Checked, Finding
from jan_magics.rag.statements import fetched, first
from jan_magics.storage.database import Database


def checked(file: CollectionFile) -> Checked:
    """Look at a file; nothing is changed."""
    with file.alone() as connection:
        unusable = None if near.loaded(connection) else near.load(connection)
    with file.reading() as connection:
        kept = [_copy(connection, unusable), _size(connection, read_only=file.read_only)]
        return Checked(_whole(connection), (*kept, *_place(file)))


def _whole(connection: Database) -> Finding:
    lines = [line for (line,) in fetched(connection, "PRAGMA integrity_check(5)") if line != "ok"]
    if lines:
        return Finding("database", "error", "; ".join(lines), ANEW)
    return Finding("database", "ok", "whole")


def _copy(connection: Database, unusable: str | None) -> Finding:
    if unusable is not None:
        return Finding("vec0", "warning", f"numpy is used: {unusable}", "pip install sqlite-vec")
    held = generations.active(connection)
    states = {
        "absent": "works; its copy is made when `index = vec0` first asks for it",
        "behind": "works; its copy is behind, and is made anew when it is asked for",
        "kept": "works, and its copy has all",
    }
    return Finding("vec0", "ok", states[near.state(connection, held[0]) if held else "absent"])


def _size(connection: Database, *, read_only: bool) -> Finding:
    page, pages, free = (
        int(first(connection, f"PRAGMA {name}")[0])
        for name in ("page_size", "page_count", "freelist_count")
    )
    detail = f"{page * pages / 1e6:.1f} MB, of which {page * free / 1e6:.1f} MB are free"
    wasteful = free * 4 > pages and page * free > 1_000_000 and not read_only
    fix = "%rag doctor --vacuum" if wasteful else ""
    return Finding("size", "warning" if wasteful else "ok", detail, fix)


def _place(file: CollectionFile) -> Iterator[Finding]:
    if file.network is not None:
        yield Finding(
            "file system", "warning",
            f"on a network ({file.network}): safe, slower, one writer at a time",
        )  # fmt: skip
