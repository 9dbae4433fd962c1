"""A copied notebook gets a thread that copies the active path. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from jan_magics.domain.messages import Message
from jan_magics.domain.overlays import (
    CellLink,
    Hidden,
    Mark,
    Overlay,
    SegmentCut,
    Summary,
    TrimCut,
    taken_back,
)


@dataclass(frozen=True, slots=True)
class Copied:
    """Messages and our records of them under new ids; `ids` leads from the old to the new."""

    messages: tuple[Message, ...]
    overlays: tuple[Overlay, ...]
    ids: Mapping[str, str]


def copy_path(
    path: Sequence[Message],
    records: Sequence[Overlay],
    *,
    thread: str,
    notebook: str,
    new_id: Callable[[], str],
) -> Copied:
    """Copy a path into another thread, one below the other; its cells are now `notebook`'s."""
    ids = {message.id: new_id() for message in path}
    messages: list[Message] = []
    for message in path:
        above = messages[-1].id if messages else None
        moved = replace(message, id=ids[message.id], thread_id=thread, parent_id=above)
        messages.append(replace(moved, active_child_id=None))
    return Copied(tuple(messages), tuple(_records(records, ids, notebook)), ids)


def _records(records: Sequence[Overlay], ids: Mapping[str, str], notebook: str) -> list[Overlay]:
    """Copy which cell asked what, and what is sent of it; the rest tells of changes made there."""
    copied: list[Overlay] = []
    # What was taken back is left behind, and with it the records that say so.
    undone = taken_back(records)
    for record in (each for each in records if getattr(each, "change", None) not in undone):
        match record:
            case CellLink(message=message) if message in ids:
                copied.append(replace(record, notebook=notebook, message=ids[message]))
            case Hidden(id=identifier) if identifier in ids:
                copied.append(replace(record, id=ids[identifier]))
            case Mark(id=identifier, upto=upto) if identifier in ids and upto in ids:
                copied.append(replace(record, id=ids[identifier], upto=ids[upto]))
            case Summary(upto=upto, covers=covers) if upto in ids:
                covered = tuple(ids[each] for each in covers if each in ids)
                copied.append(replace(record, upto=ids[upto], covers=covered))
            case SegmentCut(upto=upto) | TrimCut(upto=upto) if upto in ids:
                copied.append(replace(record, upto=ids[upto]))
            case _:
                continue
    return copied
