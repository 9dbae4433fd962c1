"""The Store on plain files, in exactly the layout of the Jan desktop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from jan_magics.domain.errors import MessageNotFound, StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, Message, Parent, Thread
from jan_magics.domain.overlays import Overlay
from jan_magics.domain.protocols import ThreadRow
from jan_magics.domain.tree import KEEP, Changes, RootPointer
from jan_magics.storage.bin import Bin
from jan_magics.storage.changes import changed_thread, one_thread, with_root
from jan_magics.storage.codec import EPOCH, decode_message
from jan_magics.storage.files import sync_folder, translated
from jan_magics.storage.folder import Folder
from jan_magics.storage.index import Counts, Index, Indices, prints_of
from jan_magics.storage.locks import Locks
from jan_magics.storage.log import entry_of
from jan_magics.storage.names import check_thread_id, is_thread_id
from jan_magics.storage.overlays import decode_overlays, encode_overlay


class JsonlStore:
    """Threads as folders in `folder`; its siblings `bin` and `locks` are ours."""

    def __init__(self, folder: Path, clock: Callable[[], datetime]) -> None:
        self._folder = folder
        self._clock = clock
        self._bin = Bin(folder.parent / "bin" / folder.name)
        self._locks = Locks(folder.parent / "locks")
        self._indices = Indices()

    def threads(self) -> Sequence[ThreadRow]:
        """List threads, the newest first, without the deleted ones."""
        with translated(self._folder):
            if not self._folder.is_dir():
                return []
            names = [path.name for path in self._folder.iterdir() if path.is_dir()]
            folders = [Folder(self._folder / name) for name in names if is_thread_id(name)]
            rows = [_row(folder, self._indices.counts(folder)) for folder in folders]
        listed = [row for row in rows if row is not None]
        return sorted(
            listed, key=lambda row: (row.thread.updated_at, row.thread.created_at), reverse=True
        )

    def thread(self, thread_id: str) -> Thread:
        """Return one thread. Raises ThreadNotFound."""
        with translated(self._folder):
            return self._named(thread_id).thread()

    def create_thread(self, thread: Thread) -> None:
        """Write a new thread; an id that exists already is left as it is."""
        check_thread_id(thread.id)
        folder = Folder(self._folder / thread.id)
        with translated(folder.path), self._locks.hold(thread.id):
            if folder.exists() or self._bin.holds(thread.id):
                return
            folder.path.mkdir(parents=True, exist_ok=True)
            folder.write_thread(thread)
            sync_folder(self._folder)

    def update_thread(
        self,
        thread_id: str,
        *,
        title: str | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> None:
        """Change the title, merge metadata (a None value removes its key)."""
        with self._writing(thread_id) as folder:
            thread = folder.thread()
            changed = changed_thread(thread, title, metadata)
            if changed != thread:
                folder.write_thread(replace(changed, updated_at=self._clock()))

    def delete_thread(self, thread_id: str) -> None:
        """Move a thread to the bin; an absent one is no error."""
        folder = Folder(self._folder / thread_id)
        if not is_thread_id(thread_id) or not folder.path.exists():
            return
        with translated(folder.path), self._locks.hold(thread_id):
            if folder.path.exists():
                self._bin.take(folder, self._clock())

    def restore_thread(self, thread_id: str) -> None:
        """Bring a thread back from the bin."""
        folder = self._named(thread_id)
        with translated(folder.path), self._locks.hold(thread_id):
            if not folder.exists():
                self._bin.give_back(folder, self._clock())

    def messages(self, thread_id: str) -> Sequence[Message]:
        """Return all messages of a thread in the order of writing."""
        folder = self._named(thread_id)
        with translated(folder.path):
            folder.require()
            log, gone = folder.log(), folder.tombstones()
        if log.damaged:
            # A line that is being written looks torn, so only the holder of the lock may judge;
            # and a folder that cannot be repaired can still be read.
            with suppress(StoreError), self._writing(thread_id):
                log = folder.repaired_log()
        found = [decode_message(raw) for key, (_, raw) in log.entries.items() if key not in gone]
        return [
            message if message.thread_id == thread_id else replace(message, thread_id=thread_id)
            for message in found
        ]

    def create(self, message: Message) -> None:
        """Write a new message; an id that exists already is left as it is."""
        with self._writing(message.thread_id) as folder:
            index = self._indices.of(folder)
            if message.id not in index.parents and _put(folder, index, [message]):
                _touch(folder, self._clock, changed=True)

    def save(self, *messages: Message) -> None:
        """Write the newest state of messages of one thread in one transaction."""
        if messages:
            self.apply(one_thread(messages), Changes(messages))

    def delete(self, thread_id: str, message_id: str) -> None:
        """Delete a message for good; a late save does not bring it back."""
        with self._writing(thread_id) as folder:
            if message_id not in self._indices.of(folder).parents:
                raise MessageNotFound(message_id)
            self._apply(folder, Changes(deleted=(message_id,)), ())

    def apply(self, thread_id: str, changes: Changes, overlays: Sequence[Overlay] = ()) -> None:
        """Write changes of a tree and our own records, all in one transaction."""
        if changes.save:
            one_thread(changes.save, thread_id)
        with self._writing(thread_id) as folder:
            self._apply(folder, changes, overlays)

    def overlays(self, thread_id: str) -> Sequence[Overlay]:
        """Return our own records of a thread in the order of writing."""
        folder = self._named(thread_id)
        with translated(folder.path):
            folder.require()
            return decode_overlays(folder.records())

    def tombstones(self, thread_id: str) -> Mapping[str, str | None]:
        """Return the ids of deleted messages with their parents."""
        folder = self._named(thread_id)
        with translated(folder.path):
            folder.require()
            return folder.tombstones()

    def close(self) -> None:
        """Forget what was remembered; no file stays open between calls."""
        self._indices.clear()

    def _named(self, thread_id: str) -> Folder:
        if not is_thread_id(thread_id):
            raise ThreadNotFound(thread_id)
        return Folder(self._folder / thread_id)

    def _apply(self, folder: Folder, changes: Changes, overlays: Sequence[Overlay]) -> None:
        index = self._indices.of(folder)
        changed = bool(changes.save) and _put(folder, index, changes.save)
        gone = {name: index.parents[name] for name in changes.deleted if name in index.parents}
        records = [_tombstone(name, parent) for name, parent in gone.items()]
        records += [encode_overlay(overlay) for overlay in overlays]
        if records:
            folder.record(*records)
        if gone:
            # The record first: from then on the line does not count, whatever happens.
            entries = folder.repaired_log().entries
            folder.write_log(entry for key, entry in entries.items() if key not in gone)
            index.whole = True
        for name, parent in gone.items():
            index.gone[name] = parent if isinstance(parent, str) else None
            del index.parents[name]
        index.prints = prints_of(folder)
        _touch(folder, self._clock, changes.active_root_id, changed=changed or bool(records))

    @contextmanager
    def _writing(self, thread_id: str) -> Iterator[Folder]:
        folder = self._named(thread_id)
        with translated(folder.path):
            folder.require()
            with self._locks.hold(thread_id):
                # It may have gone to the bin while we waited.
                folder.require()
                yield folder


def _put(folder: Folder, index: Index, messages: Sequence[Message]) -> bool:
    """Write messages that are not deleted; tell whether anything changed."""
    kept = {message.id: message for message in messages if message.id not in index.gone}
    new = [message for message in kept.values() if message.id not in index.parents]
    if len(kept) == len(new) == 1:
        written = folder.append(entry_of(new[0]), whole=index.whole)
    else:
        # One file in the place of another is the transaction here.
        entries = dict(folder.repaired_log().entries)
        changed = {key: entry_of(message) for key, message in kept.items()}
        if all(key in entries and entries[key][0] == changed[key][0] for key in changed):
            return False
        entries.update(changed)
        written = folder.write_log(entries.values())
    index.parents.update({key: message.parent_id for key, message in kept.items()})
    index.prints, index.whole = (written, index.prints[1]), True
    return True


def _touch(
    folder: Folder, clock: Callable[[], datetime], root_id: RootPointer = KEEP, *, changed: bool
) -> None:
    try:
        thread = folder.thread()
    except StoreError:
        return  # its record is damaged, which `threads` says; the messages are safe
    rooted = with_root(thread, root_id)
    if changed or rooted != thread:
        folder.write_thread(replace(rooted, updated_at=clock()))


def _tombstone(message_id: str, parent: Parent) -> dict[str, Json]:
    above = parent if isinstance(parent, str) else None
    return {"type": "tombstone", "id": message_id, "parent": above}


def _row(folder: Folder, counts: Counts) -> ThreadRow | None:
    fault = folder.fault(counts.damaged)
    try:
        thread = folder.thread()
    except (ThreadNotFound, StoreError) as error:
        if not folder.exists() and not folder.log_path.exists():
            return None
        fault = error.message if folder.exists() else "it has messages but no thread.json"
        thread = Thread(folder.path.name, folder.path.name, EPOCH, folder.changed_at())
    return ThreadRow(thread, counts.messages, counts.branches, fault)
