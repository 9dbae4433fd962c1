"""The splitters: where a chunk may end, and where the next one begins."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Protocol

from jan_magics.rag.graphemes import boundary_after, boundary_before
from jan_magics.rag.places import Places, gap_end
from jan_magics.rag.structure import Structure


class Splitter(Protocol):
    """Chooses places in one text (characters)."""

    def end(self, start: int, low: int, high: int) -> int:
        """Return where a chunk that begins at `start` ends: in (low, high] if it can.

        `high` is the furthest place that fits. It is at `low` or before where a single cluster
        reaches beyond `high`.
        """
        ...

    def begin(self, start: int, low: int, end: int) -> int:
        """Return where the chunk behind the one from `start` to `end` begins: in [low, end]."""
        ...


@dataclass(frozen=True, slots=True)
class Windows:
    """Chunks of equal size wherever they end: the splitters `chars` and `tokens`."""

    text: str

    def end(self, start: int, low: int, high: int) -> int:
        """Return the last place up to `high` that tears no cluster."""
        return boundary_before(self.text, high, start)

    def begin(self, start: int, low: int, end: int) -> int:
        """Return the first place from `low` that tears no cluster."""
        return min(end, boundary_after(self.text, low, start))


@dataclass(frozen=True, slots=True)
class Passages:
    """Chunks that end well: before a heading, else behind a paragraph, a line, a sentence, a word.

    A chunk is half full at least, a third before a whole block, and an eighth before the heading
    of a section that does not fit into it. With `alone` every section begins a chunk.
    """

    text: str
    places: Places
    structure: Structure
    alone: bool = False

    def end(self, start: int, low: int, high: int) -> int:
        """Return the best place."""
        sections = self.structure.sections
        if self.alone:
            n = bisect_right(sections, low)
            if n < len(sections) and sections[n] <= high:
                return sections[n]
        if high == len(self.text):
            return high
        room = high - start
        n = bisect_right(sections, high) - 1
        if n >= 0 and sections[n] > max(low, start + room // 8):
            return sections[n]
        place = self.places.last(max(low, start + room // 2), high, start)
        block = self.structure.block_at(place)
        return block[0] if block and block[0] > max(low, start + room // 3) else place

    def begin(self, start: int, low: int, end: int) -> int:
        """Return a good place that a heading does not part from `end`."""
        starts = self.structure.starts
        n = bisect_left(starts, end)
        if n < len(starts) and starts[n] == end:
            return end
        if n and starts[n - 1] >= low:
            return starts[n - 1]
        place = self.places.first(low, end, start)
        block = self.structure.block_at(place)
        # The rest of a block says little without its beginning, unless it goes on behind `end`.
        if block and block != self.structure.block_at(end):
            return gap_end(self.text, min(end, block[1]), end)
        return place
