"""Fill chunks up to their size: the one loop that all splitters share."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from jan_magics.domain.counting import counted
from jan_magics.rag.counting import Tokens
from jan_magics.rag.graphemes import boundary_after
from jan_magics.rag.splitters import Splitter


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text (characters, half-open), its size, and what is odd about it."""

    start: int
    end: int
    size: int
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Packing:
    """A text on its way into spans."""

    text: str
    tokens: Tokens
    splitter: Splitter
    size: int
    overlap: int

    def spans(self) -> Iterator[Span]:
        """Yield spans of at most `size`; together they cover the text."""
        start = done = index = 0
        while done < len(self.text):
            index = self._ended(start, index)
            found = self._fitting(start, done, index)
            if found is None:
                # With the overlap nothing new fits.
                start = done
                continue
            yield found
            done = found.end
            start = self._next(found, index)

    def _ended(self, place: int, index: int) -> int:
        """Return how many tokens end up to a place, `index` or more of them."""
        borders, near = self.tokens.borders, index + self.size + 1
        # Nearly always it is near, and looking there only is twice as fast.
        if near < len(borders) and borders[near] > place:
            return bisect_right(borders, place, index, near)
        return bisect_right(borders, place, index)

    def _fitting(self, start: int, done: int, index: int) -> Span | None:
        """Return the longest good span that begins there, None where it would not get on.

        Tokens do not always add up: a word without the blank before it is another token. So what
        was cut is counted by itself, and cut again where it has become too long.
        """
        borders, room = self.tokens.borders, self.size
        while room > 0:
            last = index + room - 1
            high = borders[last] if last < len(borders) else len(self.text)
            end = self.splitter.end(start, done, high) if high > done else done
            if end <= done:
                break
            size = self.tokens.count(start, end, index, min(len(borders), last + 1))
            if size <= self.size:
                return Span(start, end, size)
            room = min(room, self._ended(end, index) - index) - (size - self.size)
        return self._cluster(start, index) if start == done else None

    def _cluster(self, start: int, index: int) -> Span:
        """Return the next cluster, which may be too long to be left whole."""
        text, borders = self.text, self.tokens.borders
        end = boundary_after(text, start + 1, start)
        size = self.tokens.count(start, end, 0, len(borders))
        if size <= self.size:
            return Span(start, end, size)
        if end == start + 1:
            return Span(start, end, size, f"one character of {counted(size, 'token')}")
        end = min(end, max(start + 1, borders[min(index + self.size, len(borders)) - 1]))
        while (size := self.tokens.count(start, end, 0, len(borders))) > self.size:
            if end == start + 1:
                break
            end -= 1
        return Span(start, end, size, "cut inside a cluster, which alone exceeds the size")

    def _next(self, span: Span, index: int) -> int:
        """Return where the span behind another one begins: what they share is an overlap at most.

        It is counted by itself, too, and begins later where it has become too long.
        """
        shared = self.overlap if span.end < len(self.text) else 0
        ended = self._ended(span.end, index)
        while shared > 0:
            behind = ended - shared - 1
            low = self.tokens.borders[behind] if behind >= index else 0
            start = self.splitter.begin(span.start, max(low, span.start + 1), span.end)
            if start >= span.end:
                break
            size = self.tokens.count(start, span.end, index, ended)
            if size <= self.overlap:
                return start
            shared -= size - self.overlap
        return span.end
