"""Ollama's own chat wire, outward and inward: a line of JSON is a piece of an answer. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jan_magics.domain.errors import RequestRejected, StreamBroken
from jan_magics.domain.events import (
    Finish,
    Loading,
    ReasoningDelta,
    StreamEvent,
    ToolCallDelta,
)
from jan_magics.domain.messages import (
    FilePart,
    FinishReason,
    Json,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from jan_magics.domain.models import ChatRequest, ModelRef, Timings, Usage
from jan_magics.providers.dialects import Dialect
from jan_magics.providers.failures import Asked, empty_answer
from jan_magics.providers.frames import object_of, refusal_in
from jan_magics.providers.openai_usage import count
from jan_magics.providers.params import settle
from jan_magics.providers.reasoning import Piece, Thoughts, event_of
from jan_magics.providers.sse import LIMIT
from jan_magics.providers.surrogates import Surrogates, encodable
from jan_magics.providers.waves import arguments_of, base64_of, output_of, split_wave, waves

# All other parameters are part of `options`.
_BESIDE: Final = frozenset({"format", "keep_alive", "think", "template", "raw"})


class Lines:
    """Cut a stream into its lines, however the bytes arrive."""

    __slots__ = ("_limit", "_pieces", "_size")

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Sequence[bytes]:
        """Take bytes in and return the lines that they complete.

        Raises:
            StreamBroken: when one line grows beyond `limit` bytes.
        """
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = b"".join((*self._pieces, whole[0]))
            self._pieces, self._size = [], 0
        if rest:
            self._pieces.append(rest)
            self._size += len(rest)
        if self._size > self._limit:
            raise StreamBroken(
                f"the answer has a single line of more than {self._limit:,} bytes",
                "This is no chat stream; check the address of the model: %chat models",
            )
        return whole

    def close(self) -> Sequence[bytes]:
        """Return the line that the end of the stream left without its end."""
        line, self._pieces = b"".join(self._pieces), []
        return [line] if line else []


def encode(request: ChatRequest, dialect: Dialect) -> dict[str, Json]:
    """Return the body of a request. Raises SettingError, RequestRejected."""
    settled = settle(request.options, dialect, request.model.name)
    body: dict[str, Json] = {
        "model": request.model.name,
        "messages": [*_system(request.system), *_messages(request)],
        "stream": True,
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
    if request.schema:
        body["format"] = dict(request.schema.body)
    options: dict[str, Json] = {"num_ctx": request.window} if request.window else {}
    for name, value in settled.values.items():
        if value is not None:
            common = "num_predict" if name == "max_tokens" else name
            (body if name in _BESIDE else options)[common] = value
    if isinstance(stop := options.get("stop"), str):
        options["stop"] = [stop]
    if options:
        body["options"] = options
    if settled.level in {"off", "low", "medium", "high"}:
        # Only gpt-oss knows levels; to others they are the same as yes.
        levels = "gpt-oss" in request.model.name
        body["think"] = settled.level if levels and settled.level != "off" else (
            settled.level != "off"
        )  # fmt: skip
    return body


def _system(text: str) -> Iterator[Json]:
    if text.strip():
        yield {"role": "system", "content": text}


def _messages(request: ChatRequest) -> Iterator[Json]:
    for message in request.messages:
        for wave in waves(message.parts):
            said, results = split_wave(wave)
            if said or not results:
                yield _message(message, said, request.model)
            for result in results:
                yield {
                    "role": "tool",
                    "content": output_of(result),
                    "tool_name": result.name,
                    "tool_call_id": result.call_id,
                }


def _message(message: Message, parts: Sequence[Part], model: ModelRef) -> Json:
    texts: list[str] = []
    images: list[Json] = []
    for part in parts:
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part, FilePart):
            _file(part, model, texts, images)
    told: dict[str, Json] = {"role": message.role, "content": "\n\n".join(texts)}
    if images:
        told["images"] = images
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    if calls:
        told["tool_calls"] = [
            {"id": call.call_id, "function": {"name": call.name, "arguments": arguments_of(call)}}
            for call in calls
        ]
    # After a call the model goes on with what it thought; cleaning has left no other reasoning.
    if thought := "".join(each.text for each in parts if isinstance(each, ReasoningPart)):
        told["thinking"] = thought
    return told


def _file(part: FilePart, model: ModelRef, texts: list[str], images: list[Json]) -> None:
    kind = part.media_type.partition("/")[0]
    embedded = (part.url or "").startswith("data:")
    if kind == "text" and part.data is not None:
        texts.append(part.data.decode("utf-8", "replace"))
    elif kind == "image" and (part.url is None or embedded):
        images.append(base64_of(part) if part.url is None else part.url.partition(",")[2])
    else:
        place = "addresses" if part.url and not embedded else repr(part.media_type)
        raise RequestRejected(
            f"{model.provider} takes no {place} ({part.name or 'a file'})",
            "Ask without that file, or another model: %chat use MODEL",
            model=str(model),
        )


class OllamaDecoder:
    """One line after the other; the last one has `done`, the tokens and the times."""

    __slots__ = ("_asked", "_calls", "_earlier", "_halves", "_last", "_said", "_thoughts", "done")

    def __init__(self, asked: Asked, *, tags: bool = True, calls: int = 0) -> None:
        self.done = False
        self._asked = asked
        self._earlier = calls
        self._calls = 0
        self._said = False
        self._last: Mapping[str, Json] = {}
        self._halves = (Surrogates(), Surrogates())
        self._thoughts = Thoughts() if tags else None

    @property
    def begun(self) -> bool:
        """Tell whether the answer said anything, or at least why it says nothing."""
        return self._said or bool(self._reason() and self._last.get("done"))

    def feed(self, payload: bytes, events: list[StreamEvent]) -> None:
        """Append the events of one line. Raises ProviderError."""
        line = object_of(payload, self._asked)
        if line is None:
            return
        if error := line.get("error"):
            raise refusal_in(error, self._asked)
        if line.get("done_reason") == "load":
            events.append(Loading(f"{self._asked.model} is loaded"))
        if isinstance(message := line.get("message"), dict):
            self._message(message, events)
        if line.get("done") is True:
            self._last, self.done = line, True

    def close(self) -> list[StreamEvent]:
        """Return the Finish. Raises StreamBroken when nothing was said at all."""
        if not self.begun:
            raise empty_answer(self._asked)
        events: list[StreamEvent] = []
        self._parts(self._thoughts.close() if self._thoughts else [], events)
        return [*events, Finish(self._reason(), self._usage(), self._timings())]

    def _message(self, message: Mapping[str, Json], events: list[StreamEvent]) -> None:
        thought, text = message.get("thinking"), message.get("content")
        if isinstance(thought, str) and (thought := self._halves[1].mend(thought)):
            if self._thoughts:
                self._parts(self._thoughts.give_up(), events)
                self._thoughts = None
            self._said = True
            events.append(ReasoningDelta(thought))
        if isinstance(text, str) and (text := self._halves[0].mend(text)):
            self._said = True
            self._parts(self._thoughts.feed(text) if self._thoughts else [("text", text)], events)
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(call, dict) and isinstance(function, dict):
                self._said = True
                events.append(self._call(call, function))

    def _parts(self, pieces: list[Piece], events: list[StreamEvent]) -> None:
        events.extend(map(event_of, pieces))

    def _call(self, call: Mapping[str, Json], function: Mapping[str, Json]) -> ToolCallDelta:
        index, self._calls = self._calls, self._calls + 1
        own, name, given = call.get("id"), function.get("name"), function.get("arguments")
        call_id = own if isinstance(own, str) and own else f"call_{self._earlier + index}"
        words = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
        named = name if isinstance(name, str) else ""
        return ToolCallDelta(index, encodable(call_id), encodable(named), encodable(words))

    def _reason(self) -> FinishReason | None:
        if not self._last:
            return None
        if self._last.get("done_reason") == "length":
            return "length"
        return "tools" if self._calls else "stop"

    def _usage(self) -> Usage | None:
        names = ("prompt_eval_count", "eval_count")
        found = Usage(*(count(self._last.get(name)) for name in names))
        return None if found == Usage() else found

    def _timings(self) -> Timings | None:
        names = ("load_duration", "prompt_eval_duration", "eval_duration", "eval_count")
        # No time is longer than ages; a larger number could not be divided.
        numbers = (count(self._last.get(name)) for name in names)
        load, prefill, decode, output = (each and min(each, 10**18) for each in numbers)
        if not self._last or (load, prefill, decode) == (None, None, None):
            return None
        seconds = [None if each is None else each / 1e9 for each in (load, prefill, decode)]
        speed = output / (decode / 1e9) if output and decode else None
        return Timings(
            load=seconds[0], prefill=seconds[1], decode=seconds[2], tokens_per_second=speed
        )
