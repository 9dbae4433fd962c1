"""A whole store in the other form: every thread with its times, the bin too; the old one stays."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

from jan_magics.domain.errors import StoreError
from jan_magics.storage.bin import Bin
from jan_magics.storage.codec import from_milliseconds
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.sqlite import SqliteStore
from jan_magics.storage.thread_folder import THREADS, read_thread_folder
from jan_magics.storage.transfer import Incoming, Taken, WholeStore, take_in
from jan_magics.storage.upkeep import WholeThread

Kind: TypeAlias = Literal["sqlite", "jsonl"]
DATABASE: Final = "jan.db"


@dataclass(frozen=True, slots=True)
class Converted:
    """What became of each thread, and of those in the bin."""

    threads: tuple[Taken, ...]
    binned: tuple[Taken, ...]


def open_kind(kind: Kind, data: Path, clock: Callable[[], datetime]) -> WholeStore:
    """Return the store of a kind in a data folder; nothing is written yet."""
    if kind == "jsonl":
        return JsonlStore(data / THREADS, clock)
    return SqliteStore(data / DATABASE, clock)


def is_there(data: Path, kind: Kind) -> bool:
    """Tell whether a data folder has a store of a kind."""
    return (data / (THREADS if kind == "jsonl" else DATABASE)).exists()


def convert(data: Path, kind: Kind, clock: Callable[[], datetime]) -> Converted:
    """Copy the store of the other kind in a data folder into the store of this kind."""
    other: Kind = "sqlite" if kind == "jsonl" else "jsonl"
    source, target = open_kind(other, data, clock), open_kind(kind, data, clock)
    try:
        # The oldest first, since equal times are listed in the order of writing.
        rows = list(reversed(source.threads()))
        threads = tuple(take_in(target, _living(source, row.thread.id)) for row in rows)
        gone = _binned_jsonl(data, clock()) if other == "jsonl" else _binned_sqlite(data, clock)
        binned = tuple(_bury(data, kind, each, at) for each, at in gone)
    finally:
        source.close()
        target.close()
    return Converted(threads, binned)


def binned_threads(data: Path, kind: Kind, clock: Callable[[], datetime]) -> Iterator[WholeThread]:
    """Yield the threads in the bin of a kind's store; what cannot be read is passed over."""
    if kind == "sqlite" and not is_there(data, kind):
        return
    gone = _binned_jsonl(data, clock()) if kind == "jsonl" else _binned_sqlite(data, clock)
    yield from (each.whole for each, _ in gone if each.whole)


def _living(source: WholeStore, thread_id: str) -> Incoming:
    try:
        return Incoming(thread_id, source.whole(thread_id))
    except StoreError as error:
        return Incoming(thread_id, None, error.message)


def _bury(data: Path, kind: Kind, incoming: Incoming, at: datetime) -> Taken:
    """Take a deleted thread in, and delete it at the time at which it was deleted."""
    store = open_kind(kind, data, lambda: at)
    try:
        if incoming.name in {row.thread.id for row in store.binned()}:
            return Taken(incoming.name, "unchanged", "", 0)
        if incoming.name in {row.thread.id for row in store.threads()}:
            return Taken(incoming.name, "unchanged", "it is not deleted there", 0)
        taken = take_in(store, incoming)
        if taken.status == "added":
            store.delete_thread(taken.thread)
        return taken
    finally:
        store.close()


def _binned_jsonl(data: Path, now: datetime) -> Iterator[tuple[Incoming, datetime]]:
    places = Bin(data / "bin" / THREADS)
    for folder in sorted(places.folders(), key=places.deleted_at):
        # A thread that was deleted twice lies here under two names.
        name = folder.path.name.replace("~", ".")
        try:
            whole, note = read_thread_folder(folder.path, now)
        except StoreError as error:
            yield Incoming(name, None, error.message), now
            continue
        records = list(whole.records)
        if records and records[-1].get("type") == "deleted":
            records.pop()
        thread = replace(whole.thread, id=name)
        messages = [replace(message, thread_id=name) for message in whole.messages]
        moved = WholeThread(thread, messages, records, whole.tombstones)
        yield Incoming(name, moved, note), from_milliseconds(places.deleted_at(folder))


def _binned_sqlite(
    data: Path, clock: Callable[[], datetime]
) -> Iterator[tuple[Incoming, datetime]]:
    source = SqliteStore(data / DATABASE, clock)
    try:
        for whole, at in source.deleted():
            yield Incoming(whole.thread.id, whole), at
    finally:
        source.close()
