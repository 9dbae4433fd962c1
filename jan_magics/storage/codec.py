"""Values <-> the JSON on disk, in the layout of the Jan desktop: tolerant reader, exact writer.

`extra` of a value holds the keys that we do not know. It holds a known key only when Jan's own
form of it differs from ours; that form is written back as long as it still says the same.
"""

from collections.abc import Callable, Container, Mapping, Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final, get_args

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import UNLINKED, Json, Message, Parent, Role, Thread
from jan_magics.storage.content import (
    OWN,
    read_content,
    read_plain_text,
    restore_items,
    write_content,
)
from jan_magics.storage.json_text import canonical, parse, pretty

__all__ = [
    "EPOCH", "MILLISECOND", "canonical", "decode_message", "decode_thread", "encode_message",
    "encode_thread", "parent_of", "parse", "pretty", "to_milliseconds",
]  # fmt: skip

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)


def encode_message(message: Message) -> dict[str, Json]:
    """Write a message as one line of messages.jsonl; times finer than 1 ms are cut off."""
    written = write_content(message.parts)
    plain: dict[str, Json] = {
        "id": message.id,
        "thread_id": message.thread_id,
        "role": message.role,
        "content": restore_items(written, message.extra.get("content")),
        "created_at": to_milliseconds(message.created_at),
        "metadata": _linked(message),
    }
    return _restored(plain, message.extra, _MESSAGE)


def decode_message(raw: Json) -> Message:
    """Read a message of ours or of Jan's.

    Raises:
        StoreError: when it is no object or has no id; anything else has a default.
    """
    content = _identified(raw, "message")
    plain = _plain(content)
    if plain is not None:
        return plain
    metadata = dict(_mapping(content.get("metadata")))
    parent = parent_of(content)
    if parent is not UNLINKED:
        del metadata["parentId"]
    child = metadata.get("activeChildId")
    if isinstance(child, str):
        del metadata["activeChildId"]
    message = Message(
        id=str(content["id"]),
        thread_id=_text(content.get("thread_id")),
        role=_role(content.get("role")),
        parts=read_content(content.get("content")),
        created_at=from_milliseconds(content.get("created_at")),
        parent_id=parent,
        active_child_id=child if isinstance(child, str) else None,
        metadata=metadata,
        extra=_unknown(content, _MESSAGE),
    )
    odd = _odd(content, encode_message(message), _MESSAGE)
    return replace(message, extra={**message.extra, **odd}) if odd else message


def _plain(content: Mapping[str, Json]) -> Message | None:
    """Read a message just as we write it, which most are; None for any other.

    Ten thousand of them are a thread that somebody waits for, so nothing is done twice.
    """
    role, created = content.get("role"), content.get("created_at")
    thread_id, metadata = content.get("thread_id"), content.get("metadata")
    parts = read_plain_text(content.get("content"))
    if parts is None or type(created) is not int or not 0 <= created < _FAR:
        return None
    if type(role) is not str or role not in _ROLES or type(thread_id) is not str:
        return None
    if type(metadata) is not dict:
        return None
    parent = metadata.get("parentId", UNLINKED)
    child = metadata.get("activeChildId", "")
    if not (type(parent) is str or parent is None or parent is UNLINKED) or type(child) is not str:
        return None
    return Message(
        str(content["id"]),
        thread_id,
        _ROLES[role],
        parts,
        EPOCH + timedelta(0, 0, 0, created),
        parent,
        child if "activeChildId" in metadata else None,
        _without(metadata, _LINKS),
        _without(content, _KNOWN),
    )


def _without(found: Mapping[str, Json], keys: Set[str]) -> dict[str, Json]:
    # Nearly always nothing is left, which a comparison of sets says sooner.
    if found.keys() <= keys:
        return {}
    return {key: value for key, value in found.items() if key not in keys}


def encode_thread(thread: Thread) -> dict[str, Json]:
    """Write a thread as thread.json; Jan's own times of threads are seconds."""
    plain: dict[str, Json] = {
        "id": thread.id,
        "title": thread.title,
        "created": to_seconds(thread.created_at),
        "updated": to_seconds(thread.updated_at),
        "metadata": dict(thread.metadata),
    }
    return _restored(plain, thread.extra, _THREAD)


def decode_thread(raw: Json) -> Thread:
    """Read a thread of ours or of Jan's.

    Raises:
        StoreError: when it is no object or has no id; anything else has a default.
    """
    content = _identified(raw, "thread")
    thread = Thread(
        id=str(content["id"]),
        title=_text(content.get("title")),
        created_at=_from_seconds(content.get("created")),
        updated_at=_from_seconds(content.get("updated")),
        metadata=dict(_mapping(content.get("metadata"))),
        extra=_unknown(content, _THREAD),
    )
    odd = _odd(content, encode_thread(thread), _THREAD)
    return replace(thread, extra={**thread.extra, **odd}) if odd else thread


