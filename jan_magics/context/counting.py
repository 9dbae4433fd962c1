"""Tokens of messages, part by part, as they go out. Which tokenizer counts is not decided here."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from jan_magics.domain.models import ToolSpec
from jan_magics.domain.protocols import Framing, Tokenizer

INLINE_KEY: Final = "inline_file_contents"
# What nobody can count is bounded: one odd part must not push a whole thread out of the window.
UNKNOWN_CHARS: Final = 16_000
FILE_LEAST: Final = 64
FILE_MOST: Final = 20_000
FILE_USUAL: Final = 1_600
# Bytes a token: mp3 at 16 kB and 25 tokens a second, video at 250 kB and 258, a PDF page of 50 kB.
_BYTES: Final = MappingProxyType({"audio": 640, "video": 1_000})
_BYTES_OTHER: Final = 20


@dataclass(slots=True)
class Outgoing:
    """What one stored message becomes: texts to count, files, and one role a message sent."""

    texts: list[str] = field(default_factory=list)
    files: list[FilePart] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)


def count_message(message: Message, tokenizer: Tokenizer, *, resend_reasoning: bool = False) -> int:
    """Return the tokens of a message with all its parts and the marks around it.

    Raises:
        LookupError: when the tokenizer has to be filled first, and was not.
    """
    parts = message.parts
    if len(parts) == 1 and type(parts[0]) is TextPart and INLINE_KEY not in message.metadata:
        return tokenizer.count(parts[0].text) + tokenizer.overhead(message.role)
    sent = outgoing(message, resend_reasoning=resend_reasoning)
    return (
        sum(map(tokenizer.count, sent.texts))
        + sum(_file(part, tokenizer) for part in sent.files)
        + sum(map(tokenizer.overhead, sent.roles))
    )


def count_tools(tools: Sequence[ToolSpec], tokenizer: Tokenizer) -> int:
    """Return the tokens of tool schemas as the JSON that goes out; 0 when there are none."""
    return sum(map(tokenizer.count, map(tool_text, tools)))


def count_system(text: str, tokenizer: Tokenizer) -> int:
    """Return the tokens of the system text and of what the template puts around a request.

    Ask it for an empty text, too: some templates say something of their own then.
    """
    said = tokenizer.count(text) + tokenizer.overhead("system") if text else 0
    return said + (tokenizer.opening(system=bool(text)) if isinstance(tokenizer, Framing) else 0)


def tool_text(tool: ToolSpec) -> str:
    """Return the JSON of a tool's schema as it goes out."""
    parameters: Json = dict(tool.parameters)
    function: Json = {
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
    }
    return _json({"type": "function", "function": function})


def outgoing(message: Message, *, resend_reasoning: bool = False) -> Outgoing:
    """Return what a message becomes on the wire.

    Each stretch of speech is one message and so is each tool result, as in `openai_wire`.
    """
    sent, said = Outgoing(), list[str]()
    spoken = False
    for part in message.parts:
        if isinstance(part, ToolResultPart):
            _close(sent, said)
            sent.roles.append("user")  # the marks around a result are those of a question
            sent.texts.append(part.output if isinstance(part.output, str) else _json(part.output))
            spoken = False
            continue
        if not spoken:
            sent.roles.append(message.role)
            spoken = True
        _speak(part, sent, said, resend_reasoning)
    if not message.parts:
        sent.roles.append(message.role)
    said += inline_files(message)
    _close(sent, said)
    return sent


def _speak(part: Part, sent: Outgoing, said: list[str], resend_reasoning: bool) -> None:  # noqa: FBT001
    match part:
        case TextPart(text=text):
            said.append(text)
        case ReasoningPart(text=text) if resend_reasoning:
            said.append(text)
        case FilePart(media_type=kind, data=bytes(data)) if kind.startswith("text/"):
            said.append(data.decode("utf-8", "replace"))
        case FilePart():
            sent.files.append(part)
        case ToolCallPart():
            sent.texts.append(_call(part))
        case UnknownPart(raw=raw):
            sent.texts.append(_json(raw)[:UNKNOWN_CHARS])
        case _:
            return


def _close(sent: Outgoing, said: list[str]) -> None:
    if said:
        sent.texts.append("\n\n".join(said))
        said.clear()


def inline_files(message: Message) -> list[str]:
    """Return the files whose text travels with a message, each under its name."""
    listed = message.metadata.get(INLINE_KEY)
    files = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [
        f"File: {each.get('name') or 'attachment'}\n{content}"
        for each in files
        if isinstance(content := each.get("content"), str) and content
    ]


def _call(part: ToolCallPart) -> str:
    function: Json = {"name": part.name, "arguments": part.arguments or "{}"}
    return _json({"id": part.call_id, "type": "function", "function": function})


def _file(part: FilePart, tokenizer: Tokenizer) -> int:
    kind = part.media_type.partition("/")[0]
    if kind == "image":
        return tokenizer.image(part)
    if part.data is None:
        return FILE_USUAL
    tokens = len(part.data) // _BYTES.get(kind, _BYTES_OTHER)
    return max(FILE_LEAST, min(FILE_MOST, tokens))


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
