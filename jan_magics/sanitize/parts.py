"""Parts: what others wrote is read, what no wire can carry is left out. Nothing of tools here."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType
from typing import Final, TypeAlias

from jan_magics.domain.messages import (
    Json,
    Message,
    Part,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolState,
    UnknownPart,
    stored_id,
)
from jan_magics.domain.models import ModelRef, Profile

Messages: TypeAlias = tuple[Message, ...]

STEP_MARK: Final = "step-start"
_STATES: Final[Mapping[str, ToolState]] = MappingProxyType(
    {"output-available": "ok", "output-error": "error", "output-denied": "denied"}
)


def with_parts(message: Message, parts: Iterable[Part]) -> Message:
    """Return a message with other parts, the very same message where they are equal."""
    found = tuple(parts)
    return message if found == message.parts else replace(message, parts=found)


def read_parts(messages: Sequence[Message], profile: Profile) -> Messages:
    """Read tool parts as Jan shows them; those that stand together were called together."""
    return tuple(
        with_parts(message, _read(message.parts))
        if message.role == "assistant" and any(type(part) is UnknownPart for part in message.parts)
        else message
        for message in messages
    )


def drop_unknown(messages: Sequence[Message], profile: Profile) -> Messages:
    """Drop what we cannot read, and tool parts outside of answers."""
    return tuple(
        with_parts(message, (part for part in message.parts if _belongs(part, message)))
        for message in messages
    )


def drop_blank(messages: Sequence[Message], profile: Profile) -> Messages:
    """Drop texts without words: some servers refuse them. In an answer one may hold a signature.

    Reasoning that led to nothing else goes too: no wire has a place for it alone.
    """
    return tuple(with_parts(message, _worded(message)) for message in messages)


def choose_reasoning(messages: Sequence[Message], profile: Profile) -> Messages:
    """Keep the reasoning that is sent again, and opaque data only for the model that made it."""
    called = _answers_with_calls(messages, profile) if profile.reasoning_with_calls else None
    return tuple(
        with_parts(message, _own(message, profile, called))
        if any(type(part) is not TextPart or part.opaque for part in message.parts)
        else message
        for message in messages
    )


def is_step_mark(part: Part) -> bool:
    """Tell whether a part is Jan's mark for the beginning of a step."""
    return (
        isinstance(part, UnknownPart)
        and isinstance(part.raw, dict)
        and part.raw.get("type") == STEP_MARK
    )


def _read(parts: Sequence[Part]) -> Iterator[Part]:
    found = [(part, _tool(part)) for part in parts]
    for is_tool, group in groupby(found, key=lambda each: bool(each[1])):
        if not is_tool:
            yield from (part for part, _ in group)
            continue
        tools = [tool for _, tool in group]
        yield from (tool[0] for tool in tools)
        yield from (part for tool in tools for part in tool[1:])


def _tool(part: Part) -> tuple[Part, ...]:
    """Return the call, and its result where there is one; nothing for any other part."""
    raw = part.raw if isinstance(part, UnknownPart) else None
    if not isinstance(raw, dict):
        return ()
    kind, call_id = raw.get("type"), raw.get("toolCallId")
    if not isinstance(kind, str) or not isinstance(call_id, str):
        return ()
    name = raw.get("toolName") if kind == "dynamic-tool" else kind.partition("tool-")[2]
    if not isinstance(name, str) or not (kind == "dynamic-tool" or kind.startswith("tool-")):
        return ()
    call = ToolCallPart(call_id, name, "" if raw.get("input") is None else _json(raw["input"]))
    state = _STATES.get(str(raw.get("state")))
    said: Json = raw.get("errorText") or None
    if state is None and said is None:
        return (call,)
    output = raw.get("output") if state == "ok" or said is None else said
    return call, ToolResultPart(call_id, name, output, state or "error")


def _belongs(part: Part, message: Message) -> bool:
    if isinstance(part, ToolCallPart | ToolResultPart | ReasoningPart):
        return message.role == "assistant"
    return not isinstance(part, UnknownPart)


def _worded(message: Message) -> tuple[Part, ...]:
    parts = tuple(part for part in message.parts if not _is_blank(part, message))
    return () if all(isinstance(part, ReasoningPart) for part in parts) else parts


def _is_blank(part: Part, message: Message) -> bool:
    if not isinstance(part, TextPart | ReasoningPart) or part.text.strip():
        return False
    signed = part.opaque is not None or (isinstance(part, ReasoningPart) and part.signature)
    return message.role != "assistant" or not signed


def _answers_with_calls(messages: Sequence[Message], profile: Profile) -> frozenset[str]:
    """Return the stored ids of answers that have called tools; all waves of one count as one."""
    if profile.tools is False:
        return frozenset()
    return frozenset(
        stored_id(message.id)
        for message in messages
        if any(isinstance(part, ToolCallPart) for part in message.parts)
    )


def _own(message: Message, profile: Profile, called: frozenset[str] | None) -> Iterator[Part]:
    silent = called is not None and stored_id(message.id) not in called
    for part in message.parts:
        if isinstance(part, UnknownPart):
            yield part
            continue
        foreign = _is_foreign(part.opaque, profile.model)
        if isinstance(part, ReasoningPart):
            # A signature alone does not tell whose it is.
            signed = part.opaque is not None and not foreign
            if silent or profile.reasoning == "never":
                continue
            if profile.reasoning == "signed" and not signed:
                continue
            if foreign:
                part = replace(part, signature=None)  # noqa: PLW2901 - the part as it goes on
        yield replace(part, opaque=None) if foreign else part


def _is_foreign(opaque: ProviderData | None, model: ModelRef | None) -> bool:
    if opaque is None or model is None:
        return False
    return (opaque.provider, opaque.model) != (model.provider, str(model))


def shown_json(value: Json) -> str:
    """Return text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else _json(value)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
