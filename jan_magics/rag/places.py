"""Where a text may be cut well: paragraph, line, sentence, word; looked for near a limit only.

Nothing is collected in advance: each chunk looks back from the furthest place that fits, so the
time is that of the text's length whatever is in it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from jan_magics.rag.graphemes import boundary_after, boundary_before

PARAGRAPHS: Final = ("\n\n", "\n\r\n", "\r\r", "\u2029")
LINES: Final = ("\n", "\r", "\u2028", "\x0c")
STOPS: Final = (
    ". ", "! ", "? ", '." ', ".) ", ".' ", ".” ", '!" ', '?" ', "!” ", "?” ", "… ",
    "。", "！", "？", "；", "…", "．", "｡",
)  # fmt: skip
BLANKS: Final = (" ", "\t", "\u3000", "\u00a0")
LONGEST_MARK: Final = 3
LONG_WORD: Final = 40
"""Characters of a word that may be cut anywhere."""
_GAP: Final = re.compile(r"[^\S\r\n]*(?:(?:\r\n?|\n)(?:[^\S\r\n]*[\r\n])*)?")
"""What goes with the text before it: blanks, a line's end and empty lines, but no indent."""
_CLOSING: Final = re.compile("[」』）】》〉〕”’\"')\\]。！？；…．｡]*")


@dataclass(frozen=True, slots=True)
class Places:
    """The places of one text; each field holds the marks of its level that occur in it."""

    text: str
    paragraphs: tuple[str, ...]
    lines: tuple[str, ...]
    stops: tuple[str, ...]
    blanks: tuple[str, ...]

    def last(self, low: int, high: int, since: int) -> int:
        """Return the best place in (low, high] to cut at: `high`, or near it, where none is good.

        `since` is a place up to `low` where the text may be cut; the place may be `since` itself
        where a single cluster reaches beyond `high`.
        """
        text, near = self.text, max(since, low - LONGEST_MARK)
        for marks in (self.paragraphs, self.lines, self.stops, self.blanks):
            found, begin = -1, near
            for mark in marks:
                # What is found ends the stretch in which another mark could be later.
                if (at := text.rfind(mark, begin, high)) >= 0:
                    found = begin = at
            if found >= 0:
                place = boundary_before(text, self._behind(found, high), since)
                if place > low:
                    return place
        return boundary_before(text, high, since)

    def first(self, low: int, high: int, since: int) -> int:
        """Return a good place in [low, high) to begin at; `high` where there is none.

        Inside a word it is good only where words are long or not parted by blanks. `since` is a
        place up to `low` where the text may be cut.
        """
        place = min(self._begins((*self.lines, *self.stops), low, high), default=high)
        if place >= high:
            place = min(self._begins(self.blanks, low, high), default=high)
        if place < high or (high - low < LONG_WORD and self.text[low:high].isascii()):
            return place
        return gap_end(self.text, min(high, boundary_after(self.text, low, since)), high)

    def _begins(self, marks: Iterable[str], low: int, high: int) -> Iterator[int]:
        for mark in marks:
            found = self.text.find(mark, max(0, low - LONGEST_MARK), high)
            if found >= 0 and low <= (place := self._behind(found, high)) < high:
                yield place

    def _behind(self, mark: int, high: int) -> int:
        """Return where the text goes on behind a mark and its gap, `high` at the latest."""
        at = mark
        if not self.text[at].isspace():
            at = _closed(self.text, at + 1, high)
        return gap_end(self.text, at, high)


def places_of(text: str) -> Places:
    """Return the places of a text."""
    # Sign by sign: what is there is found at once, and looking for one sign is fast.
    signs = set("".join((*PARAGRAPHS, *LINES, *STOPS, *BLANKS)))
    there = {sign for sign in signs if sign in text}
    levels = (PARAGRAPHS, LINES, STOPS, BLANKS)
    return Places(
        text, *(tuple(each for each in marks if there.issuperset(each)) for marks in levels)
    )


def _closed(text: str, at: int, high: int) -> int:
    found = _CLOSING.match(text, at, high)
    return found.end() if found else at


def gap_end(text: str, at: int, high: int) -> int:
    """Return where the white space at a place ends that goes with the text before it."""
    found = _GAP.match(text, at, high)
    return found.end() if found else at
