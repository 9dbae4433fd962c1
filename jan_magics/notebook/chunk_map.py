"""A text with its chunks to look at: colours alternate, what two chunks share is hatched.

Everything is in the output itself, so that a saved notebook reads well without us; colours are
half transparent, so that they do in dark and light, and numbers say what they say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any, Final

from jan_magics.domain.counting import counted
from jan_magics.notebook.columns import wrap
from jan_magics.notebook.hazards import defused, legible
from jan_magics.notebook.wording import worded

MOST_CHUNKS: Final = 200
MOST_CHARACTERS: Final = 100_000
"""What is shown of one recipe; the table has all."""
WIDEST: Final = 84
"""Columns of the text form."""
_COLOURS: Final = ("66, 133, 244", "245, 160, 30")
_HATCH: Final = (
    "background-image: repeating-linear-gradient(135deg, rgba(127, 127, 127, 0.3) 0 2px, "
    "transparent 2px 7px); text-decoration: underline dotted rgba(127, 127, 127, 0.9)"
)
_TEXT: Final = (
    "white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.6; max-height: 40em; "
    "overflow-y: auto; margin: 0.4em 0; padding: 0.2em 0.4em; border: 1px solid #7f7f7f50"
)
_BADGE: Final = (
    "font-size: 0.7em; font-weight: 600; font-family: monospace; padding: 0 0.35em; "
    "margin-right: 0.2em; border-radius: 0.6em; border: 1px solid #7f7f7f90"
)


@dataclass(frozen=True, slots=True)
class Block:
    """A chunk as it is shown; places are characters, half-open, the size is tokens."""

    recipe: str
    number: int
    start: int
    end: int
    tokens: int
    text: str
    headings: str = ""
    page: int | None = None
    warning: str = ""

    def about(self, language: str) -> str:
        """Return what there is to know of it, in a line."""
        said = [f"chunk {self.number}", f"{counted(self.tokens, 'token')}",
                f"characters {self.start:,}–{self.end:,}"]  # fmt: skip
        said += [f"page {self.page}"] if self.page is not None else []
        told = (*(worded(each, language) for each in said), self.headings, self.warning)
        return " · ".join(filter(None, told))


@dataclass(frozen=True, slots=True)
class ChunkMap:
    """Chunks of one text by one recipe after another. `str()` is the text form."""

    source: str
    blocks: tuple[Block, ...]
    language: str = ""

    def __str__(self) -> str:
        if not self.blocks:
            none = worded("no chunks, there is nothing but white space", self.language)
            return f"{legible(self.source)}: {none}"
        return "\n\n".join("\n".join(self._text(run)) for run in self._recipes())

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        shown = "".join("".join(self._html(run)) for run in self._recipes())
        shown = shown or f"<p>{escape(str(self))}</p>"
        return {
            "text/plain": str(self),
            "text/html": f'<article class="jan-chunks">{shown}</article>',
        }

    def _recipes(self) -> Iterator[Sequence[Block]]:
        for recipe in dict.fromkeys(block.recipe for block in self.blocks):
            yield [block for block in self.blocks if block.recipe == recipe]

    def _head(self, run: Sequence[Block]) -> str:
        sizes = [block.tokens for block in run]
        spread = f"{min(sizes)}–{max(sizes)}, on average {sum(sizes) / len(sizes):.0f}"
        twice = sum(max(0, a.end - b.start) for a, b in pairwise(run))
        share = twice / max(1, max(block.end for block in run) - run[0].start)
        sizes_said = (
            counted(len(run), "chunk"), f"tokens {spread}", f"{share:.0%} of the text twice",
        )  # fmt: skip
        said = (worded(each, self.language) for each in sizes_said)
        return " · ".join((legible(self.source), run[0].recipe, *said))

    def _text(self, run: Sequence[Block]) -> Iterator[str]:
        shown = _shown(run)
        yield self._head(run)
        for before, block in zip((None, *shown), shown, strict=False):
            yield f"┌ {block.about(self.language)}"
            shared = max(0, before.end - block.start) if before else 0
            for mark, part in (("░", block.text[:shared]), ("│", block.text[shared:])):
                if part.strip():
                    yield from (
                        f"{mark} {line}".rstrip()
                        for line in wrap(legible(part).strip("\n"), WIDEST)
                    )
        if len(shown) < len(run):
            yield worded(_left(run, shown), self.language)

    def _html(self, run: Sequence[Block]) -> Iterator[str]:
        shown = _shown(run)
        yield f"<p><strong>{escape(self._head(run))}</strong></p>{_bars(run, self.language)}"
        # A box that scrolls can be reached and scrolled with the keyboard.
        yield f'<div style="{_TEXT}" dir="auto" tabindex="0" role="region" aria-label="chunks">'
        for n, block in enumerate(shown):
            # Up to where the next chunk begins: what they share is shown with that one.
            last = min([block.end, *(each.start for each in shown[n + 1 : n + 2])])
            shared = min(shown[n - 1].end, last) - block.start if n else 0
            twice, once = (
                block.text[: max(0, shared)],
                block.text[max(0, shared) : last - block.start],
            )
            about = block.about(self.language)
            shared_said = worded(
                f"in chunk {block.number - 1} and chunk {block.number}", self.language
            )
            yield _badge(block, about) + _shared(shared_said, twice) + _own(about, once, n)
        yield "</div>"
        if len(shown) < len(run):
            yield f"<p>{escape(worded(_left(run, shown), self.language))}</p>"


def _shown(run: Sequence[Block]) -> Sequence[Block]:
    most = next(
        (n for n, block in enumerate(run) if block.end - run[0].start > MOST_CHARACTERS), len(run)
    )
    return run[: max(1, min(most, MOST_CHUNKS))]


def _left(run: Sequence[Block], shown: Sequence[Block]) -> str:
    return f"{counted(len(run) - len(shown), 'chunk')} more: the table has all of them"


def _own(about: str, text: str, index: int) -> str:
    colour = f"background-color: rgba({_COLOURS[index % 2]}, 0.2)"
    return f'<span style="{colour}" title="{escape(about)}">{_safe(text)}</span>' if text else ""


def _shared(said: str, text: str) -> str:
    return f'<span style="{_HATCH}" title="{said}">{_safe(text)}</span>' if text else ""


def _badge(block: Block, about: str) -> str:
    about = escape(about)
    odd = " ⚠" if block.warning else ""
    return f'<span style="{_BADGE}" title="{about}" aria-label="{about}">{block.number}{odd}</span>'


def _bars(run: Sequence[Block], language: str) -> str:
    """Return a bar a chunk, as high as it is large, for the eye only."""
    largest = max(block.tokens for block in run)
    bars = "".join(
        f'<span title="{escape(block.about(language))}" '
        f'style="flex: 1 1 0; max-width: 14px; min-width: 1px; '
        f"height: {max(1, round(block.tokens / largest * 36))}px; "
        f'background-color: rgba({_COLOURS[n % 2]}, 0.75)"></span>'
        for n, block in enumerate(run[:MOST_CHUNKS])
    )
    style = "display: flex; align-items: flex-end; gap: 1px; height: 36px; margin: 0.3em 0"
    return f'<div aria-hidden="true" style="{style}">{bars}</div>'


def _safe(text: str) -> str:
    return escape(defused(legible(text)))
