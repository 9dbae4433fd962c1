"""The Anthropic Messages wire, outward: a request becomes JSON. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from jan_magics.domain.errors import RequestRejected
from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import AnswerSchema, ChatRequest, ModelRef, ToolSpec
from jan_magics.providers.catalog import longest_answer
from jan_magics.providers.dialects import Dialect
from jan_magics.providers.params import Settled, settle
from jan_magics.providers.tool_choice import for_anthropic
from jan_magics.providers.waves import (
    arguments_of,
    base64_of,
    opaque_for,
    output_of,
    split_wave,
    waves,
)

Block: TypeAlias = dict[str, Json]

_MARK: Final[Block] = {"type": "ephemeral"}
_BUDGETS: Final = {"low": 2_048, "medium": 8_192, "high": 24_576}
"""Tokens of reasoning; a request must leave room for the answer beside them."""
_ADAPTIVE: Final = re.compile(r"claude-(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9])")
_ANSWER: Final = "Give the answer with this tool, once it is known."
# The model may not be warmer or pickier than usual while it reasons.
WARMTH: Final = ("temperature", "top_p", "top_k")


def encode(request: ChatRequest, dialect: Dialect) -> dict[str, Json]:
    """Return the body of a request. Raises SettingError, RequestRejected."""
    settled = settle_for(request, dialect)
    body: dict[str, Json] = {
        "model": request.model.name,
        "max_tokens": longest_answer(request.model.name),
        "messages": _messages(request),
        "stream": True,
    }
    if request.system.strip():
        # Marked by itself: it outlives any branch, while the mark on the thread moves.
        body["system"] = [{"type": "text", "text": request.system, "cache_control": _MARK}]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    names = {"stop": "stop_sequences"}
    body |= {names.get(name, name): value for name, value in settled.values.items()}
    if isinstance(stop := body.get("stop_sequences"), str):
        body["stop_sequences"] = [stop]
    if "tool_choice" in body:
        body["tool_choice"] = for_anthropic(body["tool_choice"]) if request.tools else None
    if request.options.think is None:
        _think(body, settled.level, request.model.name)
    if request.schema:
        _hold_to(body, request.schema)
    return {name: value for name, value in body.items() if value is not None}


def _hold_to(body: dict[str, Json], schema: AnswerSchema) -> None:
    """Offer a schema as the tool to answer with; a model that reasons cannot be made to call it."""
    tools = body.get("tools")
    listed = tools if isinstance(tools, list) else []
    answer: Json = {
        "name": schema.name, "description": _ANSWER, "input_schema": dict(schema.body),
    }  # fmt: skip
    body["tools"] = [*listed, answer]
    thinking = body.get("thinking")
    free = isinstance(thinking, dict) and thinking.get("type") != "disabled"
    only: Json = {"type": "tool", "name": schema.name}
    body["tool_choice"] = {"type": "auto"} if free else {"type": "any"} if listed else only


def settle_for(request: ChatRequest, dialect: Dialect) -> Settled:
    """Return the parameters; while the model reasons, what makes it warmer is left out."""
    reasons = request.options.parameters.get("reasoning") in {"low", "medium", "high"}
    return settle(request.options, dialect, request.model.name, excluded=WARMTH if reasons else ())


def _think(body: dict[str, Json], level: str | None, model: str) -> None:
    if level == "off":
        body["thinking"] = {"type": "disabled"}
    if level not in _BUDGETS:
        return
    if _ADAPTIVE.search(model):
        body["thinking"] = {"type": "adaptive"}
        body["output_config"] = {"effort": level}
        return
    limit, budget = body.get("max_tokens"), _BUDGETS[level]
    if isinstance(limit, int) and limit <= budget:
        # A budget must be smaller than the limit, which counts both.
        body["max_tokens"] = limit + budget
    body["thinking"] = {"type": "enabled", "budget_tokens": budget}


def _tool(tool: ToolSpec) -> Json:
    schema = dict(tool.parameters) or {"type": "object", "properties": {}}
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _messages(request: ChatRequest) -> list[Json]:
    """Give every message its blocks; neighbours of one role become one, as the wire wants it."""
    turns: list[tuple[str, list[Block]]] = []
    for number, message in enumerate(request.messages):
        for role, blocks in _turns(message, request.model):
            if turns and turns[-1][0] == role:
                turns[-1][1].extend(blocks)
            elif blocks:
                turns.append((role, blocks))
        if number == request.stable - 1 and turns:
            _mark(turns[-1][1])
    return [{"role": role, "content": list[Json](blocks)} for role, blocks in turns]


def _mark(blocks: list[Block]) -> None:
    """Let the provider keep what was read up to here; reasoning cannot carry the mark."""
    for block in reversed(blocks):
        if block["type"] not in {"thinking", "redacted_thinking"}:
            block["cache_control"] = _MARK
            return


def _turns(message: Message, model: ModelRef) -> Iterator[tuple[str, list[Block]]]:
    role = "assistant" if message.role == "assistant" else "user"
    for wave in waves(message.parts):
        said, results = split_wave(wave)
        yield role, [block for part in said for block in _blocks(part, model)]
        yield "user", [_result(result) for result in results]


def _blocks(part: Part, model: ModelRef) -> Sequence[Block]:
    if isinstance(part, TextPart) and part.text.strip():
        return [{"type": "text", "text": part.text}]
    if isinstance(part, ReasoningPart):
        return _reasoning(part, model)
    if isinstance(part, ToolCallPart):
        call = {"type": "tool_use", "id": _id(part.call_id), "name": part.name}
        return [{**call, "input": arguments_of(part)}]
    if isinstance(part, FilePart):
        return [_file(part, model)]
    return []


def _reasoning(part: ReasoningPart, model: ModelRef) -> Sequence[Block]:
    """Return reasoning only to the model that signed it; any other refuses the signature."""
    opaque = opaque_for(model, part.opaque)
    if not isinstance(opaque, dict):
        return []
    if opaque.get("type") == "redacted_thinking":
        return [opaque]
    if part.signature is None:
        return []
    return [{"type": "thinking", "thinking": part.text, "signature": part.signature}]


def _result(result: ToolResultPart) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": _id(result.call_id)}
    if text := output_of(result):
        block["content"] = text
    if result.state != "ok":
        block["is_error"] = True
    return block


def _id(call_id: str) -> str:
    """Return the id of a call as the wire allows it; other providers have other letters."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call_id) or "_"


def _file(part: FilePart, model: ModelRef) -> Block:
    kind, _, _ = part.media_type.partition("/")
    if kind == "text" and part.data is not None:
        source: Json = {
            "type": "text", "media_type": "text/plain",
            "data": part.data.decode("utf-8", "replace"),
        }  # fmt: skip
        return {"type": "document", "source": source, **({"title": part.name} if part.name else {})}
    if kind != "image" and part.media_type != "application/pdf":
        raise RequestRejected(
            f"{model.provider} takes no {part.media_type!r} ({part.name or 'a file'})",
            "Ask without that file, or another model: %chat use MODEL",
            model=str(model),
        )
    source = {"type": "url", "url": part.url}
    if part.url is None or part.url.startswith("data:"):
        data = base64_of(part) if part.url is None else part.url.partition(",")[2]
        source = {"type": "base64", "media_type": part.media_type, "data": data}
    return {"type": "image" if kind == "image" else "document", "source": source}
