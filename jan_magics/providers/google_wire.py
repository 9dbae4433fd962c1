"""The Google generateContent wire, outward: a request becomes JSON. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from jan_magics.domain.events import LeftOut
from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    ProviderData,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ChatRequest, ModelRef, ToolSpec
from jan_magics.providers.dialects import Dialect
from jan_magics.providers.params import Settled, settle
from jan_magics.providers.tool_choice import for_google
from jan_magics.providers.waves import arguments_of, base64_of, opaque_for, split_wave, waves

Block: TypeAlias = dict[str, Json]

_NAMES: Final[Mapping[str, str]] = {
    "max_tokens": "maxOutputTokens", "top_p": "topP", "top_k": "topK", "stop": "stopSequences",
    "presence_penalty": "presencePenalty", "frequency_penalty": "frequencyPenalty",
    "response_mime_type": "responseMimeType", "response_schema": "responseSchema",
    "logprobs": "responseLogprobs", "top_logprobs": "logprobs",
}  # fmt: skip
# All other parameters are part of `generationConfig`.
_BESIDE: Final = frozenset({"safetySettings", "toolConfig", "cachedContent", "labels"})
_BUDGETS: Final = {"low": 1_024, "medium": 8_192, "high": 24_576, "auto": -1}
# Its server wants a signature back, and takes this word for calls that another model made.
_UNSIGNED: Final = "skip_thought_signature_validator"
_THINKS: Final = re.compile(r"gemini-(?:2\.5|[3-9]|\d\d)")
_SIGNS: Final = re.compile(r"gemini-(?:[3-9]|\d\d)")


def encode(request: ChatRequest, dialect: Dialect) -> Block:
    """Return the body of a request. Raises SettingError."""
    settled = settle_for(request, dialect)
    body: Block = {"contents": _contents(request)}
    if request.system.strip():
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]
    config: Block = {}
    for name, value in settled.values.items():
        if name == "tool_choice" and value is not None:
            body |= {"toolConfig": for_google(value)} if request.tools else {}
        elif value is not None:
            (body if name in _BESIDE else config)[_NAMES.get(name, name)] = value
    if isinstance(stop := config.get("stopSequences"), str):
        config["stopSequences"] = [stop]
    if request.schema:
        config["responseMimeType"] = "application/json"
        # The plain JSON schema; `responseSchema` takes only a part of it.
        config["responseJsonSchema"] = dict(request.schema.body)
    if thinking := _thinking(settled, request.model.name):
        config["thinkingConfig"] = thinking
    if config:
        body["generationConfig"] = config
    return body


def settle_for(request: ChatRequest, dialect: Dialect) -> Settled:
    """Return the parameters; models that do not think refuse to be told how much."""
    settled, model = settle(request.options, dialect, request.model.name), request.model.name
    if settled.level is None or _THINKS.search(model):
        return settled
    asked = request.options.parameters.get("reasoning")
    left = LeftOut("reasoning", f"{model} has no switch for it")
    told = () if asked in (None, "off", "auto") else (left,)
    return replace(settled, level=None, left_out=(*settled.left_out, *told))


def _thinking(settled: Settled, model: str) -> Block:
    """Return how much is thought."""
    level = settled.level
    if level is None or level == "on":
        return {}
    if _SIGNS.search(model):
        if level == "auto":
            return {"includeThoughts": True}
        # These models cannot be kept from thinking, only from thinking much.
        low = level in {"off", "low"} or (level == "medium" and "flash" not in model)
        return {
            "includeThoughts": level != "off",
            "thinkingLevel": "low" if low else level,
        }
    if level == "off":
        return {"thinkingBudget": 128 if "pro" in model else 0}
    return {"includeThoughts": True, "thinkingBudget": _BUDGETS[level]}


def _tool(tool: ToolSpec) -> Json:
    declared: Block = {"name": tool.name, "description": tool.description}
    if tool.parameters.get("properties"):
        # The plain JSON schema; `parameters` takes only a part of it.
        declared["parametersJsonSchema"] = dict(tool.parameters)
    return declared


def _contents(request: ChatRequest) -> list[Json]:
    turns: list[tuple[str, list[Block]]] = []
    for message in request.messages:
        for role, blocks in _turns(message, request.model):
            if turns and turns[-1][0] == role:
                turns[-1][1].extend(blocks)
            elif blocks:
                turns.append((role, blocks))
    return [{"role": role, "parts": list[Json](blocks)} for role, blocks in turns]


def _turns(message: Message, model: ModelRef) -> Iterator[tuple[str, list[Block]]]:
    role = "model" if message.role == "assistant" else "user"
    for wave in waves(message.parts):
        said, results = split_wave(wave)
        calls = [part for part in said if isinstance(part, ToolCallPart)]
        ids = {call.call_id: _id_of(call, model) for call in calls}
        first = calls[0] if calls and _SIGNS.search(model.name) else None
        yield role, [block for part in said for block in _blocks(part, model, part is first)]
        yield "user", [_result(result, ids.get(result.call_id)) for result in results]


def _blocks(part: Part, model: ModelRef, needs: bool) -> Sequence[Block]:  # noqa: FBT001 - of one
    block: Block
    if isinstance(part, TextPart) and part.text:
        block = {"text": part.text}
    elif isinstance(part, FilePart):
        block = _file(part)
    elif isinstance(part, ToolCallPart):
        call: Block = {"name": part.name, "args": arguments_of(part)}
        if call_id := _id_of(part, model):
            call["id"] = call_id
        block = {"functionCall": call}
    elif getattr(part, "opaque", None) and _signature(part, model):
        block = {"text": ""}  # a signature that came alone goes back alone
    else:
        return []
    if signature := _signature(part, model) or (_UNSIGNED if needs else ""):
        block["thoughtSignature"] = signature
    return [block]


def _opaque(part: Part, model: ModelRef) -> Mapping[str, Json]:
    held = getattr(part, "opaque", None)
    found = opaque_for(model, held) if isinstance(held, ProviderData) else None
    return found if isinstance(found, dict) else {}


def _signature(part: Part, model: ModelRef) -> Json:
    return _opaque(part, model).get("thoughtSignature")


def _id_of(call: ToolCallPart, model: ModelRef) -> Json:
    """Return the id that this model gave its call; it knows no ids of others."""
    return _opaque(call, model).get("id")


def _result(result: ToolResultPart, call_id: Json) -> Block:
    output = result.output
    named = "output" if result.state == "ok" else "error"
    told: Block = {
        "name": result.name,
        "response": output if isinstance(output, dict) and named == "output" else {named: output},
    }
    if call_id:
        told["id"] = call_id
    return {"functionResponse": told}


def _file(part: FilePart) -> Block:
    if part.url is not None and not part.url.startswith("data:"):
        return {"fileData": {"mimeType": part.media_type, "fileUri": part.url}}
    data = base64_of(part) if part.url is None else part.url.partition(",")[2]
    return {"inlineData": {"mimeType": part.media_type, "data": data}}
