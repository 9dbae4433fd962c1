"""The Store on plain files, in exactly the layout of the Jan desktop."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import JanError, MessageNotFound, StoreError
from jan_magics.domain.messages import Json, Message, Thread
from jan_magics.domain.overlays import Overlay
from jan_magics.domain.protocols import Stamp, Stamps, ThreadRow
from jan_magics.domain.tree import Changes
from jan_magics.storage.changes import changed_thread, one_thread, with_root
from jan_magics.storage.files import translated
from jan_magics.storage.folder import Folder
from jan_magics.storage.index import Indices, stamp_of
from jan_magics.storage.journal import decoded, merged
from jan_magics.storage.jsonl_upkeep import JsonlUpkeep
from jan_magics.storage.names import is_thread_id
from jan_magics.storage.overlays import decode_overlays
from jan_magics.storage.writing import fold, lifts, write_changes

_MAKING: Final = ".making threads"
"""The lock of those who look for a title and make a thread; a blank is in no thread's id."""


class JsonlStore(JsonlUpkeep):
    """Threads as folders in `folder`; its siblings `bin` and `locks` are ours."""

    def __init__(self, folder: Path, clock: Callable[[], datetime]) -> None:
        super().__init__(folder, clock)
        self._indices = Indices()
        self._opened: set[str] = set()
        self._waiting: set[str] = set()

    def threads(self) -> Sequence[ThreadRow]:
        """List threads, the newest first, without the deleted ones."""
        with translated(self._folder):
            return self._listing.rows() if self._folder.is_dir() else []

    def thread(self, thread_id: str) -> Thread:
        """Return one thread. Raises ThreadNotFound."""
        with translated(self._folder):
            return self._named(thread_id).thread()

    def claim_thread(self, thread: Thread) -> Thread:
        """Write a new thread unless another has its title; return the one that has it."""
        with translated(self._folder), self._locks.hold(_MAKING):
            rows = (row for row in self.threads() if not row.damaged)
            found = next((row.thread for row in rows if row.thread.title == thread.title), None)
            if found is None:
                self.create_thread(thread)
            return found or thread

    def update_thread(
        self,
        thread_id: str,
        *,
        title: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> None:
        """Change the title, merge metadata and other keys (a None value removes its key)."""
        with self._writing(thread_id) as folder:
            thread = folder.thread()
            changed = changed_thread(thread, title, metadata, extra)
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
        with self._reading(thread_id) as folder:
            # The journal first: a fold in between takes nothing away that is not in the log.
            journal, log = folder.journal(), folder.log()
        waits = journal.waiting or journal.damaged
        if log.damaged or (waits and thread_id not in self._opened):
            # A line that is being written looks torn, so only the holder of the lock may judge;
            # and a folder that cannot be repaired can still be read.
            with suppress(StoreError), self._writing(thread_id):
                fold(folder)
                journal, log = folder.journal(), folder.log()
        self._opened.add(thread_id)
        return decoded(merged(log, journal), thread_id)

    def create(self, message: Message) -> None:
        """Write a new message; an id that exists already is left as it is."""
        with self._writing(message.thread_id) as folder:
            if message.id not in self._indices.of(folder).parents:
                self._apply(folder, Changes((message,)))

    def save(self, *messages: Message) -> Stamps | None:
        """Write the newest state of messages of one thread in one transaction."""
        if not messages:
            return None
        with self._writing(one_thread(messages)) as folder:
            return self._apply(folder, Changes(messages), settled=False)

    def delete(self, thread_id: str, message_id: str) -> None:
        """Delete a message for good; a late save does not bring it back."""
        with self._writing(thread_id) as folder:
            if message_id not in self._indices.of(folder).parents:
                raise MessageNotFound(message_id)
            self._apply(folder, Changes(deleted=(message_id,)))

    def apply(self, thread_id: str, changes: Changes, overlays: Sequence[Overlay] = ()) -> Stamps:
        """Write changes of a tree and our own records, all in one transaction."""
        with self._writing(one_thread(changes.save, thread_id)) as folder:
            return self._apply(folder, changes, overlays)

    def stamp(self, thread_id: str) -> Stamp:
        """Return what differs after every write into a thread."""
        with self._reading(thread_id) as folder:
            return stamp_of(folder)

    def overlays(self, thread_id: str) -> Sequence[Overlay]:
        """Return our own records of a thread in the order of writing."""
        with self._reading(thread_id) as folder:
            return decode_overlays(folder.journal().kept)

    def tombstones(self, thread_id: str) -> Mapping[str, str | None]:
        """Return the ids of deleted messages with their parents."""
        with self._reading(thread_id) as folder:
            return folder.journal().gone

    def close(self) -> None:
        """Fold what waits and forget what was remembered; no file stays open between calls."""
        while self._waiting:
            # What cannot be folded now is folded when the thread is opened next.
            with suppress(JanError), self._writing(self._waiting.pop()) as folder:
                fold(folder)
        self._opened.clear()
        self._indices.clear()
        self._listing.forget()

    def _apply(
        self, folder: Folder, changes: Changes, overlays: Sequence[Overlay] = (), *,
        settled: bool = True,
    ) -> Stamps:  # fmt: skip
        before, index = stamp_of(folder), self._indices.of(folder)
        if lifts(index, changes, overlays):
            # The line of the deleted message must be out of the log before it comes back.
            fold(folder)
            index = self._indices.of(folder)
        written = write_changes(folder, index, changes, overlays, settled=settled)
        if written.fold:
            fold(folder)
        elif index.journal.waiting:
            self._waiting.add(folder.path.name)
        with suppress(StoreError):  # a damaged record is what `threads` says; the rest is safe
            thread = folder.thread()
            rooted = with_root(thread, changes.active_root_id)
            if written.changed or rooted != thread:
                # A time that is lost with the power is no loss, unlike a pointer.
                touched = replace(rooted, updated_at=self._clock())
                folder.write_thread(touched, durable=rooted != thread)
        return Stamps(before, stamp_of(folder))
