"""The stream vocabulary, and `fold`: events become a message. Errors are raised, never streamed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from jan_magics.domain.messages import (
    FinishReason,
    Part,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from jan_magics.domain.models import Timings, Usage


@dataclass(frozen=True, slots=True)
class Loading:
    """The server loads the model; `what` is one line for people."""

    what: str


@dataclass(frozen=True, slots=True)
class Prefill:
    """The server reads the prompt: `done` of `total` tokens, `cached` of them for free."""

    done: int
    total: int
    cached: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Others are answered first; `what` is one line for people, "" when the wait is over."""

    what: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The request goes out once more after so many seconds; `why` in a few words."""

    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class Thought:
    """All text of this step until here was reasoning, though nothing said so where it began."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What the user must know of how an answer came about, as one line."""

    text: str


@dataclass(frozen=True, slots=True)
class Compacting:
    """A summary of so many messages is being written; too many are read in `parts`, then joined."""

    messages: int
    part: int = 1
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Compacted:
    """A summary stands for so many messages: tokens before and after, counted where `exact`."""

    messages: int
    before: int
    after: int
    exact: bool


@dataclass(slots=True)
class TextDelta:
    """More text of the answer. Not frozen: thousands are made a second, and nobody keeps one."""

    text: str


@dataclass(slots=True)
class ReasoningDelta:
    """More text of the reasoning."""

    text: str


@dataclass(slots=True)
class ToolCallDelta:
    """More of the tool call number `index`: its id and name come first, then arguments."""

    index: int
    call_id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Seal:
    """What a provider wants back with the part that it said last, or with tool call `index`.

    It ends a reasoning part. `alone`: with nothing to read; it is a reasoning part of its own.
    `thought`: what it thought last, though words have followed.
    """

    opaque: ProviderData
    signature: str | None = None
    index: int | None = None
    alone: bool = False
    thought: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A parameter that was not sent, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A cassette is played and has no answer; `instead` is who is asked."""

    instead: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a step. `reason` None: the stream ended without saying why."""

    reason: FinishReason | None
    usage: Usage | None = None
    timings: Timings | None = None


StreamEvent: TypeAlias = (
    Loading
    | Prefill
    | Waiting
    | Retrying
    | Remark
    | Thought
    | TextDelta
    | ReasoningDelta
    | ToolCallDelta
    | Seal
    | LeftOut
    | Unrecorded
    | Compacting
    | Compacted
    | Finish
)


@dataclass(slots=True)
class Folding:
    """A message in the making: add events in order, read `parts()` at any time."""

    finish: Finish | None = None
    _runs: list[tuple[type[TextPart | ReasoningPart], list[str]]] = field(default_factory=list)
    _calls: dict[int, list[str]] = field(default_factory=dict)
    _seals: dict[int, Seal] = field(default_factory=dict)  # by the number of their run
    _signed: dict[int, ProviderData] = field(default_factory=dict)  # by the index of their call

    def add(self, event: StreamEvent) -> None:
        """Take one event in."""
        if type(event) is TextDelta:
            self._append(TextPart, event.text)
        elif isinstance(event, ReasoningDelta):
            self._append(ReasoningPart, event.text)
        elif isinstance(event, ToolCallDelta):
            call = self._calls.setdefault(event.index, ["", "", ""])
            call[0] = call[0] or event.call_id
            call[1] = call[1] or event.name
            call[2] += event.arguments
        elif isinstance(event, Seal):
            self._seal(event)
        elif isinstance(event, Thought):
            self._rethink()
        elif isinstance(event, Finish):
            self.finish = event

    def parts(self) -> tuple[Part, ...]:
        """Return what was said so far: text and reasoning in order, then the tool calls."""
        said = [
            self._part(number, kind, "".join(pieces))
            for number, (kind, pieces) in enumerate(self._runs)
            if any(pieces) or number in self._seals
        ]
        calls = [
            ToolCallPart(key, name, arguments, self._signed.get(index))
            for index, (key, name, arguments) in sorted(self._calls.items())
        ]
        return (*said, *calls)

    def text(self) -> str:
        """Return the text so far, as `text_of` would."""
        return "\n\n".join("".join(pieces) for kind, pieces in self._runs if kind is TextPart)

    def _append(self, kind: type[TextPart | ReasoningPart], text: str) -> None:
        runs = self._runs
        if runs and runs[-1][0] is kind and (kind is TextPart or len(runs) - 1 not in self._seals):
            runs[-1][1].append(text)
        else:
            runs.append((kind, [text]))

    def _rethink(self) -> None:
        """Take what was said until here as one thought; what is sealed stays as it came."""
        if self._seals:
            return
        thought = "".join("".join(pieces) for _, pieces in self._runs).strip("\n")
        self._runs = [(ReasoningPart, [thought])] if thought else []

    def _seal(self, seal: Seal) -> None:
        if seal.index is not None:
            self._signed[seal.index] = seal.opaque
            return
        places = [n for n, (kind, _) in enumerate(self._runs) if kind is ReasoningPart]
        if seal.alone or not (places if seal.thought else self._runs):
            self._runs.append((ReasoningPart, []))
        last = places[-1] if seal.thought and places else len(self._runs) - 1
        self._seals[last] = seal

    def _part(self, number: int, kind: type[TextPart | ReasoningPart], text: str) -> Part:
        seal = self._seals.get(number)
        if seal is None:
            return kind(text)
        if kind is TextPart:
            return TextPart(text, seal.opaque)
        return ReasoningPart(text, seal.signature, seal.opaque)


def fold(events: Iterable[StreamEvent]) -> tuple[Part, ...]:
    """Fold a whole stream; however it was cut into pieces, the parts are the same."""
    folding = Folding()
    for event in events:
        folding.add(event)
    return folding.parts()
