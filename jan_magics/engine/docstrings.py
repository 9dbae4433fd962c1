"""What a docstring says: of a function as a whole, and of each parameter. Google, NumPy, reST."""

import inspect
import re
from dataclasses import dataclass, field
from typing import Final

_SECTION: Final = re.compile(
    r"(args|arguments|parameters|params|other parameters|returns?|yields?|raises?|examples?|notes?|"
    r"see also|references|attributes|warnings?|warns)\s*:?",
    re.IGNORECASE,
)
_OF_PARAMETERS: Final = ("args", "arguments", "param")
_GOOGLE: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY: Final = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_REST: Final = re.compile(r":param\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")


@dataclass(frozen=True, slots=True)
class Doc:
    """A docstring: what comes before its sections, and a sentence a parameter."""

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def read_doc(text: str | None) -> Doc:
    """Read a docstring."""
    lines = inspect.cleandoc(text or "").splitlines()
    summary: list[str] = []
    found: dict[str, str] = {}
    place = 0
    while place < len(lines):
        line = lines[place]
        if (match := _REST.fullmatch(line.strip())) is not None:
            block, place = _indented(lines, place + 1)
            found[match[1]] = _sentence([match[2], *block])
        elif _is_section(lines, place):
            block, after = _block(lines, place)
            if line.strip().lower().startswith(_OF_PARAMETERS):
                found |= _parameters(block, numpy=_is_ruled(lines, place))
            place = after
        else:
            if not line.lstrip().startswith(":"):
                summary.append(line)
            place += 1
    return Doc("\n".join(summary).strip(), found)


def _is_section(lines: list[str], place: int) -> bool:
    line = lines[place]
    titled = line == line.strip() and _SECTION.fullmatch(line) is not None
    return titled and (line.endswith(":") or _is_ruled(lines, place))


def _is_ruled(lines: list[str], place: int) -> bool:
    below = lines[place + 1].strip() if place + 1 < len(lines) else ""
    return len(below) >= 3 and set(below) == {"-"}


def _block(lines: list[str], place: int) -> tuple[list[str], int]:
    """Return the lines of a section, and where the next one begins."""
    if not _is_ruled(lines, place):
        return _indented(lines, place + 1)
    end = start = place + 2
    while end < len(lines) and not _is_section(lines, end):
        end += 1
    return lines[start:end], end


def _indented(lines: list[str], start: int) -> tuple[list[str], int]:
    end = start
    while end < len(lines) and (not lines[end].strip() or lines[end][0].isspace()):
        end += 1
    return lines[start:end], end


def _parameters(block: list[str], *, numpy: bool) -> dict[str, str]:
    """Return a sentence a parameter; what is indented deeper goes on with it."""
    found: dict[str, list[str]] = {}
    names: tuple[str, ...] = ()
    filled = [line for line in block if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in filled), default=0)
    for line in filled:
        text = line[margin:]
        match = None if text[0].isspace() else (_NUMPY if numpy else _GOOGLE).fullmatch(text)
        if match is None:
            for name in names:
                found[name].append(text)
            continue
        names = tuple(name.strip().lstrip("*") for name in match[1].split(","))
        found |= {name: [] if numpy else [match[2]] for name in names}
    return {name: said for name, words in found.items() if (said := _sentence(words))}


def _sentence(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
