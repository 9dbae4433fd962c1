"""Two versions side by side, the words that differ marked: text, Markdown and HTML forms."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape
from itertools import zip_longest
from typing import Any, Final, Literal, TypeAlias

from jan_magics.domain.errors import ThreadError
from jan_magics.domain.messages import Message, text_of
from jan_magics.engine.branches import ONE_VERSION, goal_of, versions_shown
from jan_magics.engine.ids import short_ids
from jan_magics.engine.views import View
from jan_magics.notebook.columns import pad, wrap
from jan_magics.notebook.hazards import defused, inline_text
from jan_magics.notebook.pages import speaker
from jan_magics.notebook.render import plain

COLUMN: Final = 44
"""Columns of one side in plain text."""
_CJK: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+|\s+|.", re.DOTALL)
Kind: TypeAlias = Literal["same", "gone", "new"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words that both sides have, or one of them only."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Side:
    """One version: who wrote it, and its text in pieces."""

    title: str
    pieces: tuple[Piece, ...]

    def written(self, write: Callable[[Piece], str]) -> str:
        """Return the text with its marks."""
        return "".join(map(write, self.pieces))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions of a message. `str()` is the text form: `[-only left-]`, `{+only right+}`."""

    left: Side
    right: Side

    def __str__(self) -> str:
        sides = (self.left, self.right)
        head = " │ ".join(pad(side.title, COLUMN) for side in sides).rstrip()
        columns = (wrap(side.written(_plain_piece), COLUMN) for side in sides)
        lines = (
            f"{pad(left, COLUMN)} │ {right}".rstrip()
            for left, right in zip_longest(*columns, fillvalue="")
        )
        return "\n".join((head, "─" * COLUMN + "─┼─" + "─" * COLUMN, *lines))

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/markdown": self._markdown(),
            "text/html": self._html(),
        }

    def _markdown(self) -> str:
        sides = (self.left, self.right)
        head, body = (
            "| " + " | ".join(cells) + " |"
            for cells in (
                [inline_text(defused(side.title)) for side in sides],
                [side.written(_markdown_piece) for side in sides],
            )
        )
        return f"{head}\n|---|---|\n{body}"

    def _html(self) -> str:
        sides = (self.left, self.right)
        head = "".join(f"<th>{escape(defused(side.title))}</th>" for side in sides)
        style = "white-space: pre-wrap; overflow-wrap: anywhere; vertical-align: top"
        body = "".join(
            f'<td dir="auto" style="{style}; text-align: start">{side.written(_html_piece)}</td>'
            for side in sides
        )
        return f'<table class="jan-diff"><tr>{head}</tr><tr>{body}</tr></table>'


def diff(view: View, a: str | None = None, b: str | None = None) -> Comparison:
    """Compare two messages; each is an id or the number of a version.

    Without `b` it is compared with the version that is shown; without both, the two newest
    versions at the last fork are compared.

    Raises:
        ThreadError: when one of them is not there, or nothing has two versions.
    """
    if a is None:
        versions, _ = versions_shown(view)
        if len(versions) < 2:
            raise ThreadError(*ONE_VERSION)
        one, other = versions[-2], versions[-1]
    else:
        one = view.index[goal_of(view, a)]
        if b is not None:
            other = view.index[goal_of(view, b)]
        else:
            path = {message.id for message in view.index.path()}
            versions = view.index.siblings(one.id)
            other = next((each for each in versions if each.id in path), versions[-1])
    left, right = compared(plain(text_of(one)), plain(text_of(other)))
    return Comparison(Side(_title(view, one), left), Side(_title(view, other), right))


def compared(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Cut two texts into pieces that both have and pieces that only one has."""
    left, right = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    for tag, a, b, c, d in matcher.get_opcodes():
        kinds: tuple[Kind, Kind] = ("same", "same") if tag == "equal" else ("gone", "new")
        for side, kind, words in zip(sides, kinds, (left[a:b], right[c:d]), strict=True):
            if words:
                side.append(Piece(kind, "".join(words)))
    return tuple(sides[0]), tuple(sides[1])


def _title(view: View, message: Message) -> str:
    number, count = view.index.version(message.id)
    version = f" ‹{number}/{count}›" if count > 1 else ""
    who = plain(speaker(message, hidden=message.id in view.hidden))
    return f"{short_ids(view.index)[message.id]} {who}{version}"


def _plain_piece(piece: Piece) -> str:
    marks = {"same": ("", ""), "gone": ("[-", "-]"), "new": ("{+", "+}")}
    opening, closing = marks[piece.kind]
    return f"{opening}{piece.text}{closing}"


def _markdown_piece(piece: Piece) -> str:
    # Marks stand at words: emphasis that begins or ends with a blank is none.
    mark = {"same": "", "gone": "~~", "new": "**"}[piece.kind]
    return "<br>".join(_marked(line, mark) for line in piece.text.split("\n"))


def _marked(line: str, mark: str) -> str:
    words = line.strip()
    if not words:
        return line
    before, _, after = line.partition(words)
    return f"{before}{mark}{inline_text(defused(words))}{mark}{after}"


def _html_piece(piece: Piece) -> str:
    text = escape(defused(piece.text))
    tag = {"same": "", "gone": "del", "new": "ins"}[piece.kind]
    return f"<{tag}>{text}</{tag}>" if tag else text
