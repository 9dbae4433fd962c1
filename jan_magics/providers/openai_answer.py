"""The OpenAI chat wire, inward: bytes of an answer become events. Pure, never reads."""

import json
from collections.abc import Mapping
from typing import Final

from jan_magics.domain.events import (
    Finish,
    Prefill,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
)
from jan_magics.domain.messages import FinishReason, Json
from jan_magics.providers.failures import Asked
from jan_magics.providers.frames import nothing_said, object_of, refusal_in
from jan_magics.providers.openai_usage import count, timings_of, usage_of, usage_of_timings
from jan_magics.providers.reasoning import Piece, Thoughts, event_of
from jan_magics.providers.surrogates import Surrogates, encodable
from jan_magics.providers.thoughts import DETAILS, Details

_REASONS: Final[Mapping[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tools",
    "function_call": "tools",
    "content_filter": "filter",
    "error": "error",
    "insufficient_system_resource": "error",
}


class Decoder:
    """One JSON chunk after the other becomes events; usage and timings wait for the end.

    `tags`: reasoning may come in the text. `calls` is how many tool calls the thread has already.
    `details`: what was thought comes in parts that go back as they are, too.
    """

    __slots__ = (
        "_asked", "_calls", "_details", "_earlier", "_halves", "_reason", "_said", "_thoughts",
        "_timings", "_usage", "done",
    )  # fmt: skip

    def __init__(
        self, asked: Asked, *, tags: bool = False, calls: int = 0, details: bool = False
    ) -> None:
        self.done = False
        self._asked = asked
        self._earlier = calls
        self._thoughts = Thoughts() if tags else None
        self._details = Details() if details else None
        self._said = False
        self._reason: FinishReason | None = None
        self._usage: Json = None
        self._timings: Json = None
        self._calls: dict[int, tuple[int, str]] = {}  # the wire's index -> ours, id
        self._halves = (Surrogates(), Surrogates(), Surrogates())

    @property
    def begun(self) -> bool:
        """Tell whether the answer said anything, or at least why it says nothing."""
        return self._said or self._reason is not None

    def feed(self, payload: bytes, events: list[StreamEvent]) -> None:
        """Append the events of one chunk. Raises ProviderError."""
        chunk = object_of(payload, self._asked)
        if chunk is None:
            return
        choices = chunk.get("choices")
        if choices and type(choices) is list and type(choices[0]) is dict:
            before = len(events)
            # A look at the bytes, because hardly any chunk has something to mend.
            self._choice(choices[0], events, escaped=b"\\u" in payload)
            self._said = self._said or len(events) > before
        self._beside(chunk, events)

    def close(self) -> list[StreamEvent]:
        """Return the Finish. Raises StreamBroken, ServerFailed when nothing was said at all."""
        if fault := nothing_said(self._asked, self._reason, said=self._said):
            raise fault
        events: list[StreamEvent] = []
        self._part(self._thoughts.close() if self._thoughts else [], events)
        events += self._details.seal(self._asked) if self._details else []
        usage = usage_of(self._usage) or usage_of_timings(self._timings)
        return [*events, Finish(self._reason, usage, timings_of(self._timings))]

    def _choice(self, choice: dict[str, Json], events: list[StreamEvent], *, escaped: bool) -> None:
        delta = choice.get("delta") or choice.get("message")
        if type(delta) is dict:
            content = delta.get("content")
            plain = not escaped and len(delta) == 1 and not self._halves[0].half
            if plain and content and type(content) is str:
                if self._thoughts is None:
                    events.append(TextDelta(content))  # nearly every chunk, so it comes first
                else:
                    self._text(content, events)
            else:
                self._delta(delta, events)
        if reason := choice.get("finish_reason"):
            # A reason that nobody knows is still a deliberate end, unlike a missing one.
            self._reason = _REASONS.get(reason, "stop") if isinstance(reason, str) else "stop"
        if "usage" in choice:  # Moonshot
            self._usage = choice["usage"] or self._usage
        if error := choice.get("error"):  # OpenRouter
            raise refusal_in(error, self._asked)

    def _delta(self, delta: dict[str, Json], events: list[StreamEvent]) -> None:
        texts, reasonings, _ = self._halves
        told = self._details.take(delta.get(DETAILS)) if self._details else ""
        thought = delta.get("reasoning_content") or delta.get("reasoning") or told
        if thought and isinstance(thought, str) and (thought := reasonings.mend(thought)):
            if self._thoughts:
                self._part(self._thoughts.give_up(), events)
                self._thoughts = None
            events.append(ReasoningDelta(thought))
        content = delta.get("content")
        parts = content if isinstance(content, list) else [content, delta.get("refusal")]
        for part in parts:
            if isinstance(part, dict) and part.get("thinking"):  # Mistral
                events.append(ReasoningDelta(reasonings.mend(_joined(part["thinking"]))))
            elif text := texts.mend(_joined(part)):
                self._text(text, events)
        calls = delta.get("tool_calls")
        calls = calls if isinstance(calls, list) else []
        events.extend(self._call(call) for call in calls if isinstance(call, dict))

    def _text(self, text: str, events: list[StreamEvent]) -> None:
        if self._thoughts is None:
            events.append(TextDelta(text))
            return
        # Also what is held back was said: an answer of nothing but "<" is one.
        self._said = True
        self._part(self._thoughts.feed(text), events)
        if self._thoughts.settled:
            self._thoughts = None

    def _part(self, pieces: list[Piece], events: list[StreamEvent]) -> None:
        events.extend(map(event_of, pieces))

    def _call(self, call: dict[str, Json]) -> ToolCallDelta:
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        index, call_id = self._numbered(call)
        return ToolCallDelta(
            index,
            call_id,
            _name(function.get("name")),
            self._halves[2].mend(arguments or ""),
        )

    def _numbered(self, call: dict[str, Json]) -> tuple[int, str]:
        """Give a call its number: some servers leave the index out, or say 0 for every call."""
        wire = call.get("index")
        wire = wire if isinstance(wire, int) else len(self._calls) - (not call.get("id"))
        call_id = _name(call.get("id"))
        index, known = self._calls.get(wire, (-1, ""))
        if index < 0 or (call_id and call_id != known):
            index = 1 + max((number for number, _ in self._calls.values()), default=-1)
            call_id = call_id or f"call_{self._earlier + index}"
            self._calls[wire] = index, call_id
            return index, call_id
        return index, call_id

    def _beside(self, chunk: dict[str, Json], events: list[StreamEvent]) -> None:
        if usage := chunk.get("usage"):
            self._usage = usage
        if timings := chunk.get("timings"):
            self._timings = timings
        progress = chunk.get("prompt_progress")
        if type(progress) is dict:
            done, total, cached = map(count, map(progress.get, ("processed", "total", "cache")))
            events.append(Prefill(done or 0, total or 0, cached or 0))
        if error := chunk.get("error"):
            raise refusal_in(error, self._asked)
        if "choices" not in chunk and isinstance(chunk.get("message"), str):  # vLLM, llama.cpp
            raise refusal_in(chunk, self._asked)


def _joined(part: Json) -> str:
    """Return the text of a part, whether a string, a `{"text": …}` or a list of these."""
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        return _joined(part.get("text"))
    if isinstance(part, list):
        return "".join(map(_joined_flat, part))
    return ""


def _joined_flat(piece: Json) -> str:
    # One level only, whatever a server nests.
    return "" if isinstance(piece, list) else _joined(piece)


def _name(value: Json) -> str:
    return encodable(value) if isinstance(value, str) else ""
