"""One thread as one JSON file, with all that is known of it."""

from dataclasses import replace
from typing import Final

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import Json
from jan_magics.storage.codec import (
    decode_message,
    decode_thread,
    encode_message,
    encode_thread,
    parse,
    pretty,
)
from jan_magics.storage.log import message_of
from jan_magics.storage.upkeep import WholeThread

FORMAT: Final = "jan_magics.thread"
VERSION: Final = 1


def write_thread_file(whole: WholeThread) -> str:
    """Write a whole thread: its record, messages as Jan keeps them, and our own records."""
    tombstones: dict[str, Json] = dict(whole.tombstones)
    return pretty(
        {
            "format": FORMAT,
            "version": VERSION,
            "thread": encode_thread(whole.thread),
            "messages": [encode_message(message) for message in whole.messages],
            "records": [dict(record) for record in whole.records],
            "tombstones": tombstones,
        }
    )


def read_thread_file(text: str | bytes, name: str) -> tuple[WholeThread, int]:
    """Read a whole thread, and how many messages could not be read.

    Raises:
        StoreError: when it is no such file, or a newer version has written it.
    """
    try:
        raw = parse(text)
    except ValueError as error:
        raise StoreError(f"{name} is not JSON: {error}", "Name a file from %chat export") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise StoreError(
            f"{name} is no thread", "A thread is written as such a file by: %chat export FILE.json"
        )
    version = raw.get("version")
    if type(version) is not int or version > VERSION:
        raise StoreError(
            f"{name} has version {version}; this version of jan_magics reads up to {VERSION}",
            "Upgrade: pip install -U jan-magics",
        )
    thread = decode_thread(raw.get("thread"))
    listed = _list(raw.get("messages"))
    messages = [decode_message(each) for each in listed if message_of(each) is not None]
    graves = raw.get("tombstones")
    whole = WholeThread(
        thread,
        [replace(message, thread_id=thread.id) for message in messages],
        [record for record in _list(raw.get("records")) if isinstance(record, dict)],
        {
            key: parent if isinstance(parent, str) else None
            for key, parent in (graves if isinstance(graves, dict) else {}).items()
        },
    )
    return whole, len(listed) - len(messages)


def is_thread_file(text: str | bytes) -> bool:
    """Tell whether a file is one of ours, whatever its name and version."""
    try:
        raw = parse(text)
    except ValueError:
        return False
    return isinstance(raw, dict) and raw.get("format") == FORMAT


def owner_of(text: str | bytes) -> str | None:
    """Return the id of the thread that a file holds, None when it is no file of ours."""
    try:
        return read_thread_file(text, "")[0].thread.id
    except StoreError:
        return None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
