"""A message log: bytes <-> lines by id. A line that is no message is set aside, never fatal.

A blank line says nothing, and is no damage.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from jan_magics.domain.messages import Json, Message
from jan_magics.storage.codec import canonical, encode_message
from jan_magics.storage.json_text import parse_each, parse_or_none

Entry: TypeAlias = tuple[bytes, dict[str, Json]]
"""A line as it was found, and what it says."""
Place: TypeAlias = tuple[int, int]
"""Where a line stands in its file: its first byte, and its length without the newline."""


@dataclass(frozen=True, slots=True)
class Log:
    """The lines of a log in order of writing, by message id; damaged ones by line number from 1.

    `whole`: the last line ends with a newline, so that the next one can simply follow.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    damaged: Mapping[int, bytes] = field(default_factory=dict)
    whole: bool = True
    places: Mapping[str, Place] = field(default_factory=dict)


def read_log(data: bytes) -> Log:
    """Read a log; of two lines with one id the later one holds, in the place of the first."""
    entries: dict[str, Entry] = {}
    places: dict[str, Place] = {}
    damaged: dict[int, bytes] = {}
    lines, whole = lines_of(data)
    start = 0
    for number, (line, found) in enumerate(zip(lines, parse_lines(lines), strict=True), 1):
        value = message_of(found)
        if value is None and line.strip():
            damaged[number] = line
        elif value is not None:
            entries[str(value["id"])] = (line, value)
            places[str(value["id"])] = (start, len(line))
        start += len(line) + 1
    return Log(entries, damaged, whole, places)


def lines_of(data: bytes) -> tuple[list[bytes], bool]:
    """Cut a file into lines, and tell whether the last one is whole."""
    lines = data.split(b"\n")
    last = lines.pop()
    if last:
        lines.append(last)
    return lines, not last


def entry_of(message: Message) -> Entry:
    """Write a message as its line, without the newline."""
    return line_of(encode_message(message))


def line_of(value: dict[str, Json]) -> Entry:
    """Write what a line is to say as its line, without the newline."""
    return canonical(value).encode(), value


def damage_record(number: int, line: bytes) -> bytes:
    """Write a damaged line as one line of the quarantine; bytes that are no text survive."""
    text = line.decode("utf-8", "surrogateescape")
    return canonical({"line": number, "text": text}).encode() + b"\n"


def message_of(value: Json) -> dict[str, Json] | None:
    """Return what can be a message: an object with an id."""
    if not isinstance(value, dict) or not isinstance(value.get("id"), str) or not value["id"]:
        return None
    return value


def parse_lines(lines: Sequence[bytes]) -> list[Json]:
    """Read lines; None for each that is no JSON."""
    try:
        return [*parse_each([line.decode() for line in lines])]
    except UnicodeDecodeError:
        return [parse_or_none(line) for line in lines]
