"""Taking threads into a store: ids are kept, doing it twice changes nothing, nothing is lost.

A thread that is here already takes in what is new in the other one; as branches, where both went
on. Where one message says different things in the two, the other thread stands beside it.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

from jan_magics.domain.branching import repair_detached
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, Message, Part
from jan_magics.domain.protocols import Store
from jan_magics.domain.tree import ACTIVE_ROOT_KEY, KEEP, Changes, RootPointer, TreeIndex
from jan_magics.storage.codec import canonical, encode_message, encode_thread
from jan_magics.storage.content import OWN
from jan_magics.storage.files import translated
from jan_magics.storage.names import is_thread_id
from jan_magics.storage.overlays import decode_overlays
from jan_magics.storage.thread_file import is_thread_file, read_thread_file
from jan_magics.storage.thread_folder import read_thread_folder, thread_folders
from jan_magics.storage.upkeep import Upkeep, WholeThread

Status: TypeAlias = Literal["added", "unchanged", "replaced", "failed"]
READABLE: Final = "Name a file or folder that you may read"
_FRESH: Final = 32


@runtime_checkable
class WholeStore(Store, Upkeep, Protocol):
    """A store that hands out and takes in whole threads."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A thread on its way in; `note` says what of it could not be read.

    `partial`: it holds the words of one path only, so that a message of a known id is known.
    """

    name: str
    whole: WholeThread | None
    note: str = ""
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a thread."""

    thread: str
    status: Status
    reason: str
    messages: int


def read_threads(path: Path, now: datetime) -> Iterator[Incoming]:
    """Read every thread of a file of ours, of a data folder of Jan's, or of one thread's folder.

    Raises:
        StoreError: when there is none.
    """
    with translated(path, READABLE):
        if not path.exists():
            raise StoreError(f"there is no {path}", "Name a file or folder that exists")
        folders = thread_folders(path) if path.is_dir() or path.suffix == ".jsonl" else []
        if path.name == "thread.json" and not is_thread_file(path.read_bytes()):
            folders = [path.parent]
        elif path.is_file() and path.suffix != ".jsonl":
            whole, lost = read_thread_file(path.read_bytes(), path.name)
            note = f"{counted(lost, 'damaged message')} left out" if lost else ""
            yield Incoming(whole.thread.id, whole, note)
            return
        if not folders:
            raise StoreError(
                f"{path} has no threads",
                "Name a file from %chat export, or a data folder with threads in it",
            )
    for folder in folders:
        try:
            with translated(folder):
                whole, note = read_thread_folder(folder, now)
        except (StoreError, ThreadNotFound) as error:
            yield Incoming(folder.name, None, error.message)
        else:
            whole, mended = _linked(whole)
            yield Incoming(folder.name, whole, "; ".join(filter(None, (note, mended))))


def _linked(whole: WholeThread) -> tuple[WholeThread, str]:
    """Return a thread whose answers have their questions again, as Jan does when it loads one."""
    found = {message.id: message for message in repair_detached(TreeIndex(whole.messages)).save}
    if not found:
        return whole, ""
    messages = tuple(found.get(message.id, message) for message in whole.messages)
    answers = sum(message.role == "assistant" for message in found.values())
    said = f"{counted(answers, 'answer')} put behind the question before"
    return replace(whole, messages=messages), said


def take_in(store: WholeStore, incoming: Incoming) -> Taken:
    """Take a thread into a store."""
    whole = incoming.whole
    if whole is None:
        return Taken(incoming.name, "failed", incoming.note, 0)
    try:
        if not is_thread_id(whole.thread.id):
            taken = _beside(store, whole, "its id cannot be one here")
        else:
            taken = _taken(store, whole, partial=incoming.partial)
    except StoreError as error:
        taken = Taken(whole.thread.id, "failed", error.message, 0)
    said = "; ".join(filter(None, (incoming.note, taken.reason)))
    return replace(taken, reason=said)


