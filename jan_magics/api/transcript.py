"""A thread or message to read: text, Markdown and HTML forms of the same words."""

from dataclasses import dataclass
from html import escape
from typing import Any

from jan_magics.domain.messages import Message, text_of
from jan_magics.engine.ids import full_id
from jan_magics.engine.threads import shown_title
from jan_magics.engine.views import View
from jan_magics.notebook.html import to_html
from jan_magics.notebook.markdown import neutralise
from jan_magics.notebook.pages import speaker
from jan_magics.notebook.render import plain


@dataclass(frozen=True, slots=True)
class Transcript:
    """Messages in order; `hidden` are the ids of those not sent. `str()` is the text form."""

    title: str
    messages: tuple[Message, ...]
    hidden: frozenset[str] = frozenset()

    def __str__(self) -> str:
        if not self.messages:
            return f"{self.title}: nothing said yet"
        blocks = [f"{self._speaker(each)}\n{plain(text_of(each))}" for each in self.messages]
        return "\n\n".join((self.title, *blocks))

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/markdown": self._markdown(),
            "text/html": self._html(),
        }

    def _speaker(self, message: Message) -> str:
        return speaker(message, hidden=message.id in self.hidden)

    def _markdown(self) -> str:
        blocks = [
            f"**{neutralise(self._speaker(each))}**\n\n{neutralise(text_of(each))}"
            for each in self.messages
        ]
        return "\n\n".join((f"*{neutralise(self.title)}*", *blocks))

    def _html(self) -> str:
        blocks = [
            f'<section class="jan-message" data-role="{each.role}">'
            f"<p><strong>{escape(self._speaker(each))}</strong></p>{to_html(text_of(each))}</section>"
            for each in self.messages
        ]
        head = f"<p><em>{escape(self.title)}</em></p>"
        return f'<article class="jan-transcript">{head}{"".join(blocks)}</article>'


def transcript(view: View, only: str | None) -> Transcript:
    """Return the path, or the one message whose id begins so.

    Raises:
        ThreadError: when no message's id begins so, or more than one.
    """
    title = shown_title(view.thread) if view.thread else "a new thread"
    path = view.path() if only is None else (view.index[full_id(view.index, only)],)
    return Transcript(title, path, view.hidden)
