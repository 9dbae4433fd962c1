"""The Store on plain files, in exactly the layout of the Jan desktop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from jan_magics.domain.errors import MessageNotFound, StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, Message, Thread
from jan_magics.domain.protocols import ThreadRow
from jan_magics.storage.bin import Bin
from jan_magics.storage.changes import changed_thread, one_thread
from jan_magics.storage.codec import EPOCH, decode_message, to_milliseconds
from jan_magics.storage.files import sync_folder, translated
from jan_magics.storage.folder import Folder
from jan_magics.storage.index import Counts, Index, Indices, prints_of
from jan_magics.storage.locks import Locks
from jan_magics.storage.log import entry_of
from jan_magics.storage.names import check_thread_id, is_thread_id


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
                _touch(folder, self._clock())

    def save(self, *messages: Message) -> None:
        """Write the newest state of messages of one thread in one transaction."""
        if messages:
            with self._writing(one_thread(messages)) as folder:
                if _put(folder, self._indices.of(folder), messages):
                    _touch(folder, self._clock())

    def delete(self, thread_id: str, message_id: str) -> None:
        """Delete a message for good; a late save does not bring it back."""
        with self._writing(thread_id) as folder:
            index = self._indices.of(folder)
            if message_id not in index.parents:
                raise MessageNotFound(message_id)
            # The record first: from then on the line does not count, whatever happens.
            at = to_milliseconds(self._clock())
            folder.record({"type": "tombstone", "id": message_id, "at": at})
            entries = folder.repaired_log().entries
            folder.write_log(entry for key, entry in entries.items() if key != message_id)
            del index.parents[message_id]
            index.gone |= {message_id}
            index.prints, index.whole = prints_of(folder), True
            _touch(folder, self._clock())

    def close(self) -> None:
        """Forget what was remembered; no file stays open between calls."""
        self._indices.clear()

    def _named(self, thread_id: str) -> Folder:
        if not is_thread_id(thread_id):
            raise ThreadNotFound(thread_id)
        return Folder(self._folder / thread_id)

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


def _touch(folder: Folder, now: datetime) -> None:
    try:
        thread = folder.thread()
    except StoreError:
        return  # its record is damaged, which `threads` says; the messages are safe
    folder.write_thread(replace(thread, updated_at=now))


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
