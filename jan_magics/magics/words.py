"""Cut a magic line into words, so that a prompt on the line stays exactly as it was typed."""

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from IPython.core.error import UsageError

SHORTEST_PREFIX: Final = 2
_BLANK: Final = re.compile(r"\s+")


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

    >>> [word.text for word in words("-s 'be brief' -t a\\b")]
    ['-s', 'be brief', '-t', 'a\\b']
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
