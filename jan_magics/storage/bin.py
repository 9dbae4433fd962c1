"""The bin of the JSONL layout: deleted threads as folders beside the living ones."""

import shutil
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.storage.codec import to_milliseconds
from jan_magics.storage.files import move_folder
from jan_magics.storage.folder import Folder
from jan_magics.storage.writing import fold


class Bin:
    """Deleted threads by id. Whoever calls holds the thread's lock."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def holds(self, thread_id: str) -> bool:
        """Tell whether a thread is in the bin."""
        return (self._path / thread_id).exists()

    @property
    def path(self) -> Path:
        """Return where the deleted threads are."""
        return self._path

    def folders(self) -> list[Folder]:
        """Return the deleted threads."""
        if not self._path.is_dir():
            return []
        return [Folder(path) for path in self._path.iterdir() if path.is_dir()]

    def deleted_at(self, folder: Folder) -> int:
        """Return when a thread came here, in milliseconds."""
        times = [each.get("at") for each in folder.journal().kept if each.get("type") == "deleted"]
        return max((at for at in times if type(at) is int), default=0)

    def empty(self) -> None:
        """Delete the threads here for good; lines that were set aside here stay."""
        for folder in self.folders():
            shutil.rmtree(folder.path)
        with suppress(OSError):
            self._path.rmdir()

    def take(self, folder: Folder, now: datetime) -> None:
        """Move a thread in; nothing that lies here already is overwritten."""
        with suppress(StoreError):
            fold(folder)
        folder.record({"type": "deleted", "at": to_milliseconds(now)})
        names = (f"{folder.path.name}{f'~{n}' if n else ''}" for n in count())
        targets = (self._path / name for name in names)
        move_folder(folder.path, next(path for path in targets if not path.exists()))

    def give_back(self, folder: Folder, now: datetime) -> None:
        """Move a thread out again.

        Raises:
            ThreadNotFound: when it is not here.
            StoreError: when something else has taken its place.
        """
        thread_id = folder.path.name
        if not self.holds(thread_id):
            raise ThreadNotFound(thread_id)
        if folder.path.exists():
            raise StoreError(
                f"{folder.path} is in the way of the deleted thread {thread_id!r}",
                "It has no thread.json; move it away, then restore again",
            )
        move_folder(self._path / thread_id, folder.path)
        folder.record({"type": "restored", "at": to_milliseconds(now)})
