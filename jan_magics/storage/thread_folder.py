"""Threads as folders in the layout of the Jan desktop, outside of any store: to and fro."""

import shutil
from datetime import datetime
from pathlib import Path
from typing import Final

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError, StoreError, ThreadNotFound
from jan_magics.domain.messages import Message, Thread
from jan_magics.storage.files import move_folder
from jan_magics.storage.folder import Folder
from jan_magics.storage.journal import Journal, decoded, merged
from jan_magics.storage.log import entry_of
from jan_magics.storage.names import check_thread_id
from jan_magics.storage.upkeep import WholeThread

THREADS: Final = "threads"


def write_thread_folder(whole: WholeThread, data: Path) -> Path:
    """Write a thread into a data folder of Jan's and return its own folder.

    Raises:
        SettingError: when that would take the place of something that is not in this thread.
    """
    check_thread_id(whole.thread.id)
    threads = data / THREADS
    if data.exists() and (not data.is_dir() or (any(data.iterdir()) and not threads.is_dir())):
        raise SettingError(f"{data} is no data folder of Jan's", "Name a folder that is new.")
    target = Folder(threads / whole.thread.id)
    if target.path.exists():
        _check_nothing_is_lost(target, whole)
    made = Folder(threads / f".{whole.thread.id}.new")
    shutil.rmtree(made.path, ignore_errors=True)
    made.path.mkdir(parents=True)
    made.write_log(entry_of(message) for message in whole.messages)
    records = [dict(record) for record in whole.records]
    made.write_folded(Journal(gone=dict(whole.tombstones), kept=records))
    made.write_thread(whole.thread)
    if target.path.exists():
        shutil.rmtree(target.path)
    move_folder(made.path, target.path)
    return target.path


def thread_folders(path: Path) -> list[Path]:
    """Return the folders of threads that a path means: a data folder, its threads, or one."""
    if path.is_file():
        path = path.parent
    if _is_thread(path):
        return [path]
    threads = path / THREADS if (path / THREADS).is_dir() else path
    return sorted(each for each in threads.iterdir() if each.is_dir() and _is_thread(each))


def read_thread_folder(path: Path, clock: datetime) -> tuple[WholeThread, str]:
    """Read a thread as far as it can be read, and say what could not.

    Raises:
        StoreError: when nothing of it can be read.
    """
    folder = Folder(path)
    log, journal = folder.log(), folder.journal()
    messages = decoded(merged(log, journal), path.name)
    notes = []
    if lost := len(log.damaged) + len(journal.damaged):
        notes.append(f"{counted(lost, 'damaged line')} left out")
    try:
        thread = folder.thread()
    except (StoreError, ThreadNotFound):
        if not messages:
            raise
        thread = _made_up(path.name, messages, clock)
        notes.append("thread.json cannot be read, so the thread has its folder's name")
    return WholeThread(thread, messages, journal.kept, journal.gone), "; ".join(notes)


def _check_nothing_is_lost(target: Folder, whole: WholeThread) -> None:
    ours = {message.id for message in whole.messages} | whole.tombstones.keys()
    theirs = merged(target.log(), target.journal()).keys()
    if theirs - ours:
        raise SettingError(
            f"{target.path} has messages that this thread has not",
            "Name a folder that is new; or import that one first: %chat import",
        )


def _is_thread(path: Path) -> bool:
    folder = Folder(path)
    return folder.thread_path.is_file() or folder.log_path.is_file()


def _made_up(name: str, messages: list[Message], clock: datetime) -> Thread:
    times = [message.created_at for message in messages]
    return Thread(name, name, min(times, default=clock), max(times, default=clock))
