"""Short ways to write a history, and what it becomes."""

import json
from typing import Any

from jan_magics.domain.messages import (
    Message,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from jan_magics.domain.models import STRICT_OPENAI, ChatRequest, ModelRef, Profile
from jan_magics.providers.dialects import PLAIN
from jan_magics.providers.openai_wire import encode
from jan_magics.sanitize.pipeline import clean
from tests.context.histories import START

STEP = UnknownPart({"type": "step-start"})


def says(identifier: str, role: Role, *parts: Part | str, **metadata: Any) -> Message:
    made = tuple(TextPart(part) if isinstance(part, str) else part for part in parts)
    return Message(identifier, "t", role, made, START, metadata=metadata)


def user(*parts: Part | str, identifier: str = "u", **metadata: Any) -> Message:
    return says(identifier, "user", *parts, **metadata)


def answer(*parts: Part | str, identifier: str = "a") -> Message:
    return says(identifier, "assistant", *parts)


def call(identifier: str, arguments: str = "{}", name: str = "look") -> ToolCallPart:
    return ToolCallPart(identifier, name, arguments)


def result(identifier: str, output: Any = "ok", name: str = "look", **more: Any) -> ToolResultPart:
    return ToolResultPart(identifier, name, output, **more)


def shown(message: Message) -> str:
    """Show a message on one line: `id role: text | look(1) | 1=ok`."""
    said = []
    for part in message.parts:
        match part:
            case TextPart(text=text):
                said.append(text)
            case ToolCallPart():
                said.append(f"{part.name}({part.call_id})")
            case ToolResultPart(output=output):
                said.append(
                    f"{part.call_id}={output if isinstance(output, str) else json.dumps(output)}"
                )
            case _:
                said.append(type(part).__name__)
    return f"{message.id} {message.role}: {' | '.join(said)}"


def cleaned(*messages: Message, profile: Profile = STRICT_OPENAI) -> list[str]:
    return [shown(message) for message in clean(messages, profile).messages]


def wire(*messages: Message) -> Any:
    """Return the messages as JSON of the chat completions wire."""
    return encode(ChatRequest(ModelRef("test", "model"), messages), PLAIN)["messages"]
