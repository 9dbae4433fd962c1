"""The folder of one thread: Jan's two files, and our own records beside them."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, Thread
from jan_magics.storage.codec import decode_thread, encode_thread, parse, pretty
from jan_magics.storage.files import Print, append, replace_file
from jan_magics.storage.journal import Journal, read_journal, write_folded, write_records
from jan_magics.storage.log import Entry, Log, damage_record, read_log
from jan_magics.storage.lost import BACKUP, LOG, keep_lost_log, lost_log

_THREAD: Final = "thread.json"
_QUARANTINE: Final = "messages.quarantine.jsonl"
_RECORDS: Final = "jan_magics.jsonl"


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one thread. Whoever writes holds the thread's lock."""

    path: Path

    @property
    def thread_path(self) -> Path:
        """Return where the thread's own record is."""
        return self.path / _THREAD

    @property
    def log_path(self) -> Path:
        """Return where the messages are."""
        return self.path / LOG

    @property
    def records_path(self) -> Path:
        """Return where our own records are."""
        return self.path / _RECORDS

    @property
    def quarantine_path(self) -> Path:
        """Return where damaged lines are set aside."""
        return self.path / _QUARANTINE

    @property
    def backup_path(self) -> Path:
        """Return where the log is kept as it was before it was written anew."""
        return self.path / BACKUP

    def exists(self) -> bool:
        """Tell whether there is a thread; one whose record was damaged still is one."""
        return self.thread_path.is_file()

    def require(self) -> None:
        """Raise ThreadNotFound where there is no thread."""
        if not self.exists():
            raise ThreadNotFound(self.path.name)

    def thread(self) -> Thread:
        """Read the thread's own record.

        Raises:
            ThreadNotFound: when there is none.
            StoreError: when it is damaged.
        """
        try:
            raw = parse(self.thread_path.read_bytes())
        except FileNotFoundError as error:
            raise ThreadNotFound(self.path.name) from error
        except ValueError as error:
            raise _damaged(self.thread_path, str(error)) from error
        if not isinstance(raw, dict):
            raise _damaged(self.thread_path, "not an object")
        # The folder's name counts, as with Jan; a copied folder keeps the id of the original.
        return decode_thread({**raw, "id": self.path.name})

    def write_thread(self, thread: Thread, *, durable: bool = True) -> None:
        """Write the thread's own record, whole."""
        data = pretty(encode_thread(thread)).encode()
        replace_file(self.thread_path, data, durable=durable)

    def log(self) -> Log:
        """Read the messages as their log says."""
        return read_log(_read(self.log_path))

    def left(self) -> str:
        """Return the text of the thread's own record, also of a damaged one."""
        return _read(self.thread_path).decode("utf-8", "replace")

    def repaired_log(self) -> Log:
        """Read the log for a writer; damaged lines move to the quarantine file first."""
        keep_lost_log(self.path)
        log = self.log()
        if log.damaged:
            self.set_aside(log)
            self.write_log(log.entries.values())
            log = self.log()
        return log

    def set_aside(self, damaged: Log | Journal) -> None:
        """Copy damaged lines to the quarantine file."""
        if damaged.damaged:
            records = b"".join(damage_record(*line) for line in damaged.damaged.items())
            append(self.quarantine_path, records)

    def write_log(
        self, entries: Iterable[Entry], *, still: Callable[[], bool] = lambda: True
    ) -> Print | None:
        """Write all messages anew; lines that did not change keep every byte."""
        return replace_file(
            self.log_path, b"".join(line + b"\n" for line, _ in entries), still=still
        )

    def back_up_log(self) -> None:
        """Keep the log as it is; call it before a sound one is written anew.

        A second name for the same bytes, where the file system has such: no byte is copied.
        """
        new = self.backup_path.with_name(f"{BACKUP}.new")
        new.unlink(missing_ok=True)
        try:
            new.hardlink_to(self.log_path)
        except FileNotFoundError:
            return
        except OSError:
            shutil.copyfile(self.log_path, new)
        new.replace(self.backup_path)

    def append(self, entry: Entry, *, whole: bool) -> Print:
        """Append a message; a log that ends within a line gets its newline first."""
        return append(self.log_path, (b"" if whole else b"\n") + entry[0] + b"\n")

    def journal(self) -> Journal:
        """Read our own records."""
        return read_journal(_read(self.records_path))

    def record(self, *records: Mapping[str, Json], whole: bool | None = None) -> Print:
        """Append records of ours, all or none; `whole`: the file ends with a whole line."""
        whole = self.journal().whole if whole is None else whole
        return append(self.records_path, (b"" if whole else b"\n") + write_records(records))

    def write_folded(self, journal: Journal) -> None:
        """Write what a fold leaves of our own records; no file when that is nothing."""
        self.set_aside(journal)
        left = write_folded(journal)
        if left:
            replace_file(self.records_path, left)
        else:
            self.records_path.unlink(missing_ok=True)

    def fault(self, log: Log, journal: Journal) -> str | None:
        """Say what is wrong with the messages or our records, None when nothing is."""
        for name, bad in ((LOG, log.damaged), (_RECORDS, journal.damaged)):
            if bad:
                return f"{counted(len(bad), 'damaged line')} in {name}"
        if lost := lost_log(self.path):
            return f"{LOG} was lost; {lost.name} is an older one"
        if self.quarantine_path.exists():
            return f"damaged lines were moved to {_QUARANTINE}"
        return None

    def changed_at(self) -> datetime:
        """Return when the folder changed last, for threads whose record cannot say."""
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)


def _damaged(record: Path, reason: str) -> StoreError:
    return StoreError(
        f"{record} is damaged: {reason}",
        "Its messages are safe beside it; make it anew: %chat doctor --fix",
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
