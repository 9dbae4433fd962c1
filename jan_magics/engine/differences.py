"""What changed between a request and the nearest of those that are recorded. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from jan_magics.domain.counting import counted
from jan_magics.domain.messages import Json

MOST: Final = 3
"""Differences that are told."""
LONGEST: Final = 48
"""Characters of a text that is quoted."""
COMPARED: Final = 2000
"""Characters of two texts that are compared for being near."""
_FIELDS: Final = ("model", "system", "tools", "options", "window")
_MEANT: Final = {"system": "the instructions", "tools": "the tools", "options": "the parameters"}


def told_difference(request: Json, recorded: Sequence[Json]) -> str:
    """Say in one line how a request differs from the nearest recorded one, "" where none is."""
    near = [each for each in recorded if isinstance(each, dict)]
    if not near or not isinstance(request, dict):
        return ""
    return "; ".join(
        [*_differences(request, max(near, key=lambda e: _nearness(request, e)))][:MOST]
    )


def _nearness(one: Mapping[str, Json], other: Mapping[str, Json]) -> float:
    same = sum(one.get(name) == other.get(name) for name in _FIELDS)
    mine, theirs = _messages(one), _messages(other)
    alike = sum(a == b for a, b in zip(mine, theirs, strict=False))
    longest = max(len(mine), len(theirs), 1)
    last = _ratio(_text(mine[-1]), _text(theirs[-1])) if mine and theirs else 0.0
    return same / len(_FIELDS) + alike / longest + last


def _ratio(one: str, other: str) -> float:
    if one == other:
        return 1.0
    return SequenceMatcher(None, one[:COMPARED], other[:COMPARED], autojunk=False).quick_ratio()


def _differences(now: Mapping[str, Json], then: Mapping[str, Json]) -> Iterator[str]:
    yield from _of_messages(_messages(now), _messages(then))
    for name in (*_FIELDS, *sorted({*now, *then} - {*_FIELDS, "messages"})):
        if now.get(name) != then.get(name):
            meant = _MEANT.get(name, f"the {name}")
            yield f"{meant}: recorded {_changed(then.get(name), now.get(name))}"


def _of_messages(now: Sequence[Json], then: Sequence[Json]) -> Iterator[str]:
    if len(now) != len(then):
        yield f"recorded with {counted(len(then), 'message')}, now {len(now)}"
        if now and then and now[-1] != then[-1]:
            yield f"the last message: recorded {told_change(_text(then[-1]), _text(now[-1]))}"
            return
    for number, (mine, theirs) in enumerate(zip(now, then, strict=False), 1):
        if mine != theirs:
            place = "the last message" if number == len(now) == len(then) else f"message {number}"
            yield f"{place}: recorded {told_change(_text(theirs), _text(mine))}"
            return


def told_change(then: str, now: str) -> str:
    """Quote two texts from a little before the place where they part."""
    same = next((n for n, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), None)
    at = min(len(then), len(now)) if same is None else same
    begin = max(0, at - LONGEST // 2)
    return f"{_cut(then, begin)!r}, now {_cut(now, begin)!r}"


def _cut(text: str, begin: int) -> str:
    piece = text[begin : begin + LONGEST]
    before, after = "…" * (begin > 0), "…" * (begin + LONGEST < len(text))
    return f"{before}{piece}{after}"


def _messages(request: Mapping[str, Json]) -> Sequence[Json]:
    found = request.get("messages")
    return found if isinstance(found, list) else ()


def _text(message: Json) -> str:
    """Return the words of a message, and as JSON what is no words."""
    parts = message.get("parts") if isinstance(message, dict) else None
    said = [
        str(part["text"]) if isinstance(part, dict) and set(part) == {"text"} else _json(part)
        for part in (parts if isinstance(parts, list) else ())
    ]
    return "\n\n".join(said)


def _changed(then: Json, now: Json) -> str:
    if then is None or now is None:
        return f"{_quoted(then)}, now {_quoted(now)}"
    texts = (each if isinstance(each, str) else _json(each) for each in (then, now))
    return told_change(*texts)


def _quoted(value: Json) -> str:
    if value is None:
        return "none"
    return repr(_cut(value if isinstance(value, str) else _json(value), 0))


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
