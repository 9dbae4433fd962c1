"""What values hold and should not: texts are looked through, bytes are not. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jan_magics.domain.secrets import secrets_in
from jan_magics.engine.leaks import strings_in

BINARY: Final = re.compile(r"(?:image/(?!svg)|audio/|video/|application/(?:pdf|octet-stream))")
"""Kinds of content that are no text."""


@dataclass(frozen=True, slots=True)
class Leak:
    """What stands somewhere and should not; `sample` is masked."""

    place: str
    kind: str
    sample: str


def leaks_in(place: str, value: Any) -> Iterator[Leak]:
    """Yield what a value holds, the same text once a place."""
    seen = set[tuple[str, str]]()
    for text in strings_in(_readable(value)):
        for each in secrets_in(text):
            known = (each.kind, text[each.start : each.end])
            if known not in seen:
                seen.add(known)
                yield Leak(place, each.kind, each.sample)


def _readable(value: Any) -> Any:
    """Return a value without bytes, and with each list of lines as one text."""
    if isinstance(value, Mapping):
        return {
            str(name): None if BINARY.match(str(name)) else _readable(each)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        if is_lines(value):
            return "".join(value)
        return [_readable(each) for each in value]
    return value


def is_lines(value: Sequence[Any]) -> bool:
    """Tell whether a list is one text by its lines, as notebooks keep it; keys have several."""
    return all(isinstance(each, str) for each in value) and all(
        each.endswith("\n") for each in value[:-1]
    )
