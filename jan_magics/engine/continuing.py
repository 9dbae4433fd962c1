"""Going on with an answer that was cut: what is sent, and how its words join the old ones.

The old text is shown at once and stays, whatever comes. A server that continues a last assistant
message may repeat it first; one that does not is asked in a turn of the user's that is not stored.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from jan_magics.domain.branching import ERROR_MARKS
from jan_magics.domain.errors import RequestRejected, ServerFailed
from jan_magics.domain.events import Folding
from jan_magics.domain.messages import (
    Json,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolResultPart,
    text_of,
)
from jan_magics.domain.models import ChatRequest, Timings, Usage
from jan_magics.domain.protocols import Provider
from jan_magics.engine.records import sum_usage, timings_of, usage_of
from jan_magics.engine.reply import Reply

UNSTORED: Final = "not stored"
"""The id of a message that is sent and belongs to no thread."""
GO_ON: Final = (
    "Your last answer was cut off. Go on exactly where it stopped: begin with the very next word, "
    "do not repeat anything, and do not say that you go on."
)


@dataclass(slots=True)
class Continued(Folding):
    """An answer in the making that goes on from the parts of an earlier one.

    `joined` False: its words come in a message of their own, which begins with a new word.
    """

    before: tuple[Part, ...] = ()
    joined: bool = True

    def parts(self) -> tuple[Part, ...]:
        """Return the old parts; new words go on in their last text, new reasoning before it."""
        new = Folding.parts(self)
        words = [part.text for part in new if isinstance(part, TextPart)]
        texts = any(isinstance(part, TextPart) for part in self.before)
        if not texts or ends_in_result(self.before):
            return (*self.before, *new)
        thoughts = [part for part in new if isinstance(part, ReasoningPart)]
        rest = [part for part in new if not isinstance(part, TextPart | ReasoningPart)]
        last = max(n for n, part in enumerate(self.before) if isinstance(part, TextPart))
        old = self.before[last]
        assert isinstance(old, TextPart)  # noqa: S101 - for the type checker; chosen so above
        text = self._text(old.text, "\n\n".join(words))
        grown = old if text == old.text else TextPart(text)
        return (*self.before[:last], *thoughts, grown, *self.before[last + 1 :], *rest)

    def text(self) -> str:
        """Return the text so far, as `text_of` would."""
        return "\n\n".join(part.text for part in self.parts() if isinstance(part, TextPart))

    def _text(self, old: str, new: str) -> str:
        repeated, said = old.strip(), new.lstrip()
        if said.startswith(repeated):
            return old[: len(old) - len(old.lstrip())] + said
        if repeated.startswith(said) and self.finish is None:
            return old  # the beginning is being repeated, or nothing was said yet
        return old.rstrip() + new if self.joined else join(old, new)


async def receive(reply: Reply, provider: Provider, request: ChatRequest, partial: Message) -> None:
    """Send what goes on with an answer; where that is refused, ask in a turn of the user's."""
    folding = reply.folding
    if provider.continues and text_of(partial).strip():
        try:
            await reply.receive(provider, with_prefill(request, partial))
        except (RequestRejected, ServerFailed):
            # A template that thinks first, for one, refuses to go on with an answer.
            if folding.parts() != partial.parts:
                raise
        else:
            return
    if isinstance(folding, Continued):
        folding.joined = False
    await reply.receive(provider, with_instruction(request, partial))


def with_prefill(request: ChatRequest, partial: Message) -> ChatRequest:
    """Return a request whose last message is the answer to go on with."""
    return replace(request, messages=(*request.messages, _ended(partial)))


def with_instruction(request: ChatRequest, partial: Message) -> ChatRequest:
    """Return a request that asks, in a message that is stored nowhere, to go on."""
    if not text_of(partial).strip():
        return request  # nothing was said yet
    ask = replace(partial, id=UNSTORED, role="user", parts=(TextPart(GO_ON),))
    return replace(request, messages=(*request.messages, _ended(partial), ask))


def ends_in_result(parts: Sequence[Part]) -> bool:
    """Tell whether the last thing in an answer is a tool's result."""
    return bool(parts) and isinstance(parts[-1], ToolResultPart)


def join(old: str, new: str) -> str:
    """Join words that another message goes on with, a space between two words."""
    before, after = old[-1:], new[:1]
    spaced = bool(old) and _spaced(after) and (_spaced(before) or before in ".,;:!?)")
    return f"{old} {new}" if spaced else old + new


def continued(partial: Message, parts: tuple[Part, ...], known: dict[str, Json]) -> Message:
    """Return an answer that went on: the same message, without the marks of how it was cut."""
    left = {k: v for k, v in partial.metadata.items() if k not in (*ERROR_MARKS, "stopped")}
    return replace(partial, parts=parts, metadata={**left, **known})


def total_usage(partial: Message, usage: Usage) -> Usage:
    """Return the tokens of both requests."""
    return sum_usage((usage_of(partial), usage))


def total_timings(partial: Message, timings: Timings) -> Timings:
    """Return the newest timings, with the seconds of both requests."""
    return replace(timings, total=_sum(timings_of(partial).total, timings.total))


def _ended(partial: Message) -> Message:
    """Return an answer without blanks at its end, and without what was only thought."""
    kept = [part for part in partial.parts if not isinstance(part, ReasoningPart)]
    if kept and isinstance(kept[-1], TextPart):
        kept[-1] = replace(kept[-1], text=kept[-1].text.rstrip())
    return replace(partial, parts=tuple(kept))


def _spaced(letter: str) -> bool:
    """Tell whether a letter is of a writing that sets spaces between words."""
    return letter.isalnum() and unicodedata.east_asian_width(letter) not in "WF"


def _sum(*values: Any) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
