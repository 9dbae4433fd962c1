"""A thread or message to read: text, Markdown and HTML forms of the same words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from jan_magics.domain.errors import MessageNotFound
from jan_magics.domain.messages import Message, text_of
from jan_magics.engine.records import finish_of, model_of
from jan_magics.notebook.html import to_html
from jan_magics.notebook.markdown import neutralise
from jan_magics.notebook.render import plain


@dataclass(frozen=True, slots=True)
class Transcript:
    """Messages in order. `str()` is the text form."""

    title: str
    messages: tuple[Message, ...]

    def __str__(self) -> str:
        if not self.messages:
            return f"{self.title}: nothing said yet"
        blocks = [f"{_speaker(each)}\n{plain(text_of(each))}" for each in self.messages]
        return "\n\n".join((self.title, *blocks))

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/markdown": self._markdown(),
            "text/html": self._html(),
        }

    def _markdown(self) -> str:
        blocks = [
            f"**{neutralise(_speaker(each))}**\n\n{neutralise(text_of(each))}"
            for each in self.messages
        ]
        return "\n\n".join((f"*{neutralise(self.title)}*", *blocks))

    def _html(self) -> str:
        blocks = [
            f'<section class="jan-message" data-role="{each.role}">'
            f"<p><strong>{escape(_speaker(each))}</strong></p>{to_html(text_of(each))}</section>"
            for each in self.messages
        ]
        head = f"<p><em>{escape(self.title)}</em></p>"
        return f'<article class="jan-transcript">{head}{"".join(blocks)}</article>'


def transcript(
    title: str, path: Sequence[Message], everything: Iterable[Message], only: str | None
) -> Transcript:
    """Return the path, or the one message whose id begins so. Raises MessageNotFound."""
    if only is None:
        return Transcript(title, tuple(path))
    found = tuple(message for message in everything if message.id.startswith(only))
    if len(found) != 1:
        raise MessageNotFound(only)
    return Transcript(title, found)


def _speaker(message: Message) -> str:
    if message.role != "assistant":
        return {"user": "You", "system": "System"}[message.role]
    finish = finish_of(message)
    cut = f", {finish}" if finish in ("stopped", "interrupted", "length", "error") else ""
    return f"{model_of(message) or 'Assistant'}{cut}"
