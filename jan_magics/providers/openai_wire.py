"""The OpenAI chat wire, outward: a request becomes JSON. Pure; openai_answer.py reads answers."""

from collections.abc import Iterator, Mapping, Sequence

from jan_magics.domain.messages import (
    FilePart,
    Json,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    stored_id,
)
from jan_magics.domain.models import AnswerSchema, ChatRequest, ToolSpec
from jan_magics.providers.dialects import Dialect
from jan_magics.providers.params import resending, settle
from jan_magics.providers.thoughts import answers_with_calls, remember
from jan_magics.providers.waves import base64_of, output_of, waves


def encode(request: ChatRequest, dialect: Dialect) -> dict[str, Json]:
    """Return the body of a chat request.

    A parameter overrides any key but the model, the messages and `stream`; a parameter that is
    None removes its key.
    """
    body: dict[str, Json] = {
        "model": request.model.name,
        "messages": [*_system(request.system), *_messages(request, dialect)],
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
    if request.schema:
        body["response_format"] = _form(request.schema)
    body |= _options(request, dialect)
    return {name: value for name, value in body.items() if value is not None}


def _options(request: ChatRequest, dialect: Dialect) -> dict[str, Json]:
    settled = settle(request.options, dialect, request.model.name)
    names = {"max_tokens": dialect.limit_key, "seed": dialect.seed_key}
    chosen = {names.get(name, name): value for name, value in settled.values.items()}
    level, words = settled.level, dict[str, Json]()
    if level in {None, "auto"}:
        return chosen
    if dialect.reasoning == "thinking":
        # Also what is off without being asked for: a title would be all thought.
        words = {} if level in {"on", "off"} else {"reasoning_effort": level}
        return {
            **chosen,
            "thinking": {"type": "disabled" if level == "off" else "enabled"},
            **words,
        }
    if dialect.reasoning == "template":
        given = chosen.get("chat_template_kwargs")
        words = {} if level in {"on", "off"} else {"reasoning_effort": level}
        thinks: dict[str, Json] = {"enable_thinking": level != "off"}
        chosen["chat_template_kwargs"] = {
            **words, **(given if isinstance(given, dict) else {}), **thinks,
        }  # fmt: skip
    # What is off without being asked for, as for titles, is not worth a refusal.
    elif request.options.think is None and dialect.reasoning == "effort":
        chosen["reasoning_effort"] = "none" if level == "off" else level
    elif request.options.think is None and dialect.reasoning == "nested":
        chosen["reasoning"] = {"enabled": False} if level == "off" else {"effort": level}
    return chosen


def _form(schema: AnswerSchema) -> Json:
    told: dict[str, Json] = {"name": schema.name, "schema": dict(schema.body)}
    # Strictly only what OpenAI takes so: elsewhere the schema is followed as well as it can be.
    return {"type": "json_schema", "json_schema": {**told, "strict": _is_strict(schema.body)}}


def _is_strict(node: object) -> bool:
    """Tell whether every object of a schema names all that it may have, and nothing else."""
    if isinstance(node, list):
        return all(map(_is_strict, node))
    if not isinstance(node, Mapping):
        return True
    fields = node.get("properties")
    if isinstance(fields, dict) or node.get("type") == "object":
        required, names = node.get("required", []), set(fields if isinstance(fields, dict) else ())
        whole = isinstance(required, list) and set(map(str, required)) == names
        if not whole or node.get("additionalProperties") is not False:
            return False
    return all(map(_is_strict, node.values()))


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
    if text.strip():
        yield {"role": "system", "content": text}


def _messages(request: ChatRequest, dialect: Dialect) -> Iterator[Json]:
    how = resending(request.options, dialect, request.model.name)
    calling = answers_with_calls(request.messages) if how else frozenset()
    for message in request.messages:
        for wave in waves(message.parts):
            results = [part for part in wave if isinstance(part, ToolResultPart)]
            rest = [part for part in wave if not isinstance(part, ToolResultPart)]
            if rest or not results:
                said = _message(message.role, rest)
                if how and message.role == "assistant":
                    called = stored_id(message.id) in calling
                    remember(said, rest, how, request.model, calling=called)
                yield said
            yield from map(_result, results)


def _message(role: str, parts: Sequence[Part]) -> dict[str, Json]:
    said: dict[str, Json] = {"role": role, "content": _content(parts)}
    if calls := [_call(part) for part in parts if isinstance(part, ToolCallPart)]:
        said["tool_calls"] = calls
    return said


def _content(parts: Sequence[Part]) -> Json:
    # Plain text wherever it is enough: many servers know no lists of parts.
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
    address = part.url or base64_of(part, f"data:{part.media_type};base64,")
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": address}}
    if kind == "audio" and part.data is not None:
        form = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav"}.get(form, form)
        return {"type": "input_audio", "input_audio": {"data": base64_of(part), "format": form}}
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
    return {"role": "tool", "tool_call_id": part.call_id, "content": output_of(part)}
