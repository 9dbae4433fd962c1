"""What every wire does with a message's parts before it gives them its own form. Pure."""

import base64
import json
from collections.abc import Iterator, Sequence
from typing import cast

from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    ProviderData,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ModelRef
from jan_magics.providers.bodies import LARGE, Inline


def waves(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Cut where the model speaks again after tool results: each wave is one wire message."""
    wave: list[Part] = []
    for part in parts:
        if wave and isinstance(wave[-1], ToolResultPart) and not isinstance(part, ToolResultPart):
            yield wave
            wave = []
        wave.append(part)
    yield wave


def split_wave(wave: Sequence[Part]) -> tuple[list[Part], list[ToolResultPart]]:
    """Part a wave into what was said and the results, these in the order of their calls."""
    results = [part for part in wave if isinstance(part, ToolResultPart)]
    said: list[Part] = [part for part in wave if not isinstance(part, ToolResultPart)]
    order = [part.call_id for part in said if isinstance(part, ToolCallPart)]
    known = {call_id: number for number, call_id in enumerate(order)}
    return said, sorted(results, key=lambda result: known.get(result.call_id, len(order)))


def calls_in(messages: Sequence[Message]) -> int:
    """Count the tool calls so far, so that a call without an id gets one that is new."""
    return sum(isinstance(part, ToolCallPart) for each in messages for part in each.parts)


def arguments_of(call: ToolCallPart) -> dict[str, Json]:
    """Return a call's arguments as an object; text that is none stays in sight of the model."""
    try:
        found = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        found = call.arguments
    return found if isinstance(found, dict) else {"arguments": found}


def output_of(result: ToolResultPart) -> str:
    """Return a result as text."""
    output = result.output
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def base64_of(part: FilePart, before: str = "") -> Json:
    """Return a text and behind it a file's bytes as base64; of a large one it is made later."""
    data = part.data or b""
    if len(data) >= LARGE:
        return cast(Json, Inline(data, before))
    return before + base64.b64encode(data).decode("ascii")


def opaque_for(model: ModelRef, opaque: ProviderData | None) -> Json:
    """Return what a provider wants back, None for another provider or model."""
    if opaque and (opaque.provider, opaque.model) == (model.provider, str(model)):
        return opaque.data
    return None
