"""Where the code of a Markdown text stands: fenced, indented, inline. No judgement on content."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from jan_magics.domain.markdown_lines import (
    FENCE,
    LIST_ITEM,
    columns_of,
    indent_of,
    without_quotes,
)

_TICKS: Final = re.compile(r"`++")
# No code span reaches over a blank line, or the start of an item, a heading, a quote or a row.
_NEW_BLOCK: Final = re.compile(
    r"\n(?=[ \t>]*+(?:\n|\Z)|[ \t]*+(?:[-*+][ \t]|[>#|]|\d{1,9}[.)][ \t]))"
)


@dataclass(frozen=True, slots=True, order=True)
class Code:
    """A place of code with its marks, in characters, half-open; `block`: it takes whole lines."""

    start: int
    end: int
    block: bool = False

    def holds(self, place: int) -> bool:
        """Tell whether what is inserted at a place would become code, or undo it."""
        return self.start < place < self.end or (self.block and place == self.end)


@dataclass(slots=True)
class _Lines:
    """A walk over the lines; `offsets` are the margins of the list items around the line."""

    text: str
    offsets: list[int] = field(default_factory=list)
    after_blank: bool = True

    def blocks(self) -> Iterator[Code]:
        at = 0
        while at <= len(self.text):
            line = self._line(at)
            end = self._fenced(line, at) or self._indented(line, at)
            if end:
                yield Code(at, end, block=True)
                self.after_blank = True
                at = end + 1
            else:
                self._note(line)
                at += len(line) + 1

    def _line(self, at: int) -> str:
        end = self.text.find("\n", at)
        return self.text[at : len(self.text) if end < 0 else end]

    def _note(self, line: str) -> None:
        indent = indent_of(line)
        if item := LIST_ITEM.match(line):
            self.offsets = [*(o for o in self.offsets if o <= indent), columns_of(item[0])][-20:]
        elif line.strip() and self.after_blank:
            self.offsets = [o for o in self.offsets if o <= indent]
        self.after_blank = not line.strip()

    def _container(self, indent: int) -> int:
        return max((o for o in self.offsets if o <= indent), default=0)

    def _fenced(self, line: str, at: int) -> int:
        """Return where the fence that opens here ends, 0 where none opens."""
        opener = FENCE.fullmatch(line)
        if opener is None or (opener[2][0] == "`" and "`" in opener[3]):
            return 0
        prefix, quotes = opener[1], opener[1].count(">")
        inside = columns_of(prefix) if prefix.strip() else self._container(columns_of(prefix))
        container = 0 if quotes else inside
        closing = re.compile(rf"[ \t]*+{opener[2][0]}{{{len(opener[2])},}}+[ \t\r]*+")
        end = at + len(line)
        while end < len(self.text):
            line = self._line(end + 1)
            inner = without_quotes(line, quotes)
            if inner is None or (inner.strip() and indent_of(inner) < container):
                return end
            end += len(line) + 1
            if closing.fullmatch(inner) and indent_of(inner) <= container + 3:
                return end
        return end

    def _indented(self, line: str, at: int) -> int:
        """Return where the indented code that begins here ends, 0 where none begins."""
        indent = indent_of(line)
        margin = self._container(indent) + 4
        if not (self.after_blank and line.strip() and indent >= margin):
            return 0
        end = last = at + len(line)
        while end < len(self.text):
            line = self._line(end + 1)
            if line.strip() and indent_of(line) < margin:
                break
            end += len(line) + 1
            last = end if line.strip() else last
        return last


def code_spans(text: str) -> tuple[Code, ...]:
    """Return the places of code, ascending.

    An unclosed fence reaches to the end of what it stands in, as a Markdown reader takes it.
    """
    if "`" not in text and "~~~" not in text and "    " not in text and "\t" not in text:
        return ()
    found: list[Code] = []
    at = 0
    for block in (*_Lines(text).blocks(), Code(len(text), len(text))):
        while at < block.start:
            new = _NEW_BLOCK.search(text, at, block.start)
            end = new.end() if new else block.start
            found += _inline(text, at, end)
            at = end
        if block.block:
            found.append(block)
        at = max(at, block.end)
    return tuple(found)


def _inline(text: str, start: int, end: int) -> Iterator[Code]:
    runs = [ticks.span() for ticks in _TICKS.finditer(text, start, end)]
    same = defaultdict[int, list[int]](list)
    for number, (begin, stop) in enumerate(runs):
        same[stop - begin].append(number)
    number = 0
    while number < len(runs):
        begin, stop = runs[number]
        begin += _escaped(text, begin)
        number += 1
        closers = same[stop - begin] if begin < stop else []
        later = bisect_right(closers, number - 1)
        if later < len(closers):
            number = closers[later] + 1
            yield Code(begin, runs[number - 1][1])


def _escaped(text: str, at: int) -> bool:
    before = at
    while before and text[before - 1] == "\\":
        before -= 1
    return (at - before) % 2 == 1
