"""Each wire as its tests need it: a decoder, whole streams, and one answer in pieces."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jan_magics.domain.errors import ProviderError
from jan_magics.domain.events import Finish, StreamEvent, fold
from jan_magics.domain.protocols import Provider
from jan_magics.providers.answer import Answer, Decoding, Framing
from jan_magics.providers.anthropic import AnthropicProvider
from jan_magics.providers.anthropic_answer import AnthropicDecoder
from jan_magics.providers.google import GoogleProvider
from jan_magics.providers.google_answer import GoogleDecoder
from jan_magics.providers.ollama import OllamaProvider
from jan_magics.providers.ollama_wire import Lines, OllamaDecoder
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.openai_answer import Decoder
from tests.providers.asking import ASKED, Outcome

Frame: TypeAlias = Callable[[Any], bytes]


def sse_frame(data: Any) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def named_frame(data: Any) -> bytes:
    return b"event: %s\n" % data["type"].encode("utf-8", "replace") + sse_frame(data)


@dataclass(frozen=True)
class Wire:
    """`words` makes the frames of an answer of these words, `end` what ends it, `boom` a failure.

    `streams` are whole answers of every kind; `keys` are names that frames have, for fuzzing.
    """

    decoder: Callable[[], Decoding]
    open: Callable[[str], Provider]
    frame: Frame
    words: Callable[[str], Any]
    end: tuple[Any, ...]
    boom: Any
    streams: Mapping[str, tuple[Any, ...]]
    keys: tuple[str, ...]
    models: Any
    kind: str = "text/event-stream"
    lines: Callable[[], Framing | None] = lambda: None

    def body(self, *frames: Any) -> bytes:
        return b"".join(map(self.frame, frames))

    def answer(self, *, stream: bool = True) -> Answer:
        return Answer(ASKED, self.decoder(), stream=stream, lines=self.lines())

    def outcome(self, pieces: Iterable[bytes], *, stream: bool = True) -> Outcome:
        """Return what an answer means whatever its cutting: parts, and Finish or the error."""
        answer = self.answer(stream=stream)
        events: list[StreamEvent] = []
        for piece in pieces:
            events += answer.feed(piece)
            if answer.ended:
                break
        try:
            events += answer.close()
        except ProviderError as error:
            return Outcome(fold(events), None, type(error), str(error))
        last = events[-1]
        return Outcome(fold(events), last if isinstance(last, Finish) else None)

    def parts(self, name: str) -> Outcome:
        return self.outcome([self.body(*self.streams[name])])


def _openai(text: str, **more: Any) -> Any:
    return {"choices": [{"delta": {"content": text}, **more}]}


def _call(**call: Any) -> Any:
    return {"choices": [{"delta": {"tool_calls": [call]}}]}


OPENAI = Wire(
    decoder=lambda: Decoder(ASKED, tags=True),
    open=lambda address: OpenAIProvider("test", address),
    frame=sse_frame,
    words=_openai,
    end=(_openai("", finish_reason="stop"),),
    boom={"error": {"message": "boom", "code": 500}},
    streams={
        "tags": (_openai("<th"), _openai("ink>\nich 想"), _openai("\n</thi"),
                 _openai("nk>\n\n好 👍"), _openai("", finish_reason="stop")),
        "calls": (_call(index=0, id="a", function={"name": "f", "arguments": '{"k":'}),
                  _call(index=0, function={"arguments": ' "ü"}'}),
                  {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
        "fields": ({"choices": [{"delta": {"reasoning_content": "hm"}}]}, _openai("<think>"),
                   _openai("", finish_reason="stop")),
    },
    keys=("choices", "delta", "content", "tool_calls", "function", "arguments", "error", "usage"),
    models={"data": [{"id": "m"}]},
)  # fmt: skip


def _block(number: int, block: Any, *deltas: Any) -> tuple[Any, ...]:
    return (
        {"type": "content_block_start", "index": number, "content_block": block},
        *({"type": "content_block_delta", "index": number, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": number},
    )


_START = {"type": "message_start", "message": {
    "id": "msg_1", "role": "assistant", "content": [],
    "usage": {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5,
              "output_tokens": 1}}}  # fmt: skip
_STOPPED = ({"type": "message_stop"},)


def _stopped(reason: str) -> tuple[Any, ...]:
    told = {
        "type": "message_delta",
        "delta": {"stop_reason": reason},
        "usage": {"output_tokens": 9},
    }
    return (told, *_STOPPED)


def _text(*words: str) -> tuple[Any, ...]:
    return tuple({"type": "text_delta", "text": word} for word in words)


_THINKING = _block(
    0, {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "想"}, {"type": "thinking_delta", "thinking": "一下"},
    {"type": "signature_delta", "signature": "c2ln"},
)  # fmt: skip
ANTHROPIC = Wire(
    decoder=lambda: AnthropicDecoder(ASKED),
    open=lambda address: AnthropicProvider("test", address),
    frame=named_frame,
    words=lambda text: {"type": "content_block_delta", "index": 0, "delta": _text(text)[0]},
    end=_stopped("end_turn"),
    boom={"type": "error", "error": {"type": "api_error", "message": "boom"}},
    streams={
        "text": (_START, {"type": "ping"}, *_block(0, {"type": "text", "text": ""},
                 *_text("Das ist", " schön 👍")), *_stopped("end_turn")),
        "thinking": (_START, *_THINKING, *_block(1, {"type": "text", "text": ""}, *_text("好")),
                     *_stopped("max_tokens")),
        "redacted": (_START, *_THINKING, *_block(1, {"type": "redacted_thinking", "data": "eA=="}),
                     *_block(2, {"type": "text", "text": ""}, *_text("so")), *_stopped("refusal")),
        "calls": (_START, *_block(0, {"type": "text", "text": ""}, *_text("looking")),
                  *_block(1, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
                          {"type": "input_json_delta", "partial_json": '{"k":'},
                          {"type": "input_json_delta", "partial_json": ' "ü"}'}),
                  *_block(2, {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}}),
                  *_stopped("tool_use")),
    },
    keys=("type", "index", "content_block", "content_block_delta", "content_block_start", "delta",
          "text", "text_delta", "thinking", "signature", "partial_json", "input_json_delta",
          "usage", "input_tokens", "message", "message_delta", "stop_reason", "error", "tool_use"),
    models={"data": [{"id": "claude-x", "type": "model", "max_input_tokens": 200000}]},
)  # fmt: skip


def _said(*parts: Any, **more: Any) -> Any:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


_COUNTED = {"usageMetadata": {
    "promptTokenCount": 100, "candidatesTokenCount": 6, "thoughtsTokenCount": 3,
    "cachedContentTokenCount": 90}}  # fmt: skip
GOOGLE = Wire(
    decoder=lambda: GoogleDecoder(ASKED),
    open=lambda address: GoogleProvider("test", address),
    frame=sse_frame,
    words=lambda text: _said({"text": text}),
    end=({**_said({"text": ""}, finishReason="STOP"), **_COUNTED},),
    boom={"error": {"code": 500, "message": "boom", "status": "INTERNAL"}},
    streams={
        "text": (_said({"text": "Das ist"}), _said({"text": " schön 👍"}),
                 {**_said({"text": "", "thoughtSignature": "c2ln"}, finishReason="STOP"),
                  **_COUNTED}),
        "thinking": (_said({"text": "想一下", "thought": True}), _said({"text": "好"}),
                     _said(finishReason="MAX_TOKENS")),
        "calls": (_said({"text": "hm", "thought": True}),
                  _said({"functionCall": {"name": "f", "args": {"k": "ü"}, "id": "x1"},
                         "thoughtSignature": "c2ln"}, {"functionCall": {"name": "g"}}),
                  {**_said(finishReason="STOP"), **_COUNTED}),
        "filtered": (_said({"text": "so"}), {"candidates": [{"finishReason": "SAFETY"}]}),
        "recited": (_said({"text": "Es war 🌤"}, index=0, safetyRatings=[]),
                    {"candidates": [{"finishReason": "RECITATION", "index": 0,
                                     "citationMetadata": {"citationSources": []}}],
                     "modelVersion": "gemini-x", "responseId": "r1"}),
        "malformed": ({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL",
                                       "finishMessage": "Malformed function call: f(城市=)"}],
                       **_COUNTED},),
        "cached": ({**_said({"text": "好"}), "usageMetadata": {
                        "promptTokenCount": 100, "cachedContentTokenCount": 90,
                        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}]}},
                   {**_said(finishReason="STOP"), "usageMetadata": {
                        "promptTokenCount": 100, "candidatesTokenCount": 1, "totalTokenCount": 104,
                        "thoughtsTokenCount": 3}}),
    },
    keys=("candidates", "content", "parts", "text", "thought", "thoughtSignature", "functionCall",
          "name", "args", "id", "finishReason", "finishMessage", "usageMetadata",
          "promptTokenCount", "error", "promptFeedback", "blockReason", "code", "status",
          "message"),
    models={"models": [{"name": "models/gemini-x", "inputTokenLimit": 1048576,
                        "supportedGenerationMethods": ["generateContent"]}]},
)  # fmt: skip


def line_frame(data: Any) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _line(done: bool = False, **message: Any) -> Any:
    return {"model": "m", "message": {"role": "assistant", **message}, "done": done}


_DONE = {"total_duration": 9, "load_duration": 2_000_000_000, "prompt_eval_count": 100,
         "prompt_eval_duration": 1_000_000_000, "eval_count": 8,
         "eval_duration": 4_000_000_000}  # fmt: skip
OLLAMA = Wire(
    decoder=lambda: OllamaDecoder(ASKED),
    open=lambda address: OllamaProvider("test", address),
    frame=line_frame,
    words=lambda text: _line(content=text),
    end=({**_line(done=True, content=""), "done_reason": "stop", **_DONE},),
    boom={"error": "boom"},
    streams={
        "text": (_line(content="Das ist"), _line(content=" schön 👍"),
                 {**_line(done=True, content=""), "done_reason": "stop", **_DONE}),
        "thinking": (_line(content="", thinking="想"), _line(content="", thinking="一下"),
                     _line(content="<think>好"),
                     {**_line(done=True, content=""), "done_reason": "length"}),
        "tags": (_line(content="<think>hm"), _line(content="</think>"), _line(content="\n好"),
                 {**_line(done=True), "done_reason": "stop"}),
        "calls": (_line(content="", tool_calls=[
                     {"function": {"name": "f", "arguments": {"k": "ü"}}},
                     {"id": "x2", "function": {"index": 1, "name": "g", "arguments": {}}}]),
                  {**_line(done=True, content=""), "done_reason": "stop", **_DONE}),
        "thought call": (_line(content="", thinking="要查"), _line(content="", tool_calls=[
                     {"function": {"name": "f", "arguments": '{"k": 1}'}}]),
                  {**_line(done=True, content=""), "done_reason": "stop"}),
        "loading": ({**_line(done=True, content=""), "done_reason": "load"},),
        "old": (_line(content="hi"), {"model": "m", "done": True, "load_duration": 5_000_000,
                                      "eval_count": 1}),
    },
    keys=("message", "content", "thinking", "tool_calls", "function", "name", "arguments", "id",
          "done", "done_reason", "error", "eval_count", "eval_duration", "load_duration", "role"),
    models={"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]},
    kind="application/x-ndjson",
    lines=Lines,
)  # fmt: skip

WIRES = {"openai": OPENAI, "anthropic": ANTHROPIC, "google": GOOGLE, "ollama": OLLAMA}
