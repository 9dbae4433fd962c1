"""What a question found, with a threshold to move: what falls out, and each chunk in its place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from jan_magics.domain.errors import RetrievalError
from jan_magics.notebook.columns import clip
from jan_magics.notebook.hazards import legible
from jan_magics.notebook.hit_cards import Asked, Bar, Card, score_text
from jan_magics.widgets.chunk_places import in_place
from jan_magics.widgets.comm import Message, Say

MOST: Final = 50
"""Candidates that are shown; the table has all."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a candidate is from, and what decides about it.

    `cosine` None: no vector was compared; `lost` names what let it go for good, whatever the
    threshold.
    """

    chunk: str
    source: str
    start: int
    end: int
    cosine: float | None
    lost: str = ""


@dataclass(slots=True)
class ScoreView:
    """Candidates with every score. `document` returns the text of a source.

    `note` is said where moving the threshold is not the whole truth.
    """

    asked: Asked
    places: Sequence[Place]
    k: int
    threshold: float | None
    document: Callable[[str], str]
    note: str = ""
    kind: str = "score"
    _say: Say = field(default=lambda _: None)

    def joined(self, say: Say) -> None:
        """Take the way to the page."""
        self._say = say

    def first(self) -> Message:
        """Return the candidates, the best first."""
        pairs = list(zip(self.asked.cards, self.places, strict=True))[:MOST]
        return {
            "kind": "scores",
            "question": legible(self.asked.question),
            "how": [legible(each) for each in self.asked.how],
            "k": self.k,
            "threshold": self.threshold,
            "note": self.note,
            "more": len(self.places) - len(pairs),
            "rows": [_row(card, place) for card, place in pairs],
        }

    def mark(self) -> object:
        """Return nothing: what was found stays what was found."""
        return None

    def hear(self, message: Mapping[str, Any]) -> None:
        """Show a chunk in its document. Raises RetrievalError where that is gone."""
        if message.get("kind") == "ready":
            self._say(self.first())
        if message.get("kind") != "document":
            return
        wanted = str(message.get("chunk"))
        self._say({"kind": "document", "chunk": wanted, **self.whole(wanted)})

    def whole(self, chunk: str) -> Message:
        """Return a candidate in its document. Raises RetrievalError where that is gone."""
        place = next((each for each in self.places if each.chunk == chunk), None)
        if place is None:
            raise RetrievalError("this chunk is not among the candidates", "Search again.")
        return in_place(self.document(place.source), place.start, place.end)


def _row(card: Card, place: Place) -> Message:
    return {
        "chunk": place.chunk,
        "source": legible(card.source),
        "about": card.about.removeprefix(legible(card.source)).removeprefix(" · "),
        "words": clip(" ".join(legible(card.text).split()), 240),
        "cosine": place.cosine,
        "lost": place.lost,
        "bars": [_bar(bar) for bar in card.bars],
    }


def _bar(bar: Bar) -> Message:
    full = score_text(bar.full) if bar.full > 0 else ""
    return {"name": bar.name, "said": bar.said, "share": bar.share, "full": full}
