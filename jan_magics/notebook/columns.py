"""Text in columns of a fixed-width font: a Chinese letter or an emoji takes two."""

import unicodedata
from collections.abc import Iterator

from jan_magics.notebook.footer import clusters, one_line


def width(text: str) -> int:
    """Return how many columns a text takes."""
    return sum(map(_columns, clusters(text)))


def clip(text: str, columns: int) -> str:
    """Return a text in one line of at most so many columns, cut between two letters."""
    line = one_line(text)
    if width(line) <= columns:
        return line
    kept, used = list[str](), 1
    for letter in clusters(line):
        used += _columns(letter)
        if used > columns:
            break
        kept.append(letter)
    return "".join(kept).rstrip() + "…"


def pad(text: str, columns: int) -> str:
    """Fill a text up with blanks."""
    return text + " " * max(0, columns - width(text))


def wrap(text: str, columns: int) -> Iterator[str]:
    """Cut a text into lines of at most so many columns, at blanks where there are any."""
    for line in text.split("\n"):
        yield from _wrapped(line, columns)


def _wrapped(line: str, columns: int) -> Iterator[str]:
    letters, start, used, blank = clusters(line), 0, 0, -1
    for place, letter in enumerate(letters):
        used += _columns(letter)
        if used > columns and place > start:
            end = blank + 1 if blank >= start else place
            yield "".join(letters[start:end]).rstrip()
            start, used, blank = end, width("".join(letters[end : place + 1])), -1
        if letter == " ":
            blank = place
    yield "".join(letters[start:])


def _columns(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter[0]) in "WF" else 1