def parent_of(raw: Mapping[str, Json]) -> Parent:
    """Return the link of a stored message; a parentId that is no string and not null is none."""
    metadata = _mapping(raw.get("metadata"))
    parent = metadata.get("parentId")
    if isinstance(parent, str) or (parent is None and "parentId" in metadata):
        return parent
    return UNLINKED


def to_milliseconds(time: datetime) -> int:
    """Return milliseconds since 1970; a naive time raises TypeError."""
    return (time - EPOCH) // MILLISECOND


def from_milliseconds(value: Json) -> datetime:
    """Read milliseconds since 1970; anything that is no time is 1970 itself, as with Jan."""
    if type(value) is not int and not isinstance(value, float):
        return EPOCH
    try:
        return EPOCH + timedelta(milliseconds=round(value))
    except (OverflowError, ValueError):
        return EPOCH


def to_seconds(time: datetime) -> int | float:
    """Return seconds since 1970, whole ones as an integer, as JavaScript writes them."""
    milliseconds = to_milliseconds(time)
    return milliseconds / 1000 if milliseconds % 1000 else milliseconds // 1000


def _from_seconds(value: Json) -> datetime:
    if type(value) is not int and not isinstance(value, float):
        return EPOCH
    # Jan reads numbers above 1e12 as milliseconds, for its older files.
    return from_milliseconds(value if value > 1e12 else value * 1000)


def _linked(message: Message) -> dict[str, Json]:
    metadata = dict(message.metadata)
    if message.parent_id is not UNLINKED:
        metadata["parentId"] = message.parent_id
    if message.active_child_id is not None:
        metadata["activeChildId"] = message.active_child_id
    return metadata


def _identified(raw: Json, what: str) -> dict[str, Json]:
    if not isinstance(raw, dict) or not isinstance(raw.get("id"), str) or not raw["id"]:
        raise StoreError(
            f"not a {what}: {canonical(raw)[:80]!r}", "It needs an id; look at the file it is in."
        )
    return raw


def _unknown(found: Mapping[str, Json], known: Container[str]) -> dict[str, Json]:
    return {key: value for key, value in found.items() if key != "id" and key not in known}


def _odd(
    found: Mapping[str, Json],
    written: Mapping[str, Json],
    readers: Mapping[str, Callable[[Json], object]],
) -> dict[str, Json]:
    """Return the known keys that we would write in another form than they were found in."""
    odd = {key: found[key] for key in readers if key in found and found[key] != written[key]}
    absent: list[Json] = [key for key in readers if key not in found]
    if absent and OWN not in found:
        odd[OWN] = {"absent": absent}
    return odd


def _restored(
    plain: dict[str, Json],
    extra: Mapping[str, Json],
    readers: Mapping[str, Callable[[Json], object]],
) -> dict[str, Json]:
    """Add the extra keys, and write known ones as they were found where that says the same."""
    if not extra:
        return plain
    absent = _absent(extra)
    for key, read in readers.items():
        if key in absent and read(plain[key]) == read(None):
            del plain[key]
        elif key in extra and read(extra[key]) == read(plain[key]):
            plain[key] = extra[key]
    unknown = _unknown(extra, readers)
    if absent:
        del unknown[OWN]
    return plain | unknown


def _absent(extra: Mapping[str, Json]) -> Sequence[Json]:
    own = extra.get(OWN)
    if not isinstance(own, dict) or own.keys() != {"absent"}:
        return ()
    keys = own["absent"]
    return keys if isinstance(keys, list) else ()


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _role(value: Json) -> Role:
    # A role we do not know is never read as the user's: nothing may put words in their mouth.
    return _ROLES.get(value, "assistant") if isinstance(value, str) else "assistant"


_ROLES: Final[Mapping[str, Role]] = MappingProxyType({role: role for role in get_args(Role)})
_MESSAGE: Final[Mapping[str, Callable[[Json], object]]] = MappingProxyType(
    {
        "thread_id": _text,
        "role": _role,
        "content": read_content,
        "created_at": from_milliseconds,
        "metadata": _mapping,
    }
)
_KNOWN: Final = frozenset({"id", *_MESSAGE})
_LINKS: Final = frozenset({"parentId", "activeChildId"})
_FAR: Final = 10**14
_THREAD: Final[Mapping[str, Callable[[Json], object]]] = MappingProxyType(
    {
        "title": _text,
        "created": _from_seconds,
        "updated": _from_seconds,
        "metadata": _mapping,
    }
)
