"""The folder of one thread: Jan's two files, and our own records beside them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, Thread
from jan_magics.storage.codec import canonical, decode_thread, encode_thread, parse, pretty
from jan_magics.storage.files import Print, append, print_of, replace_file
from jan_magics.storage.log import Entry, Log, damage_record, read_log

_THREAD: Final = "thread.json"
_LOG: Final = "messages.jsonl"
_QUARANTINE: Final = "messages.quarantine.jsonl"
_RECORDS: Final = "jan_magics.jsonl"


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one thread. Whoever writes holds the thread's lock."""

    path: Path

    @property
    def log_path(self) -> Path:
        """Return where the messages are."""
        return self.path / _LOG

    @property
    def records_path(self) -> Path:
        """Return where our own records are."""
        return self.path / _RECORDS

    def exists(self) -> bool:
        """Tell whether there is a thread; one whose record was damaged still is one."""
        return (self.path / _THREAD).is_file()

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
            raw = parse((self.path / _THREAD).read_bytes())
        except FileNotFoundError as error:
            raise ThreadNotFound(self.path.name) from error
        except ValueError as error:
            raise self._damaged(str(error)) from error
        if not isinstance(raw, dict):
            raise self._damaged("not an object")
        # The folder's name counts, as with Jan; a copied folder keeps the id of the original.
        return decode_thread({**raw, "id": self.path.name})

    def write_thread(self, thread: Thread) -> None:
        """Write the thread's own record, whole."""
        replace_file(self.path / _THREAD, pretty(encode_thread(thread)).encode())

    def log(self) -> Log:
        """Read the messages as they are."""
        try:
            return read_log(self.log_path.read_bytes())
        except FileNotFoundError:
            return Log({}, {})

    def repaired_log(self) -> Log:
        """Read the messages; damaged lines move to the quarantine file first."""
        log = self.log()
        if not log.damaged:
            return log
        records = b"".join(damage_record(number, line) for number, line in log.damaged.items())
        append(self.path / _QUARANTINE, records)
        self.write_log(log.entries.values())
        return Log(log.entries, {})

    def write_log(self, entries: Iterable[Entry]) -> Print:
        """Write all messages anew; lines that did not change keep every byte."""
        return replace_file(self.log_path, b"".join(line + b"\n" for line, _ in entries))

    def append(self, entry: Entry, *, whole: bool) -> Print:
        """Append a message; a log that ends within a line gets its newline first."""
        return append(self.log_path, (b"" if whole else b"\n") + entry[0] + b"\n")

    def record(self, *records: Mapping[str, Json]) -> None:
        """Append records of ours, all or none: several stand in one line."""
        written = self._records()
        start = b"\n" if written and not written.endswith(b"\n") else b""
        listed: list[Json] = [dict(record) for record in records]
        line: Json = listed[0] if len(listed) == 1 else {"type": "all", "records": listed}
        append(self.records_path, start + canonical(line).encode() + b"\n")

    def records(self) -> list[dict[str, Json]]:
        """Return our own records in the order of writing; torn lines are skipped."""
        found: list[dict[str, Json]] = []
        for line in self._records().split(b"\n"):
            try:
                record = parse(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                several = record.get("records") if record.get("type") == "all" else None
                listed = several if isinstance(several, list) else [record]
                found.extend(each for each in listed if isinstance(each, dict))
        return found

    def tombstones(self) -> dict[str, str | None]:
        """Return the ids of deleted messages with their parents."""
        found: dict[str, str | None] = {}
        for record in self.records():
            if record.get("type") == "tombstone":
                parent = record.get("parent")
                found[str(record.get("id"))] = parent if isinstance(parent, str) else None
        return found

    def fault(self, damaged: int) -> str | None:
        """Say what is wrong with the messages, None when nothing is."""
        if damaged:
            return f"{damaged} damaged lines in {_LOG}"
        if print_of(self.path / _QUARANTINE) is not None:
            return f"damaged lines were moved to {_QUARANTINE}"
        return None

    def changed_at(self) -> datetime:
        """Return when the folder changed last, for threads whose record cannot say."""
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)

    def _records(self) -> bytes:
        try:
            return self.records_path.read_bytes()
        except FileNotFoundError:
            return b""

    def _damaged(self, reason: str) -> StoreError:
        return StoreError(
            f"{self.path / _THREAD} is damaged: {reason}",
            "Its messages are in the same folder; restore the file from a backup, or mend it",
        )
