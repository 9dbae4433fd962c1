"""A path as rows for a page: messages as safe HTML, cleared and summarised stretches folded."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final

from jan_magics.context.segments import ARCHIVED, COMPRESSED, TRUNCATED, Seen, look
from jan_magics.domain.legacy import read_parts, words_of
from jan_magics.domain.messages import FilePart, Message, ReasoningPart
from jan_magics.engine.placing import CUT
from jan_magics.engine.records import finish_of, sources_of
from jan_magics.engine.views import View
from jan_magics.notebook.called import Called, calls_of
from jan_magics.notebook.hazards import legible
from jan_magics.notebook.html import to_html
from jan_magics.notebook.mathml import to_mathml
from jan_magics.notebook.pages import speaker, summary_words
from jan_magics.widgets.comm import Message as Json

WINDOW: Final = 30
"""Rows that a page gets at a time."""
safe_html = partial(to_html, mathml=to_mathml)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages that are one row: a single one, or a run that is not sent word for word.

    `what` is "" for a single one, else "cleared", "summary" or "covered" (a further run of it).
    """

    messages: tuple[Message, ...]
    what: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a thread's active path; each is made when it is asked for."""

    view: View
    seen: Seen
    stretches: tuple[Stretch, ...]

    def cut(self, start: int, end: int) -> list[Json]:
        """Return rows, by their numbers from 0."""
        return [self._row(each) for each in self.stretches[max(0, start) : end]]

    def inside(self, identifier: str, start: int, end: int) -> tuple[list[Json], int]:
        """Return messages of a folded stretch, and how many it has; it is named by its first."""
        found = (s for s in self.stretches if s.what and s.messages[0].id == identifier)
        messages = next((stretch.messages for stretch in found), ())
        return [self._message(each) for each in messages[start:end]], len(messages)

    def _row(self, stretch: Stretch) -> Json:
        first = stretch.messages[0]
        if not stretch.what:
            return self._message(first)
        told = summary_words(self.seen.summary) if stretch.what == "summary" else ""
        return {
            "row": "fold",
            "message": first.id,
            "what": stretch.what,
            "count": len(stretch.messages),
            "html": safe_html(told) if told else "",
        }

    def _message(self, message: Message) -> Json:
        parts = read_parts(message)
        status = self.seen.status(message.id)
        number, count = self.view.index.version(message.id)
        hidden, live = status == TRUNCATED, message.id in self.view.live
        sources = [_source(each) for each in sources_of(message) if isinstance(each.get("n"), int)]
        return {
            "row": "message",
            "message": message.id,
            "role": message.role,
            "who": legible(speaker(message, hidden=hidden, live=live)),
            "version": number,
            "versions": count,
            "html": safe_html(words_of(message), sources={each["n"] for each in sources}),
            "reasoning": legible(
                "\n\n".join(p.text for p in parts if isinstance(p, ReasoningPart))
            ),
            "calls": [_call(each) for each in calls_of(parts)],
            "sources": sources,
            "files": [legible(p.name or p.media_type) for p in parts if isinstance(p, FilePart)],
            "cut": not live and message.role == "assistant" and finish_of(message) in CUT,
            "sent": status not in (TRUNCATED, ARCHIVED, COMPRESSED),
        }


def rows_of(view: View, without: AbstractSet[str] = frozenset()) -> Rows:
    """Return the rows of a thread; `without` are ids that are shown elsewhere."""
    path = tuple(message for message in view.path() if message.id not in without)
    seen = look(view.path(), view.records)
    return Rows(view, seen, tuple(_stretches(path, seen)))


def _stretches(path: Sequence[Message], seen: Seen) -> Iterator[Stretch]:
    told = seen.summary is not None
    for status, run in groupby(path, lambda message: seen.status(message.id)):
        messages = tuple(run)
        if status == ARCHIVED:
            yield Stretch(messages, "cleared")
        elif status == COMPRESSED:
            yield Stretch(messages, "summary" if told else "covered")
            told = False
        else:
            yield from (Stretch((message,)) for message in messages)


def _call(call: Called) -> Json:
    return {
        "line": call.line().removeprefix("▸ "),
        "whole": "\n\n".join(filter(None, (legible(call.arguments), legible(call.output)))),
        "state": call.state or "",
    }


def _source(known: Mapping[str, Any]) -> Json:
    score = known.get("score")
    said = [str(known.get("source")), f"{score:.2f}" if isinstance(score, int | float) else ""]
    return {"n": known["n"], "said": legible(" · ".join(filter(None, said)))}
