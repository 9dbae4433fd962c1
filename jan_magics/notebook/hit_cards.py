"""Hits to read: each whole, the question's words marked, its scores as bars with their numbers.

Everything is in the output itself, so that a saved notebook reads well without us; colours are
half transparent, so that they do in dark and light, and none of them says what no word says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from jan_magics.domain.counting import counted
from jan_magics.notebook.columns import pad, wrap
from jan_magics.notebook.hazards import defused, legible
from jan_magics.notebook.wording import worded

MOST_CARDS: Final = 50
"""What is shown of one question; the table has all."""
WIDEST: Final = 84
"""Columns of the text form."""
_TEN: Final = 10
_CARD: Final = (
    "border: 1px solid #7f7f7f50; border-left: 4px {line}; border-radius: 4px; "
    "padding: 0.4em 0.8em; margin: 0.5em 0"
)
_USED: Final = "solid rgba(0, 114, 178, 0.9)"
_LOST: Final = "dashed #7f7f7f90"
_TEXT: Final = (
    "white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; max-height: 24em; "
    "overflow-y: auto; margin: 0.4em 0 0"
)
_MARK: Final = (
    "background-color: rgba(245, 160, 30, 0.35); color: inherit; "
    "border-bottom: 2px solid rgba(230, 140, 0, 0.9)"
)
SMALLEST: Final = 0.001
"""A score nearer to 0 is only told as such."""
_GRID: Final = (
    "display: grid; grid-template-columns: max-content minmax(4em, 14em) max-content; "
    "gap: 1px 0.8em; align-items: center; margin: 0.3em 0; font-size: 0.85em"
)
_TRACK: Final = "display: block; height: 0.6em; background-color: rgba(127, 127, 127, 0.2)"
_BAR: Final = "display: block; height: 100%; width: {share:.0%}; background-color: {colour}"
_COLOURS: Final = "rgba(0, 114, 178, 0.85)", "rgba(213, 94, 0, 0.85)"


def score_text(score: float) -> str:
    """Return a score as it is read: what is nearly nothing is no power of ten.

    >>> score_text(0.71234), score_text(1e-06), score_text(-1e-06), score_text(0.0)
    ('0.712', '<0.001', '>-0.001', '0')
    """
    if 0 < abs(score) < SMALLEST:
        return f"<{SMALLEST}" if score > 0 else f">-{SMALLEST}"
    return f"{score:.3g}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A stage's score, and the score that fills its bar: another one for each name."""

    name: str
    value: float
    full: float
    rank: int | None = None

    @property
    def share(self) -> float:
        """Return how much of the bar is filled, from 0 to 1."""
        return min(1.0, max(0.0, self.value / self.full)) if self.full > 0 else 0.0

    @property
    def said(self) -> str:
        """Return the number as it is read, with the rank that this stage alone gave."""
        return self.said_in("")

    def said_in(self, language: str) -> str:
        """Return the same in a language."""
        rank = "" if self.rank is None else worded(f", rank {self.rank}", language)
        return score_text(self.value) + rank


@dataclass(frozen=True, slots=True)
class Card:
    """A hit as it is shown; what is told of it is in the reader's language already.

    `marks` are places in `text` (characters, half-open), ascending.
    """

    number: str
    state: str
    used: bool
    source: str
    text: str
    bars: tuple[Bar, ...] = ()
    facts: tuple[str, ...] = ()
    marks: tuple[tuple[int, int], ...] = ()

    @property
    def about(self) -> str:
        """Return where it is from, in a line."""
        return legible(" · ".join((self.source, *self.facts)))


