"""What threads, their bin and collections hold and should not: each with its place, masked."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias, get_args

from jan_magics.domain.errors import JanError
from jan_magics.domain.messages import FilePart, Message
from jan_magics.domain.overlays import Overlay, SideTurn, Summary
from jan_magics.domain.protocols import Store
from jan_magics.domain.secrets import scrubbed
from jan_magics.engine.leak_texts import Leak, leaks_in
from jan_magics.engine.leaks import part_texts
from jan_magics.engine.listed import SUFFIX
from jan_magics.engine.naming import shown_title
from jan_magics.rag.collection import SqliteCollection
from jan_magics.storage.convert import DATABASE, Kind, binned_threads, is_there, open_kind

BINNED: Final = " in the bin"
Clock: TypeAlias = Callable[[], datetime]


def leaks_in_store(store: Store) -> Iterator[Leak]:
    """Yield what threads hold, on all their branches, and our own records of them."""
    for row in store.threads():
        name = f"thread {scrubbed(shown_title(row.thread))}"
        yield from leaks_in(f"{name}, its own record", asdict(row.thread))
        if not row.damaged:
            yield from _leaks_of(name, store.messages(row.thread.id))
            yield from _leaks_beside(name, store.overlays(row.thread.id))


def leaks_in_folder(folder: Path, now: Clock) -> Iterator[Leak]:
    """Yield what the stores of a data folder hold. Raises StoreError."""
    for kind in get_args(Kind):
        if is_there(folder, kind):
            store = open_kind(kind, folder, now)
            try:
                yield from leaks_in_store(store)
            finally:
                store.close()
    yield from leaks_in_bin(folder, now)


def leaks_in_bin(folder: Path, now: Clock) -> Iterator[Leak]:
    """Yield what deleted threads of a data folder hold: whoever gets the folder, gets them too."""
    for kind in get_args(Kind):
        for whole in binned_threads(folder, kind, now):
            name = f"thread {scrubbed(shown_title(whole.thread))}{BINNED}"
            yield from leaks_in(f"{name}, its own record", [asdict(whole.thread), whole.records])
            yield from _leaks_of(name, whole.messages)


def leaks_in_collections(files: Iterable[Path], now: Clock) -> Iterator[Leak]:
    """Yield what the documents of collections hold; what is no collection is passed over."""
    for file in files:
        collection = SqliteCollection(file, now, read_only=True)
        try:
            yield from _leaks_of_collection(collection, file)
        except JanError:
            continue
        finally:
            collection.close()


def collections_below(folder: Path) -> list[Path]:
    """Return the files in a folder that may be collections, those in the bin too."""
    found = (each for each in folder.rglob(f"*{SUFFIX}") if each.name != DATABASE)
    return sorted(each for each in found if each.is_file() and not each.is_symlink())


def _leaks_of(name: str, messages: Iterable[Message]) -> Iterator[Leak]:
    for message in messages:
        files = (part for part in message.parts if isinstance(part, FilePart))
        inside = [text for part in files for text in part_texts(part)]
        yield from leaks_in(f"{name}, message {message.id[:8]}", [asdict(message), inside])


def _leaks_beside(name: str, records: Sequence[Overlay]) -> Iterator[Leak]:
    for record in records:
        match record:
            case SideTurn():
                for leak in _leaks_of(name, (record.question, record.answer)):
                    yield Leak(f"{leak.place}, beside it", leak.kind, leak.sample)
            case Summary():
                yield from leaks_in(f"{name}, a summary", asdict(record))
            case _:
                yield from leaks_in(f"{name}, its own record", asdict(record))


def _leaks_of_collection(collection: SqliteCollection, file: Path) -> Iterator[Leak]:
    name = scrubbed(str(collection.about("name") or file.stem))
    where = f"collection {name}{BINNED if file.parent.name == 'bin' else ''}"
    for source in collection.sources():
        document = collection.document(source)
        told = [source, document.text, document.metadata, document.warning]
        yield from leaks_in(f"{where}, {scrubbed(Path(source).name or source)}", told)
