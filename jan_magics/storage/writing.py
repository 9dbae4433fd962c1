"""Writing into one thread of the JSONL layout, whose lock is held: what goes where, in which order.

A single new message that is settled goes to the log at once, where Jan sees it. All else is one
line of the journal, and reaches the log by a fold.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import Json, Message, Parent
from jan_magics.domain.overlays import Overlay, Undone
from jan_magics.domain.tree import Changes
from jan_magics.storage.codec import canonical, encode_message, parent_of
from jan_magics.storage.files import Print, print_of
from jan_magics.storage.folder import Folder
from jan_magics.storage.index import Index
from jan_magics.storage.journal import digest, merged, tombstone
from jan_magics.storage.log import line_of, message_of
from jan_magics.storage.lost import keep_lost_log
from jan_magics.storage.overlays import encode_overlay

LIMIT: Final = 256
"""Entries of the journal after which it is folded into the log."""
_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did: whether anything is new, and whether it asks for a fold."""

    changed: bool
    fold: bool


def write_changes(
    folder: Folder, index: Index, changes: Changes, overlays: Sequence[Overlay], *, settled: bool
) -> Written:
    """Write messages, deletions and records; `settled`: a new message may go to the log."""
    lifted = lifts(index, changes, overlays)
    new = _new(folder, index, changes.save, lifted)
    buried = _buried(index, changes.deleted, new)
    fresh = [key for key in new if key not in index.places]
    waiting = {key for key in index.journal.pending if key not in index.places}
    appended = settled and len(fresh) == 1 and waiting <= {fresh[0]}
    if appended:
        _append(folder, index, fresh[0], new.pop(fresh[0]))
    records: list[dict[str, Json]] = [{"type": "lifted", "id": key} for key in lifted]
    records += [_message(folder, index, key, value) for key, value in new.items()]
    records += [tombstone(k, up, logged=k in index.places) for k, up in buried.items()]
    records += [encode_overlay(overlay) for overlay in overlays]
    if records:
        _record(folder, index, records)
    crowded = index.journal.waiting >= LIMIT
    unseen = settled and bool(fresh) and not appended
    return Written(appended or bool(records), crowded or unseen)


def lifts(index: Index, changes: Changes, overlays: Sequence[Overlay]) -> tuple[str, ...]:
    """Return the deleted ids that come back: those saved along with the record of an undo."""
    if not any(isinstance(overlay, Undone) for overlay in overlays):
        return ()
    return tuple(message.id for message in changes.save if message.id in index.journal.gone)


def fold(folder: Folder) -> bool:
    """Bring the log up to date and empty the journal; tell whether there was anything to do."""
    journal = folder.journal()
    keep_lost_log(folder.path)
    for _ in range(_ATTEMPTS):
        before = print_of(folder.log_path)
        log = folder.log()
        entries = merged(log, journal)
        same = entries == log.entries
        folder.set_aside(log)
        # Jan takes no lock: what it wrote while we read must not be lost.
        if same and not log.damaged:
            break
        if not log.damaged:
            folder.back_up_log()
        if folder.write_log(entries.values(), still=partial(_is_still, folder, before)):
            break
    else:
        raise StoreError(
            f"{folder.log_path} is being written by another program",
            "Close the thread in the other program, then try again",
        )
    if journal.waiting or journal.damaged:
        folder.write_folded(journal)
    return bool(journal.waiting or journal.damaged or log.damaged)


def _is_still(folder: Folder, before: Print | None) -> bool:
    return print_of(folder.log_path) == before


def _new(
    folder: Folder, index: Index, messages: Sequence[Message], lifted: Collection[str]
) -> dict[str, dict[str, Json]]:
    """Return what the messages say, without the deleted and the unchanged ones."""
    values = {message.id: encode_message(message) for message in messages}
    new: dict[str, dict[str, Json]] = {}
    for key, value in values.items():
        if key in index.journal.gone and key not in lifted:
            continue
        stored = index.stored(folder, key)
        if stored is None or canonical(stored) != canonical(value):
            new[key] = value
    return new


def _buried(
    index: Index, deleted: Sequence[str], new: Mapping[str, Mapping[str, Json]]
) -> dict[str, Parent]:
    """Return the messages that go, with the parents they had."""
    known = [key for key in deleted if key in new or key in index.parents]
    return {key: parent_of(new[key]) if key in new else index.parents[key] for key in known}


def _message(folder: Folder, index: Index, key: str, value: dict[str, Json]) -> dict[str, Json]:
    pending = index.journal.pending.get(key)
    logged = None if pending else index.logged(folder, key)
    base = pending.base if pending else logged and digest(logged)
    return {"type": "message", "base": base, "message": value}


def _append(folder: Folder, index: Index, key: str, value: dict[str, Json]) -> None:
    entry, before = line_of(value), index.prints[0]
    written = folder.append(entry, whole=index.whole)
    grown = (before[1] if before else 0) + len(entry[0]) + (1 if index.whole else 2)
    index.journal.pending.pop(key, None)
    index.places[key] = (written[1] - len(entry[0]) - 1, len(entry[0]))
    index.parents[key] = parent_of(value)
    # Jan may have written at the same moment: then the log must be read again.
    index.prints = (written if written[1] == grown else None, index.prints[1])
    index.whole = True


def _record(folder: Folder, index: Index, records: Sequence[dict[str, Json]]) -> None:
    written = folder.record(*records, whole=index.journal.whole)
    index.journal.whole = True
    for record in records:
        index.journal.take(record)
        message = message_of(record.get("message"))
        if record["type"] == "message" and message is not None:
            index.parents[str(message["id"])] = parent_of(message)
        elif record["type"] == "tombstone":
            index.parents.pop(str(record["id"]), None)
    index.prints = (index.prints[0], written)