@dataclass(frozen=True, slots=True)
class Asked:
    """What one question found, and how it was searched."""

    question: str
    how: tuple[str, ...]
    cards: tuple[Card, ...]
    language: str = ""

    @property
    def head(self) -> str:
        """Say what was asked, how many hits there are, and how it was searched."""
        used = sum(card.used for card in self.cards)
        shown = counted(used, "hit") + " used"
        if used < len(self.cards):
            shown += f", {len(self.cards) - used} not"
        said = (self.question, *(worded(each, self.language) for each in (shown, *self.how)))
        return legible(" · ".join(filter(None, said)))

    @property
    def scale(self) -> str:
        """Say which score fills a bar, by its name; "" where there is none."""
        full = {bar.name: bar.full for card in self.cards for bar in card.bars if bar.full > 0}
        told = ", ".join(f"{name} {score_text(score)}" for name, score in full.items())
        if not told:
            return ""
        words = f"a full bar is {told}: only bars of the same name can be compared"
        return worded(words, self.language)


@dataclass(frozen=True, slots=True)
class HitCards:
    """Hits of one question after another. `str()` is the text form."""

    asked: tuple[Asked, ...]
    language: str = ""

    def __str__(self) -> str:
        shown = "\n\n".join("\n".join(_lines(each)) for each in self.asked)
        return shown or worded("no hits", self.language)

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        shown = "".join("".join(_html(each)) for each in self.asked) or f"<p>{self}</p>"
        return {
            "text/plain": str(self),
            "text/html": f'<article class="jan-hits">{shown}</article>',
        }


def _lines(asked: Asked) -> Iterator[str]:
    yield from wrap(asked.head, WIDEST)
    yield from wrap(asked.scale, WIDEST) if asked.scale else ()
    for card in asked.cards[:MOST_CARDS]:
        yield f"┌ {card.number} · {card.state}"
        yield from (f"│ {line}" for line in wrap(card.about, WIDEST))
        widest = max((len(bar.name) for bar in card.bars), default=0)
        for bar in card.bars:
            filled, said = round(bar.share * _TEN), bar.said_in(asked.language)
            yield f"│ {pad(bar.name, widest)} {'█' * filled}{'░' * (_TEN - filled)} {said}"
        yield "│"
        for line in wrap(legible(card.text).strip("\n"), WIDEST):
            yield f"│ {line}".rstrip()
    yield from _left(asked)


def _html(asked: Asked) -> Iterator[str]:
    yield f"<p><strong>{_safe(asked.head)}</strong></p>"
    yield f"<p>{_safe(asked.scale)}</p>" if asked.scale else ""
    for card in asked.cards[:MOST_CARDS]:
        style = _CARD.format(line=_USED if card.used else _LOST)
        name = escape(f"{card.number}, {card.state}")
        yield f'<section style="{style}" aria-label="{name}">'
        yield f"<div><strong>{escape(card.number)}</strong> · {escape(card.state)}</div>"
        yield f"<div>{_safe(card.about)}</div>{_bars(card.bars, asked.language)}"
        # A box that scrolls can be reached and scrolled with the keyboard.
        yield f'<div style="{_TEXT}" dir="auto" tabindex="0" role="region" aria-label="text">'
        yield f"{_marked(card)}</div></section>"
    yield from (f"<p>{line}</p>" for line in _left(asked))


def _left(asked: Asked) -> Iterator[str]:
    if (left := len(asked.cards) - MOST_CARDS) > 0:
        yield worded(f"{counted(left, 'hit')} more: the table has all of them", asked.language)


def _bars(bars: Sequence[Bar], language: str) -> str:
    """Return a row a score: name, bar and number; the bar is for the eye only."""
    rows = "".join(
        f'<span>{escape(bar.name)}</span><span aria-hidden="true" style="{_TRACK}">'
        f'<span style="{_BAR.format(share=bar.share, colour=_COLOURS[n > 0])}"></span></span>'
        f"<span>{escape(bar.said_in(language))}</span>"
        for n, bar in enumerate(bars)
    )
    return f'<div style="{_GRID}">{rows}</div>' if rows else ""


def _marked(card: Card) -> str:
    pieces, done = list[str](), 0
    for start, end in card.marks:
        pieces.append(_safe(card.text[done:start]))
        pieces.append(f'<mark style="{_MARK}">{_safe(card.text[start:end])}</mark>')
        done = end
    return "".join((*pieces, _safe(card.text[done:]))).strip("\n")


def _safe(text: str) -> str:
    return escape(defused(legible(text)))
