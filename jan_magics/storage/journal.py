"""Our own records of a thread: what is kept, and the messages on their way into its log.

A changed message waits here with the digest of the line that it replaces. If that line says
something else by now, somebody else has rewritten it since, and the waiting one loses.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from jan_magics.domain.messages import Json, Message, Parent
from jan_magics.storage.codec import canonical, decode_message
from jan_magics.storage.log import Entry, Log, line_of, lines_of, message_of, parse_lines


@dataclass(frozen=True, slots=True)
class Pending:
    """A message that waits; `base` is the digest of its line in the log, None without a line."""

    base: str | None
    value: dict[str, Json]


@dataclass(slots=True)
class Journal:
    """The records of one thread. `waiting` counts those that a fold will take away."""

    pending: dict[str, Pending] = field(default_factory=dict)
    gone: dict[str, str | None] = field(default_factory=dict)
    kept: list[dict[str, Json]] = field(default_factory=list)
    damaged: dict[int, bytes] = field(default_factory=dict)
    waiting: int = 0
    whole: bool = True

    def take(self, record: dict[str, Json]) -> None:
        """Let one record have its effect; one of an unknown kind is kept as it is."""
        message = message_of(record.get("message"))
        kind, name, base = record.get("type"), record.get("id"), record.get("base")
        if kind == "message" and message is not None:
            self.waiting += 1
            known = base if isinstance(base, str) else None
            self.pending[str(message["id"])] = Pending(known, message)
        elif kind == "tombstone" and isinstance(name, str):
            parent = record.get("parent")
            self.waiting += record.get("logged") is True
            self.gone[name] = parent if isinstance(parent, str) else None
            self.pending.pop(name, None)
        elif kind == "lifted" and isinstance(name, str):
            self.gone.pop(name, None)
        else:
            self.kept.append(record)


def read_journal(data: bytes) -> Journal:
    """Read records; a line that is none is set aside."""
    journal = Journal()
    lines, journal.whole = lines_of(data)
    for number, (line, record) in enumerate(zip(lines, parse_lines(lines), strict=True), 1):
        if not isinstance(record, dict):
            if line.strip():
                journal.damaged[number] = line
            continue
        for each in _several(record):
            journal.take(each)
    return journal


def write_records(records: Iterable[Mapping[str, Json]]) -> bytes:
    """Write records as one line, so that a crash leaves all of them or none."""
    listed: list[Json] = [dict(record) for record in records]
    line: Json = listed[0] if len(listed) == 1 else {"type": "all", "records": listed}
    return canonical(line).encode() + b"\n"


def write_folded(journal: Journal) -> bytes:
    """Write what is left of a journal after a fold."""
    gone = sorted(journal.gone.items(), key=lambda each: each[0])
    records = [tombstone(name, parent, logged=False) for name, parent in gone]
    return b"".join(write_records([record]) for record in (*records, *journal.kept))


def merged(log: Log, journal: Journal) -> dict[str, Entry]:
    """Return the messages as they are, in the order of writing."""
    entries = {key: entry for key, entry in log.entries.items() if key not in journal.gone}
    for key, pending in journal.pending.items():
        entry = log.entries.get(key)
        same = pending.base == (None if entry is None else digest(entry[1]))
        if same and key not in journal.gone:
            entries[key] = line_of(pending.value)
    return entries


def decoded(entries: Mapping[str, Entry], thread_id: str) -> list[Message]:
    """Read messages as those of one thread; a copied folder still names the original."""
    found = [decode_message(value) for _, value in entries.values()]
    return [
        message if message.thread_id == thread_id else replace(message, thread_id=thread_id)
        for message in found
    ]


def digest(value: Mapping[str, Json]) -> str:
    """Return a digest of what a line says, however it is written."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def tombstone(message_id: str, parent: Parent, *, logged: bool) -> dict[str, Json]:
    """Write that a message was deleted, and where it hung; `logged`: its line still stands."""
    above = parent if isinstance(parent, str) else None
    record: dict[str, Json] = {"type": "tombstone", "id": message_id, "parent": above}
    return record | {"logged": True} if logged else record


def _several(record: dict[str, Json]) -> Iterable[dict[str, Json]]:
    records = record.get("records")
    if record.get("type") != "all" or not isinstance(records, list):
        return (record,)
    return (each for each in records if isinstance(each, dict))
