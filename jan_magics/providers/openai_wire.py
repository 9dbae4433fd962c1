"""The OpenAI chat wire, outward: a request becomes JSON. Pure; openai_answer.py reads answers."""

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Final

from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ChatOptions, ChatRequest, ToolSpec
from jan_magics.providers.catalog import Dialect

# Names for things that are settled before a request leaves; a server would misread them.
CLIENT_KEYS: Final = frozenset(
    {"ctx_len", "max_context_tokens", "auto_compact", "pace", "delay", "fail", "timeout"}
)
# What was planned and recorded is what is sent: no parameter may change it.
FIXED_KEYS: Final = frozenset({"model", "messages", "stream"})


def encode(request: ChatRequest, dialect: Dialect) -> dict[str, Json]:
    """Return the body of a chat request.

    A parameter overrides any key but the model, the messages and `stream`; a parameter that is
    None removes its key.
    """
    body: dict[str, Json] = {
        "model": request.model.name,
        "messages": [*_system(request.system), *_messages(request.messages)],
        "stream": True,
    }
    if dialect.usage:
        body["stream_options"] = {"include_usage": True}
    if dialect.progress:
        body["return_progress"] = True
    if dialect.cache:
        body["cache_prompt"] = True
    if dialect.per_token:
        body["timings_per_token"] = True
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    body |= _options(request.options, dialect)
    return {name: value for name, value in body.items() if value is not None}


def _options(options: ChatOptions, dialect: Dialect) -> dict[str, Json]:
    chosen: dict[str, Json] = {
        "temperature": options.temperature,
        dialect.limit_key: options.max_tokens or None,
        dialect.seed_key: options.seed,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if options.think is not None and dialect.template:
        chosen["chat_template_kwargs"] = {"enable_thinking": options.think}
    for name, value in options.parameters.items():
        if name in CLIENT_KEYS or name in FIXED_KEYS:
            continue
        key = dialect.limit_key if name in {"max_tokens", "max_output_tokens"} else name
        chosen[key] = None if key == dialect.limit_key and value == 0 else value
    return chosen


def _tool(tool: ToolSpec) -> Json:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }


def _system(text: str) -> Iterator[Json]:
    if text:
        yield {"role": "system", "content": text}


def _messages(messages: Sequence[Message]) -> Iterator[Json]:
    for message in messages:
        for wave in _waves(message.parts):
            results = [part for part in wave if isinstance(part, ToolResultPart)]
            rest = [part for part in wave if not isinstance(part, ToolResultPart)]
            if rest or not results:
                yield _message(message.role, rest)
            yield from map(_result, results)


def _waves(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Cut where the model speaks again after tool results: each wave is one wire message."""
    wave: list[Part] = []
    for part in parts:
        if wave and isinstance(wave[-1], ToolResultPart) and not isinstance(part, ToolResultPart):
            yield wave
            wave = []
        wave.append(part)
    yield wave


def _message(role: str, parts: Sequence[Part]) -> Json:
    said: dict[str, Json] = {"role": role, "content": _content(parts)}
    if calls := [_call(part) for part in parts if isinstance(part, ToolCallPart)]:
        said["tool_calls"] = calls
    return said


def _content(parts: Sequence[Part]) -> Json:
    # Plain text wherever it is enough: many servers know no lists of parts. The reasoning of
    # earlier answers is not part of this wire.
    shown = [part for part in parts if isinstance(part, TextPart | FilePart)]
    texts = [part.text for part in shown if isinstance(part, TextPart)]
    if len(texts) == len(shown):
        return "\n\n".join(texts)
    return [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else _file(part)
        for part in shown
    ]


def _file(part: FilePart) -> Json:
    kind, _, form = part.media_type.partition("/")
    data = base64.b64encode(part.data or b"").decode("ascii")
    address = part.url or f"data:{part.media_type};base64,{data}"
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": address}}
    if kind == "audio" and part.data is not None:
        form = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav"}.get(form, form)
        return {"type": "input_audio", "input_audio": {"data": data, "format": form}}
    if kind == "text" and part.data is not None:
        return {"type": "text", "text": part.data.decode("utf-8", "replace")}
    return {"type": "file", "file": {"filename": part.name or "file", "file_data": address}}


def _call(part: ToolCallPart) -> Json:
    return {
        "id": part.call_id,
        "type": "function",
        "function": {"name": part.name, "arguments": part.arguments or "{}"},
    }


def _result(part: ToolResultPart) -> Json:
    output = part.output
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return {"role": "tool", "tool_call_id": part.call_id, "content": text}
