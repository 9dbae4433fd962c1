"""Cut a magic line into words, so that a prompt on the line stays exactly as it was typed."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from IPython.core.error import UsageError

SHORTEST_PREFIX: Final = 2
_BLANK: Final = re.compile(r"\s+")
_JSON: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Word:
    """A word without its quotes, and where it stands in the line (characters, half-open)."""

    text: str
    start: int
    end: int
    quoted: bool = False


def words(line: str, start: int = 0) -> Iterator[Word]:
    r"""Yield the words of a line, lazily: what nobody asks for is never read as quotes.

    Quotes group, a backslash before a quote or backslash keeps it; elsewhere it is a backslash.
    What stands in `{{ }}` is one word with what it touches. An object or list of JSON at the
    beginning of a value stays as it is typed, spaces and all.

    >>> [word.text for word in words("-s 'be brief' -t a\\b")]
    ['-s', 'be brief', '-t', 'a\\b']
    >>> [word.text for word in words('-P stop=["a b", "c"] -q')]
    ['-P', 'stop=["a b", "c"]', '-q']
    >>> [word.text for word in words("{{ folder }}/*.md -k 3")]
    ['{{ folder }}/*.md', '-k', '3']
    """
    position = start
    while position < len(line):
        if blank := _BLANK.match(line, position):
            position = blank.end()
            continue
        word = _word(line, position)
        yield word
        position = word.end


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that was meant, "" where none is near; a beginning says most."""
    names = list(known)
    meant = [name for name in names if name.startswith(word)]
    if len(word.lstrip("-")) >= SHORTEST_PREFIX and meant:
        return min(meant, key=len)
    return next(iter(difflib.get_close_matches(word, names, 1)), "")


def split_values(text: str) -> list[str]:
    """Cut a list at its commas, but not at those inside JSON.

    >>> split_values('{"a": 1, "b": 2}, none')
    ['{"a": 1, "b": 2}', 'none']
    """
    found: list[str] = []
    rest = text.strip()
    while rest:
        end = _json_end(rest, 0, [])
        value, _, after = rest[end:].partition(",")
        if each := (rest[:end] + value).strip():
            found.append(each)
        rest = after.strip()
    return found


def _word(line: str, start: int) -> Word:
    pieces: list[str] = []
    quote = ""
    opened = start
    quoted = False
    position = start
    while position < len(line):
        char = line[position]
        if char == "\\" and line[position + 1 : position + 2] in ("'", '"', "\\"):
            pieces.append(line[position + 1])
            position += 2
            continue
        if not quote and (end := _whole_end(line, position, pieces)):
            pieces.append(line[position:end])
            position = end
            continue
        if quote:
            if char == quote:
                quote = ""
            else:
                pieces.append(char)
        elif char in "'\"":
            quote, opened, quoted = char, position, True
        elif char.isspace():
            break
        else:
            pieces.append(char)
        position += 1
    if quote:
        raise UsageError(
            f"the quote {quote} in column {opened + 1} is never closed. "
            "A prompt with an apostrophe belongs into the cell below the line."
        )
    return Word("".join(pieces), start, position, quoted)


def _whole_end(line: str, position: int, before: list[str]) -> int:
    """Return where an expression in braces or a value of JSON ends, 0 where none begins."""
    if line.startswith("{{", position) and (end := line.find("}}", position)) > 0:
        return end + 2
    return _json_end(line, position, before)


def _json_end(line: str, position: int, before: list[str]) -> int:
    """Return where the JSON ends that a value begins with, 0 where it begins with none."""
    if line[position] not in "{[" or (before and before[-1][-1:] not in ("=", ",")):
        return 0
    try:
        return _JSON.raw_decode(line, position)[1]
    except (ValueError, RecursionError):
        return 0
