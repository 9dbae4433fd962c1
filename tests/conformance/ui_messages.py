"""Messages in the form of Jan's user interface, as the vectors give them, and back.

Texts that stand next to each other are shown with a blank line between two, as they are sent.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from jan_magics.domain.messages import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from jan_magics.domain.models import STRICT_OPENAI, Profile
from jan_magics.sanitize.pipeline import Step
from tests.conformance.vectors import Adapter

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
STATES: Final = {"ok": "output-available", "denied": "output-denied"}


def run(*steps: Step, profile: Profile = STRICT_OPENAI) -> Adapter:
    """Make an adapter that takes steps of cleaning, one after the other."""

    def adapter(given: Any) -> object:
        messages = messages_of(given)
        for step in steps:
            messages = step(messages, profile)
        return rows(messages)

    return adapter


def messages_of(given: Any) -> tuple[Message, ...]:
    return tuple(
        Message(
            row["id"],
            "t",
            row["role"],
            tuple(map(part_of, row["parts"])),
            EPOCH,
            metadata=row.get("metadata", {}),
        )
        for row in given["messages"]
    )


def part_of(row: Mapping[str, Any]) -> Part:
    match row["type"]:
        case "text":
            return TextPart(row["text"])
        case "reasoning":
            return ReasoningPart(row["text"])
        case "file":
            return FilePart(row["mediaType"], url=row["url"])
        case "image":
            return FilePart("image/*", url=row["image"])
        case _:
            return UnknownPart(dict(row))


def rows(messages: Iterable[Message]) -> list[dict[str, Any]]:
    return [
        {"id": message.id, "role": message.role, "parts": list(parts_shown(message.parts))}
        | ({"metadata": dict(message.metadata)} if message.metadata else {})
        for message in messages
    ]


def parts_shown(parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    results = {part.call_id: part for part in parts if isinstance(part, ToolResultPart)}
    for is_text, group in groupby(parts, key=lambda part: isinstance(part, TextPart)):
        if is_text:
            texts = [part.text for part in group if isinstance(part, TextPart)]
            yield {"type": "text", "text": "\n\n".join(texts)}
            continue
        for part in group:
            yield from part_shown(part, results)


def part_shown(part: Part, results: Mapping[str, ToolResultPart]) -> Iterator[dict[str, Any]]:
    match part:
        case ReasoningPart():
            yield {"type": "reasoning", "text": part.text}
        case FilePart():
            row = {"type": "file", "mediaType": part.media_type}
            held = {"url": part.url} if part.data is None else {"bytes": part.data.decode()}
            yield row | held
        case UnknownPart(raw=dict(raw)):
            yield raw
        case ToolCallPart():
            yield tool_shown(part, results[part.call_id])


def tool_shown(call: ToolCallPart, result: ToolResultPart) -> dict[str, Any]:
    row = {"type": f"tool-{call.name}", "toolCallId": call.call_id}
    row |= {"input": json.loads(call.arguments), "state": STATES.get(result.state, "output-error")}
    if result.state == "interrupted":
        return row | {"errorText": {"$nonempty": True}}
    return row | {"output" if result.state in STATES else "errorText": result.output}


def said(identifier: str, role: str, text: str, *more: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": identifier, "role": role, "parts": [{"type": "text", "text": text}, *more]}
