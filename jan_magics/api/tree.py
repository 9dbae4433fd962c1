"""A whole thread to look at: every version of everything, the active path as a straight line.

At a fork the other versions stand first, indented, then the path goes on at the left; so a thread
is as deep as its forks are nested, however long it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from jan_magics.domain.messages import Message, text_of
from jan_magics.engine.attached import names_of
from jan_magics.engine.ids import short_ids
from jan_magics.engine.naming import shown_title
from jan_magics.engine.views import View
from jan_magics.notebook.columns import clip
from jan_magics.notebook.hazards import defused, inline_code, inline_text
from jan_magics.notebook.pages import speaker
from jan_magics.notebook.render import plain
from jan_magics.notebook.wording import worded

WIDEST: Final = 64
"""Columns of a message's own words."""
EMPTY: Final = "nothing said yet"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the tree; `depth` counts the versions that it stands in beside the main line."""

    depth: int
    active: bool
    id: str
    who: str
    version: str
    text: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A thread's messages in the order of the tree. `str()` is the text form."""

    title: str
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        return "\n".join((self.title, *(_line(row) for row in self.rows)))

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/markdown": self._markdown(),
            "text/html": self._html(),
        }

    def _markdown(self) -> str:
        lines = [f"*{inline_text(defused(self.title))}*", ""]
        for row in self.rows:
            who = inline_text(defused(f"{row.who}{row.version}"))
            name = f"**{who}**" if row.active else who
            words = inline_text(defused(row.text))
            lines.append(
                f"{'  ' * row.depth}- {_mark(row)} {inline_code(row.id)} {name} {words}".rstrip()
            )
        return "\n".join(lines)

    def _html(self) -> str:
        rows = "".join(map(_html_row, self.rows))
        title = escape(defused(self.title))
        return f'<div class="jan-tree"><p><em>{title}</em></p><ul>{rows}</ul></div>'


def tree_of(view: View, language: str = "") -> Tree:
    """Return the whole thread."""
    title = shown_title(view.thread) if view.thread else "a new thread"
    index = view.index
    if not len(index):
        return Tree(f"{plain(title)}: {worded(EMPTY, language)}", ())
    counts = f"{_count(len(index), 'message')}, {_count(index.leaves or 1, 'branch', 'es')}"
    coming = ", a new one begins with the next turn" if view.pending else ""
    short, hidden = short_ids(index), view.hidden
    path = {message.id for message in view.path()}
    rows = tuple(
        _row(view, message, depth, (short, path, hidden, language))
        for depth, message in _walk(view)
    )
    return Tree(f"{plain(title)}: {worded(f'{counts}{coming}', language)}", rows)


def _walk(view: View) -> Iterator[tuple[int, Message]]:
    """Yield every message with its depth; without recursion, since threads are long."""
    index = view.index
    root = index.active_root()
    waiting: list[tuple[int, Message]] = []

    def take(depth: int, active: Message | None, versions: tuple[Message, ...]) -> None:
        # A stack: the main line goes to the bottom, the other versions above it in their order.
        if active is not None:
            waiting.append((depth, active))
        others = [message for message in versions if message is not active]
        waiting.extend((depth + 1, message) for message in reversed(others))

    if root is not None:
        take(0, root, index.siblings(root.id))
    while waiting:
        depth, message = waiting.pop()
        yield depth, message
        take(depth, index.active_child(message.id), index.children(message.id))


def _row(
    view: View,
    message: Message,
    depth: int,
    known: tuple[Mapping[str, str], set[str], frozenset[str], str],
) -> Row:
    short, path, hidden, language = known
    number, count = view.index.version(message.id)
    version = f" ‹{number}/{count}›" if count > 1 else ""
    now = {"hidden": message.id in hidden, "live": message.id in view.live}
    who = plain(speaker(message, **now, language=language))
    words = clip(plain(text_of(message).strip() or ", ".join(names_of(message))), WIDEST)
    return Row(depth, message.id in path, short[message.id], who, version, words)


def _mark(row: Row) -> str:
    return "●" if row.active else "○"


def _line(row: Row) -> str:
    return f"{'  ' * row.depth}{_mark(row)} {row.id}  {row.who}{row.version}  {row.text}".rstrip()


def _html_row(row: Row) -> str:
    tag = "strong" if row.active else "span"
    here = ' aria-current="true"' if row.active else ""
    indent = f' style="margin-left: {row.depth * 1.5}em"' if row.depth else ""
    who = escape(defused(f"{row.who}{row.version}"))
    words = f'<span dir="auto">{escape(defused(row.text))}</span>'
    return (
        f"<li{here}{indent}>{_mark(row)} <code>{escape(row.id)}</code> "
        f"<{tag}>{who}</{tag}> {words}</li>"
    )


def _count(number: int, word: str, plural: str = "s") -> str:
    return f"{number} {word}{'' if number == 1 else plural}"
