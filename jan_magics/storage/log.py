"""A message log: bytes <-> lines by id. A line that is no message is set aside, never fatal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from jan_magics.domain.messages import Json, Message
from jan_magics.storage.codec import canonical, encode_message, parse

Entry: TypeAlias = tuple[bytes, dict[str, Json]]
"""A line as it was found, and what it says."""


@dataclass(frozen=True, slots=True)
class Log:
    """The lines of a log in order of writing, by message id; damaged ones by line number from 1.

    `whole`: the last line ends with a newline, so that the next one can simply follow.
    """

    entries: Mapping[str, Entry]
    damaged: Mapping[int, bytes]
    whole: bool = True


def read_log(data: bytes) -> Log:
    """Read a log; of two lines with one id the later one holds, in the place of the first."""
    entries: dict[str, Entry] = {}
    damaged: dict[int, bytes] = {}
    lines = data.split(b"\n")
    last = lines.pop()
    whole = not last
    if last:
        lines.append(last)
    for number, line in enumerate(lines, 1):
        value = _message(line)
        if value is None:
            damaged[number] = line
        else:
            entries[str(value["id"])] = (line, value)
    return Log(entries, damaged, whole)


def entry_of(message: Message) -> Entry:
    """Write a message as its line, without the newline."""
    value = encode_message(message)
    return canonical(value).encode(), value


def damage_record(number: int, line: bytes) -> bytes:
    """Write a damaged line as one line of the quarantine; bytes that are no text survive."""
    text = line.decode("utf-8", "surrogateescape")
    return canonical({"line": number, "text": text}).encode() + b"\n"


def _message(line: bytes) -> dict[str, Json] | None:
    try:
        value = parse(line)
    except ValueError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("id"), str) or not value["id"]:
        return None
    return value
