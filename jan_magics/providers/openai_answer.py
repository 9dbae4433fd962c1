"""The OpenAI chat wire, inward: bytes of an answer become events. Pure, never reads."""

import json
from collections.abc import Mapping
from typing import Final

from jan_magics.domain.errors import ProviderError
from jan_magics.domain.events import (
    Finish,
    Prefill,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
)
from jan_magics.domain.messages import FinishReason, Json
from jan_magics.providers.complaints import complaint, complaint_in
from jan_magics.providers.failures import Asked, complained, empty_answer, unreadable
from jan_magics.providers.openai_usage import count, timings_of, usage_of, usage_of_timings
from jan_magics.providers.sse import LIMIT, SseDecoder
from jan_magics.providers.surrogates import Surrogates, encodable

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


class Answer:
    """The whole body of one answer: a stream, or what a server sent in place of one.

    Feed it until `ended`, then close it. An error waits for `close`, so that the events before it
    are never lost, however the bytes were cut.
    """

    __slots__ = ("_body", "_decoder", "_failure", "_frames", "_kind", "_size", "asked", "done")

    def __init__(self, asked: Asked, *, stream: bool = True) -> None:
        self.asked = asked
        self.done = False
        # Without the right content type the first byte decides: some servers stream as text/plain.
        self._kind = "stream" if stream else ""
        self._frames = SseDecoder()
        self._decoder = Decoder(asked)
        self._failure: ProviderError | None = None
        self._body: list[bytes] = []
        self._size = 0

    @property
    def ended(self) -> bool:
        """Tell whether nothing more is expected: the server said so, or failed."""
        return self.done or self._failure is not None

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Take bytes in and return the events that they complete."""
        events: list[StreamEvent] = []
        try:
            if self._kind != "stream":
                data = self._decide(data)
            self._decode(self._frames.feed(data), events)
        except ProviderError as error:
            self._failure = error
        return events

    def close(self) -> list[StreamEvent]:
        """Return the last events; the very last is Finish. Raises ProviderError."""
        events: list[StreamEvent] = []
        if not self.ended and self._kind == "whole":
            self._whole(b"".join(self._body), events)
        elif not self.ended:
            self._decode(self._frames.close(), events)
        if self._failure:
            raise self._failure
        return events + self._decoder.close()

    def _decode(self, payloads: list[bytes], events: list[StreamEvent]) -> None:
        for payload in payloads:
            if payload == b"[DONE]":
                self.done = True
                break
            self._decoder.feed(payload, events)

    def _decide(self, data: bytes) -> bytes:
        """Keep a body that is no stream; return what belongs to one."""
        self._body.append(data)
        self._size += len(data)
        if self._size > LIMIT:
            raise unreadable(self.asked, f"it is larger than {LIMIT:,} bytes and no stream")
        if self._kind == "whole":
            return b""
        start = b"".join(self._body)
        if not (first := start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]):
            return b""
        if first in b"{[<":
            self._kind = "whole"
            return b""
        self._kind = "stream"
        self._body.clear()
        return start

    def _whole(self, body: bytes, events: list[StreamEvent]) -> None:
        body = body.lstrip(b"\xef\xbb\xbf \t\r\n")
        if body.startswith(b"<"):
            words = complaint(body, self.asked.key).text[:120]
            raise unreadable(self.asked, f"it is a web page ({words!r})")
        self._decoder.feed(body, events)
        if not self._decoder.begun:
            raise unreadable(self.asked, "it is JSON without an answer")


class Decoder:
    """One JSON chunk after the other becomes events; usage and timings wait for the end."""

    __slots__ = ("_asked", "_calls", "_halves", "_reason", "_said", "_timings", "_usage")

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
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
        try:
            # Decoded here, because json would first guess among five encodings.
            chunk = json.loads(payload.decode())
        except (ValueError, RecursionError) as error:
            if not payload.strip():
                return
            raise unreadable(self._asked, "a piece of it is no JSON") from error
        if type(chunk) is not dict:
            raise unreadable(self._asked, "a piece of it is no object")
        choices = chunk.get("choices")
        if choices and type(choices) is list and type(choices[0]) is dict:
            before = len(events)
            # A look at the bytes, because hardly any chunk has something to mend.
            self._choice(choices[0], events, escaped=b"\\u" in payload)
            self._said = self._said or len(events) > before
        self._beside(chunk, events)

    def close(self) -> list[StreamEvent]:
        """Return the Finish. Raises StreamBroken when nothing was said at all."""
        if not self.begun:
            raise empty_answer(self._asked)
        usage = usage_of(self._usage) or usage_of_timings(self._timings)
        return [Finish(self._reason, usage, timings_of(self._timings))]

    def _choice(self, choice: dict[str, Json], events: list[StreamEvent], *, escaped: bool) -> None:
        delta = choice.get("delta") or choice.get("message")
        if type(delta) is dict:
            content = delta.get("content")
            plain = not escaped and len(delta) == 1 and not self._halves[0].half
            if plain and content and type(content) is str:
                events.append(TextDelta(content))  # nearly every chunk, so it comes first
            else:
                self._delta(delta, events)
        if reason := choice.get("finish_reason"):
            # A reason that nobody knows is still a deliberate end, unlike a missing one.
            self._reason = _REASONS.get(reason, "stop") if isinstance(reason, str) else "stop"
        if "usage" in choice:  # Moonshot
            self._usage = choice["usage"] or self._usage
        if error := choice.get("error"):  # OpenRouter
            raise self._failed(error)

    def _delta(self, delta: dict[str, Json], events: list[StreamEvent]) -> None:
        texts, reasonings, _ = self._halves
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if thought and isinstance(thought, str) and (thought := reasonings.mend(thought)):
            events.append(ReasoningDelta(thought))
        content = delta.get("content")
        parts = content if isinstance(content, list) else [content, delta.get("refusal")]
        for part in parts:
            if isinstance(part, dict) and part.get("thinking"):  # Mistral
                events.append(ReasoningDelta(reasonings.mend(_joined(part["thinking"]))))
            elif text := texts.mend(_joined(part)):
                events.append(TextDelta(text))
        calls = delta.get("tool_calls")
        calls = calls if isinstance(calls, list) else []
        events.extend(self._call(call) for call in calls if isinstance(call, dict))

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
            self._calls[wire] = index, call_id or f"call_{index}"
            return index, call_id or f"call_{index}"
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
            raise self._failed(error)
        if "choices" not in chunk and isinstance(chunk.get("message"), str):  # vLLM, llama.cpp
            raise self._failed(chunk)

    def _failed(self, error: Json) -> ProviderError:
        said = complaint_in(error, self._asked.key)
        code = error.get("code") if isinstance(error, dict) else None
        if not isinstance(code, int) or not 400 <= code < 600:
            code = 400 if "invalid_request" in said.code else 500
        return complained(said, self._asked, code)


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
