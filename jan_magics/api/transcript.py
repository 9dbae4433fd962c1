"""A thread or message to read: text, Markdown and HTML forms of the same words."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import Any, Final, TypeAlias

from jan_magics.context.segments import ARCHIVED, COMPRESSED, TRUNCATED, Seen, look
from jan_magics.domain.messages import Message, text_of
from jan_magics.engine.ids import full_id
from jan_magics.engine.naming import shown_title
from jan_magics.engine.views import View
from jan_magics.notebook.called import calls_html, calls_markdown, calls_of, calls_text
from jan_magics.notebook.html import to_html
from jan_magics.notebook.markdown import neutralise
from jan_magics.notebook.pages import speaker, summary_words
from jan_magics.notebook.render import plain
from jan_magics.notebook.wording import worded

Stretch: TypeAlias = tuple[str, tuple[Message, ...]]
FOLDED: Final = frozenset({ARCHIVED, COMPRESSED})
# In the output itself, so that a saved notebook reads well without us, in dark and light.
CARD: Final = "border-left: 3px solid #7f7f7f80; padding-left: 0.8em; margin: 0.8em 0"
FOLD: Final = "opacity: 0.85; margin: 0.6em 0"


@dataclass(frozen=True, slots=True)
class Transcript:
    """Messages in order, folded where they are not sent word for word. `str()` is the text form."""

    title: str
    messages: tuple[Message, ...]
    seen: Seen = field(default_factory=Seen)
    live: frozenset[str] = frozenset()
    language: str = ""

    def __str__(self) -> str:
        if not self.messages:
            return f"{self.title}: {worded('nothing said yet', self.language)}"
        return "\n\n".join((self.title, *self._text()))

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        head = f"<p><em>{escape(self.title)}</em></p>"
        return {
            "text/plain": str(self),
            "text/markdown": "\n\n".join((f"*{neutralise(self.title)}*", *self._markdown())),
            "text/html": f'<article class="jan-transcript">{head}{"".join(self._html())}</article>',
        }

    def _stretches(self) -> Iterator[Stretch]:
        """Yield runs of messages with one status; what is sent or hidden is read one by one."""
        statuses = self.seen.statuses
        for status, run in groupby(self.messages, lambda each: statuses.get(each.id, "")):
            yield status, tuple(run)

    def _folds(self) -> Iterator[tuple[str, str, tuple[Message, ...]]]:
        """Yield a label, a summary and messages: a label where they are folded."""
        told = summary_words(self.seen.summary)
        for status, run in self._stretches():
            count = f"{len(run)} message{'s' * (len(run) != 1)}"
            if status == ARCHIVED:
                yield self._said(f"context cleared · {count}"), "", run
            elif status == COMPRESSED:
                label = f"summary of {count}" if told else f"in the summary · {count}"
                yield self._said(label), told, run
                told = ""
            else:
                yield "", "", run

    def _said(self, words: str) -> str:
        return worded(words, self.language)

    def _text(self) -> Iterator[str]:
        for label, told, run in self._folds():
            if label:
                yield f"▸ {label}" + (f"\n{plain(told)}" if told else "")
            else:
                yield from (self._plain(each) for each in run)

    def _markdown(self) -> Iterator[str]:
        for label, told, run in self._folds():
            if label:
                yield f"**▸ {label}**" + (f"\n\n{neutralise(told)}" if told else "")
            else:
                for each in run:
                    called = calls_markdown(calls_of(each.parts), self.language)
                    said = (neutralise(text_of(each)).rstrip("\n"), called)
                    name = f"**{neutralise(self._speaker(each))}**"
                    yield f"{name}\n\n" + "\n\n".join(filter(None, said))

    def _html(self) -> Iterator[str]:
        for label, told, run in self._folds():
            shown = "".join(self._section(each) for each in run)
            if told:
                head = f"<p><strong>{escape(label)}</strong></p>"
                body = to_html(told) + _fold(self._said("the messages themselves"), shown)
                yield f'<section class="jan-summary" style="{CARD}">{head}{body}</section>'
            else:
                yield _fold(label, shown) if label else shown

    def _plain(self, message: Message) -> str:
        said = (plain(text_of(message)), calls_text(calls_of(message.parts), self.language))
        return "\n".join((self._speaker(message), *filter(None, said)))

    def _section(self, message: Message) -> str:
        calls = calls_html(calls_of(message.parts), self.language)
        return (
            f'<section class="jan-message" data-role="{message.role}">'
            f"<p><strong>{escape(self._speaker(message))}</strong></p>"
            f"{to_html(text_of(message))}{calls}</section>"
        )

    def _speaker(self, message: Message) -> str:
        status = self.seen.status(message.id)
        odd = status not in (*FOLDED, TRUNCATED, "active")
        now = {"hidden": status == TRUNCATED, "live": message.id in self.live}
        who = speaker(message, **now, language=self.language)
        return f"{who} ({self._said(f'{status}, not sent')})" if odd else who


def _fold(label: str, shown: str) -> str:
    summary = f"<summary>{escape(label)}</summary>"
    return f'<details class="jan-fold" style="{FOLD}">{summary}{shown}</details>'


def transcript(view: View, only: str | None, language: str = "") -> Transcript:
    """Return the path, or the one message whose id begins so.

    Raises:
        ThreadError: when no message's id begins so, or more than one.
    """
    title = shown_title(view.thread) if view.thread else "a new thread"
    if only is None:
        seen = look(view.path(), view.records)
        return Transcript(title, view.path(), seen, view.live, language)
    message = view.index[full_id(view.index, only)]
    hidden = {message.id: TRUNCATED} if message.id in view.hidden else {}
    return Transcript(title, (message,), Seen(hidden), view.live, language)
