"""Messages and their parts. Identity and time are given by the engine; nothing here does I/O."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Final, Literal, TypeAlias

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
Role: TypeAlias = Literal["user", "assistant", "system"]
ToolState: TypeAlias = Literal["ok", "error", "denied", "interrupted"]
FinishReason: TypeAlias = Literal[
    "stop", "length", "tools", "filter", "max_steps", "stopped", "interrupted", "error"
]


class Unlinked(Enum):
    """The parent of a message written before its thread had branches."""

    UNLINKED = "unlinked"


UNLINKED: Final = Unlinked.UNLINKED
Parent: TypeAlias = str | None | Unlinked
"""The id of the parent, None for a root, UNLINKED where no link was ever written."""


@dataclass(frozen=True, slots=True)
class ProviderData:
    """Opaque JSON of a provider (signatures), returned only to that provider and model."""

    provider: str
    model: str
    data: Json


@dataclass(frozen=True, slots=True)
class TextPart:
    """Words, as the user or the model wrote them."""

    text: str
    opaque: ProviderData | None = None


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What a model wrote before its answer; `signature` proves it to its provider."""

    text: str
    signature: str | None = None
    opaque: ProviderData | None = None


@dataclass(frozen=True, slots=True)
class FilePart:
    """An image, audio or document: bytes in `data`, or an address in `url`."""

    media_type: str
    data: bytes | None = None
    url: str | None = None
    name: str | None = None
    opaque: ProviderData | None = None


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A tool call; `arguments` is the raw JSON text that the model wrote."""

    call_id: str
    name: str
    arguments: str
    opaque: ProviderData | None = None


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The result of the tool call with the same `call_id`."""

    call_id: str
    name: str
    output: Json
    state: ToolState = "ok"
    opaque: ProviderData | None = None


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """Content of a kind we do not know, kept as it was found."""

    raw: Json


Part: TypeAlias = TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart | UnknownPart


@dataclass(frozen=True, slots=True)
class Message:
    """One question, or one whole answer with all its steps and tool results.

    `metadata` is the stored metadata without links; `extra` holds unknown keys, which survive.
    """

    id: str
    thread_id: str
    role: Role
    parts: tuple[Part, ...]
    created_at: datetime
    parent_id: Parent = UNLINKED
    active_child_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread's own record; `extra` holds unknown keys, which survive."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    metadata: Mapping[str, Json] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)


def text_of(message: Message) -> str:
    """Join the text parts of a message, a blank line between two."""
    return "\n\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def stored_id(identifier: str) -> str:
    """Return the id of the stored message that a wave `<id>_w0`, `<id>_w1`, … was cut from."""
    return re.sub(r"_w\d+\Z", "", identifier)
