"""The doctor's side of the JSONL store: checks, repairs, the bin, copies and whole threads."""

import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Thread
from jan_magics.domain.protocols import ThreadRow
from jan_magics.storage.bin import Bin
from jan_magics.storage.content import OWN
from jan_magics.storage.files import ELSEWHERE, move_folder, sync_folder, translated
from jan_magics.storage.folder import Folder
from jan_magics.storage.journal import Journal, decoded, merged
from jan_magics.storage.listing import Listing, read_row
from jan_magics.storage.locks import Locks
from jan_magics.storage.log import entry_of
from jan_magics.storage.mending import mend
from jan_magics.storage.names import check_thread_id, is_thread_id
from jan_magics.storage.upkeep import WholeThread
from jan_magics.storage.writing import fold


class JsonlUpkeep:
    """A folder of threads that can be checked, mended, copied and emptied."""

    def __init__(self, folder: Path, clock: Callable[[], datetime]) -> None:
        self._folder = folder
        self._clock = clock
        self._bin = Bin(folder.parent / "bin" / folder.name)
        self._locks = Locks(folder.parent / "locks")
        self._listing = Listing(folder)

    def check(self) -> Sequence[str]:
        """Return what is wrong, a line each; nothing is changed."""
        try:
            with translated(self._folder):
                return [line for name in self._names() for line in _faults(self._folder / name)]
        except StoreError as error:
            return [error.message]

    def repair(self) -> Sequence[str]:
        """Mend what can be mended without losing anything; return what was done."""
        done: list[str] = []
        names = self._names()
        taken = self._notebooks() if names else set[str]()
        for name in names:
            folder = Folder(self._folder / name)
            with translated(folder.path), self._locks.hold(name):
                if folder.exists() or folder.log_path.exists():
                    done += [f"thread {name}: {what}" for what in mend(folder, taken)]
        return done

    def vacuum(self) -> None:
        """Empty the bin for good; fold every journal."""
        with translated(self._folder):
            self._bin.empty()
        self._fold_all()

    def backup(self, path: Path) -> None:
        """Write a zip of threads and bin; unpacked elsewhere it is a data folder of Jan's."""
        self._fold_all()
        new = path.with_name(f"{path.name}.new")
        with translated(path, ELSEWHERE):
            if path.exists():
                raise StoreError(f"{path} exists already", "Name a file that does not exist")
            path.parent.mkdir(parents=True, exist_ok=True)
            with new.open("wb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as z:
                    for name in self._names():
                        with self._locks.hold(name):
                            self._pack(z, self._folder / name)
                    self._pack(z, self._bin.path)
                file.flush()
                os.fsync(file.fileno())
            new.rename(path)

    def binned(self) -> Sequence[ThreadRow]:
        """List the threads in the bin, the last deleted first."""
        with translated(self._folder):
            rows = [(folder, read_row(folder)) for folder in self._bin.folders()]
        found = [(self._bin.deleted_at(folder), row) for folder, row in rows if row is not None]
        return [row for _, row in sorted(found, key=lambda each: each[0], reverse=True)]

    def whole(self, thread_id: str) -> WholeThread:
        """Return all that is known of a thread. Raises ThreadNotFound."""
        with self._writing(thread_id) as folder:
            journal, log = folder.journal(), folder.log()
            messages = decoded(merged(log, journal), thread_id)
            return WholeThread(folder.thread(), messages, journal.kept, journal.gone)

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

    def adopt(self, whole: WholeThread) -> None:
        """Write a whole thread as it is, its times included. Raises StoreError if it exists."""
        check_thread_id(whole.thread.id)
        target = Folder(self._folder / whole.thread.id)
        made = Folder(self._folder.parent / "new" / whole.thread.id)
        with translated(target.path), self._locks.hold(whole.thread.id):
            if target.path.exists() or self._bin.holds(whole.thread.id):
                raise StoreError(
                    f"there is a thread {whole.thread.id!r} already, perhaps in the bin",
                    "Delete it, then empty the bin",
                )
            shutil.rmtree(made.path, ignore_errors=True)
            made.path.mkdir(parents=True)
            made.write_log(entry_of(message) for message in whole.messages)
            records = [dict(record) for record in whole.records]
            made.write_folded(Journal(gone=dict(whole.tombstones), kept=records))
            made.write_thread(whole.thread)
            # It comes to be in one step, so that nobody sees the half of it.
            move_folder(made.path, target.path)
            with suppress(OSError):
                made.path.parent.rmdir()

    def _names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        return sorted(path.name for path in self._folder.iterdir() if is_thread_id(path.name))

    def _named(self, thread_id: str) -> Folder:
        if not is_thread_id(thread_id):
            raise ThreadNotFound(thread_id)
        return Folder(self._folder / thread_id)

    @contextmanager
    def _reading(self, thread_id: str) -> Iterator[Folder]:
        folder = self._named(thread_id)
        with translated(folder.path):
            folder.require()
            yield folder

    @contextmanager
    def _writing(self, thread_id: str) -> Iterator[Folder]:
        folder = self._named(thread_id)
        with translated(folder.path):
            folder.require()
            with self._locks.hold(thread_id):
                # It may have gone to the bin while we waited.
                folder.require()
                yield folder

    def _notebooks(self) -> set[str]:
        """Return the notebooks that have a thread of their own."""
        sound = (row.thread for row in self._listing.rows() if not row.damaged)
        known = (thread.metadata.get(OWN) for thread in sound)
        mine = (each for each in known if isinstance(each, dict) and each.get("cells"))
        return {str(each.get("notebook")) for each in mine}

    def _fold_all(self) -> None:
        for name in self._names():
            with suppress(ThreadNotFound), self._writing(name) as folder:
                fold(folder)

    def _pack(self, archive: zipfile.ZipFile, path: Path) -> None:
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.name != Folder(file.parent).backup_path.name:
                archive.write(file, file.relative_to(self._folder.parent))


def _faults(path: Path) -> list[str]:
    try:
        row = read_row(Folder(path))
    except OSError as error:
        return [f"thread {path.name}: it cannot be read: {error.strerror or error}"]
    if row is None or row.fault is None:
        return []
    return [f"thread {path.name} ({row.thread.title!r}): {row.fault}"]
