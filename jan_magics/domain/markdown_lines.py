"""The lines of Markdown around code: what opens a fence or an item, quotes, margins."""

import re
from typing import Final

FENCE: Final = re.compile(
    r"((?:[ \t]*+(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))*+[ \t]*+)(`{3,}+|~{3,}+)(.*)"
)
"""A line that opens a fence: its container's prefix, the marks, the rest."""
LIST_ITEM: Final = re.compile(r"([ \t]*+)(?:[-*+]|\d{1,9}[.)])[ \t]++(?=\S)")
_QUOTE_MARK: Final = re.compile(r"[ \t]*>[ ]?")


def columns_of(space: str) -> int:
    """Return how many columns a prefix takes; a tab reaches to the next fourth one."""
    return len(space.expandtabs(4)) if "\t" in space else len(space)


def indent_of(line: str) -> int:
    """Return the columns of white space at the beginning of a line."""
    return columns_of(line[: len(line) - len(line.lstrip(" \t"))])


def without_quotes(line: str, quotes: int) -> str | None:
    """Take the quote marks of so many levels off, or return None where the quote has ended.

    >>> without_quotes("> > 密码", 2), without_quotes("> text", 2)
    ('密码', None)
    """
    for _ in range(quotes):
        mark = _QUOTE_MARK.match(line)
        if mark is None:
            return None
        line = line[mark.end() :]
    return line
