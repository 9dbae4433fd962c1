"""The Anthropic Messages wire, inward: frames of an answer become events. Pure, never reads."""

import json
from collections.abc import Mapping
from typing import Final

from jan_magics.domain.events import (
    Finish,
    ReasoningDelta,
    Seal,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
)
from jan_magics.domain.messages import FinishReason, Json, ProviderData
from jan_magics.domain.models import Usage
from jan_magics.providers.failures import Asked, empty_answer
from jan_magics.providers.frames import object_of, refusal_in
from jan_magics.providers.openai_usage import count
from jan_magics.providers.surrogates import Surrogates, encodable

_REASONS: Final[Mapping[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tools",
    "refusal": "filter",
}


class AnthropicDecoder:
    """One event after the other; a block of the answer is open until it is closed.

    What is given to the tool named `form` is the text of the answer.
    """

    __slots__ = (
        "_answers", "_asked", "_calls", "_earlier", "_form", "_halves", "_kinds", "_reason",
        "_said", "_signature", "_usage", "done",
    )  # fmt: skip

    def __init__(self, asked: Asked, *, calls: int = 0, form: str = "") -> None:
        self.done = False
        self._form = form
        self._answers: set[int] = set()  # the wire's indices of blocks that are the answer
        self._asked = asked
        self._earlier = calls
        self._said = False
        self._reason: FinishReason | None = None
        self._usage: dict[str, Json] = {}
        self._kinds: dict[int, str] = {}  # the wire's index of a block -> its type
        self._calls: dict[int, int] = {}  # the wire's index of a block -> our index of its call
        self._signature = ""
        self._halves = (Surrogates(), Surrogates(), Surrogates())

    @property
    def begun(self) -> bool:
        """Tell whether the answer said anything, or at least why it says nothing."""
        return self._said or self._reason is not None

    def feed(self, payload: bytes, events: list[StreamEvent]) -> None:
        """Append the events of one frame. Raises ProviderError."""
        event = object_of(payload, self._asked)
        if event is None:
            return
        before = len(events)
        kind = event.get("type")
        index = event.get("index")
        number = index if type(index) is int else 0
        if kind == "content_block_delta":
            self._delta(number, _object(event.get("delta")), events)
        elif kind == "content_block_start":
            self._start(number, _object(event.get("content_block")), events)
        elif kind == "content_block_stop":
            self._stop(number, events)
        elif kind == "message_stop":
            self.done = True
        elif kind == "message":  # a server that does not stream
            self._whole(event, events)
        elif kind == "error" or "error" in event:
            raise refusal_in(event.get("error", event), self._asked)
        self._beside(event)
        self._said = self._said or len(events) > before

    def close(self) -> list[StreamEvent]:
        """Return the Finish. Raises StreamBroken when nothing was said at all."""
        if not self.begun:
            raise empty_answer(self._asked)
        events: list[StreamEvent] = []
        if self._signature:  # cut off before its block was closed
            self._seal(events)
        answered = self._reason == "tools" and self._answers and not self._calls
        return [*events, Finish("stop" if answered else self._reason, self._tokens())]

    def _start(self, number: int, block: Mapping[str, Json], events: list[StreamEvent]) -> None:
        kind = block.get("type")
        self._kinds[number] = kind if isinstance(kind, str) else ""
        if kind == "tool_use" and self._form and block.get("name") == self._form:
            self._answers.add(number)
            if given := block.get("input"):  # whole only where nothing follows
                self._words(json.dumps(given, ensure_ascii=False), events)
        elif kind == "tool_use":
            index = self._calls[number] = len(self._calls)
            call_id = _text(block.get("id")) or f"call_{self._earlier + index}"
            given = block.get("input")
            # A whole input comes only where nothing follows; a stream begins with an empty one.
            words = json.dumps(given, ensure_ascii=False) if given else ""
            events.append(
                ToolCallDelta(index, encodable(call_id), encodable(_text(block.get("name"))), words)
            )
        elif kind == "redacted_thinking":
            events.append(Seal(self._mine({"type": kind, "data": block.get("data")}), alone=True))
        else:
            # Some compatible servers put the first words here.
            self._words(_text(block.get("text")), events)
            self._thought(_text(block.get("thinking")), events)
            self._signature = _text(block.get("signature"))

    def _delta(self, number: int, delta: Mapping[str, Json], events: list[StreamEvent]) -> None:
        kind = delta.get("type")
        if kind == "text_delta":
            self._words(_text(delta.get("text")), events)
        elif kind == "thinking_delta":
            self._thought(_text(delta.get("thinking")), events)
        elif kind == "signature_delta":
            self._signature += _text(delta.get("signature"))
        elif kind == "input_json_delta" and number in self._answers:
            self._words(_text(delta.get("partial_json")), events)
        elif kind == "input_json_delta" and number in self._calls:
            text = self._halves[2].mend(_text(delta.get("partial_json")))
            events.append(ToolCallDelta(self._calls[number], arguments=text))

    def _stop(self, number: int, events: list[StreamEvent]) -> None:
        if self._kinds.pop(number, "") == "thinking" and self._signature:
            self._seal(events)

    def _whole(self, message: Mapping[str, Json], events: list[StreamEvent]) -> None:
        blocks = message.get("content")
        for number, block in enumerate(blocks if isinstance(blocks, list) else []):
            self._start(number, _object(block), events)
            self._stop(number, events)
        self.done = True

    def _beside(self, event: Mapping[str, Json]) -> None:
        for holder in (event, _object(event.get("message")), _object(event.get("delta"))):
            usage = holder.get("usage")
            if isinstance(usage, dict):
                self._usage |= {k: v for k, v in usage.items() if v is not None}
            reason = holder.get("stop_reason")
            if isinstance(reason, str) and reason:
                # A reason that nobody knows is still a deliberate end, unlike a missing one.
                self._reason = _REASONS.get(reason, "stop")

    def _words(self, text: str, events: list[StreamEvent]) -> None:
        if text := self._halves[0].mend(text):
            events.append(TextDelta(text))

    def _thought(self, text: str, events: list[StreamEvent]) -> None:
        if text := self._halves[1].mend(text):
            events.append(ReasoningDelta(text))

    def _seal(self, events: list[StreamEvent]) -> None:
        signature, self._signature = encodable(self._signature), ""
        events.append(Seal(self._mine({"type": "thinking"}), signature))

    def _mine(self, data: Json) -> ProviderData:
        return ProviderData(self._asked.provider, self._asked.model, data)

    def _tokens(self) -> Usage | None:
        # What was read from the cache or written to it is not in `input_tokens`.
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        read, cached, written = (count(self._usage.get(name)) for name in names)
        total = None if read is None else read + (cached or 0) + (written or 0)
        found = Usage(total, count(self._usage.get("output_tokens")), cached)
        return None if found == Usage() else found


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