def _taken(store: WholeStore, whole: WholeThread, *, partial: bool) -> Taken:
    thread_id = whole.thread.id
    here = _whole(store, thread_id)
    if here is not None:
        return _joined(store, here, whole, partial=partial)
    if thread_id not in {row.thread.id for row in store.binned()}:
        store.adopt(whole)
        return Taken(thread_id, "added", "", len(whole.messages))
    store.restore_thread(thread_id)
    joined = _joined(store, store.whole(thread_id), whole, partial=partial)
    if joined.thread != thread_id:
        store.delete_thread(thread_id)
        return joined
    return replace(joined, status="added", reason="it was in the bin")


def _joined(store: WholeStore, here: WholeThread, whole: WholeThread, *, partial: bool) -> Taken:
    """Take what is new in a thread that is here already."""
    ours = {message.id: message for message in here.messages}
    theirs = {message.id: message for message in whole.messages}
    new = [m for key, m in theirs.items() if key not in ours and key not in here.tombstones]
    both = [] if partial else [key for key in theirs if key in ours]
    if any(_words(ours[key]) != _words(theirs[key]) for key in both):
        return _beside(store, whole, f"{here.thread.id} is here with other words")
    flat = not (TreeIndex(here.messages).linked and TreeIndex(whole.messages).linked)
    if new and flat and ours.keys() - theirs.keys():
        return _beside(store, whole, f"{here.thread.id} went on here, and has no branches")
    newer = not partial and whole.thread.updated_at > here.thread.updated_at
    moved = [theirs[key] for key in both if newer and theirs[key] != ours[key]]
    known = {canonical(dict(record)) for record in here.records}
    records = [] if partial else decode_overlays(
        record for record in map(dict[str, Json], whole.records) if canonical(record) not in known
    )  # fmt: skip
    changes = Changes((*moved, *new), _root(here, whole, newer=newer))
    if not (changes.save or records or _renamed(here, whole, newer=newer)):
        return Taken(here.thread.id, "unchanged", "", len(whole.messages))
    store.apply(here.thread.id, changes, records)
    if newer:
        metadata = {k: v for k, v in whole.thread.metadata.items() if k != ACTIVE_ROOT_KEY}
        store.update_thread(here.thread.id, title=whole.thread.title, metadata=metadata)
    reason = counted(len(new), "new message") if new else "links and records"
    return Taken(here.thread.id, "replaced", reason, len(whole.messages))


def _beside(store: WholeStore, whole: WholeThread, reason: str) -> Taken:
    """Take a thread in under an id that its content gives, so that a second time finds it."""
    content = [canonical(encode_thread(whole.thread)), *map(_line, whole.messages)]
    digest = hashlib.blake2b("\n".join(content).encode(), digest_size=_FRESH // 2).hexdigest()
    own = whole.thread.metadata.get(OWN)
    # Two threads of one notebook would compete for its cells.
    kept: Json = {k: v for k, v in own.items() if k != "notebook"} if isinstance(own, dict) else own
    metadata = {**whole.thread.metadata} | ({OWN: kept} if OWN in whole.thread.metadata else {})
    copy = WholeThread(
        replace(whole.thread, id=digest, metadata=metadata),
        [replace(message, thread_id=digest) for message in whole.messages],
        whole.records,
        whole.tombstones,
    )
    said = f"{reason}, so it stands beside it as {digest[:8]}"
    if _whole(store, digest) is not None:
        return Taken(digest, "unchanged", said, len(copy.messages))
    if digest in {row.thread.id for row in store.binned()}:
        store.restore_thread(digest)
    else:
        store.adopt(copy)
    return Taken(digest, "added", said, len(copy.messages))


def _whole(store: WholeStore, thread_id: str) -> WholeThread | None:
    try:
        return store.whole(thread_id)
    except ThreadNotFound:
        return None


def _words(message: Message) -> tuple[str, Sequence[Part]]:
    return message.role, message.parts


def _root(here: WholeThread, whole: WholeThread, *, newer: bool) -> RootPointer:
    root = whole.thread.metadata.get(ACTIVE_ROOT_KEY)
    same = root == here.thread.metadata.get(ACTIVE_ROOT_KEY)
    return root if newer and isinstance(root, str) and not same else KEEP


def _renamed(here: WholeThread, whole: WholeThread, *, newer: bool) -> bool:
    one, other = here.thread, whole.thread
    return newer and (one.title, dict(one.metadata)) != (other.title, dict(other.metadata))


def _line(message: Message) -> str:
    return canonical(encode_message(message))
