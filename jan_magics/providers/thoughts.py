"""Reasoning of earlier answers, as a server wants it back on the OpenAI wire. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from jan_magics.domain.events import Seal
from jan_magics.domain.messages import (
    Json,
    Message,
    Part,
    ProviderData,
    ReasoningPart,
    ToolCallPart,
    stored_id,
)
from jan_magics.domain.models import ModelRef
from jan_magics.providers.dialects import Resending
from jan_magics.providers.failures import Asked
from jan_magics.providers.surrogates import encodable
from jan_magics.providers.waves import opaque_for

DETAILS: Final = "reasoning_details"
_TEXTS: Final = ("text", "summary", "data")
"""Keys of a detail whose pieces are one text."""


def answers_with_calls(messages: Iterable[Message]) -> frozenset[str]:
    """Return the stored ids of answers that have called tools."""
    return frozenset(
        stored_id(message.id)
        for message in messages
        if any(isinstance(part, ToolCallPart) for part in message.parts)
    )


def remember(
    said: dict[str, Json], parts: Sequence[Part], how: Resending, model: ModelRef, *, calling: bool
) -> None:
    """Put earlier reasoning into a message; `calling`: its answer has called tools."""
    thoughts = [part for part in parts if isinstance(part, ReasoningPart)]
    thought = "\n\n".join(part.text for part in thoughts if part.text)
    if how.place == "field":
        if thought or (how.gaps and calling):
            said["reasoning_content"] = thought
    elif how.place == "details":
        if found := [each for part in thoughts for each in _kept(part, model)]:
            said[DETAILS] = found
    elif thought:
        said["content"] = _before(said["content"], thought, how)


class Details:
    """OpenRouter's details of what was thought, put together from their pieces."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[dict[str, Json]] = []

    def take(self, pieces: Json) -> str:
        """Take pieces in, and return their words."""
        words: list[str] = []
        for piece in pieces if isinstance(pieces, list) else []:
            if isinstance(piece, dict):
                self._take(piece)
                said = piece.get("text") or piece.get("summary")
                words += [said] if isinstance(said, str) else []
        return "".join(words)

    def seal(self, asked: Asked) -> list[Seal]:
        """Return what goes back to this model, [] where nothing came."""
        data: dict[str, Json] = {DETAILS: list[Json](self._found)}
        made = Seal(ProviderData(asked.provider, asked.model, data), thought=True)
        return [made] if self._found else []

    def _take(self, piece: Mapping[str, Json]) -> None:
        last = self._found[-1] if self._found else None
        place = (piece.get("type"), piece.get("index"))
        if last is None or place[1] is None or place != (last.get("type"), last.get("index")):
            self._found.append({})
            last = self._found[-1]
        for name, value in piece.items():
            known = last.get(name)
            if name in _TEXTS and isinstance(known, str) and isinstance(value, str):
                last[name] = known + encodable(value)
            elif value is not None or name not in last:
                last[name] = encodable(value) if isinstance(value, str) else value


def _kept(part: ReasoningPart, model: ModelRef) -> Iterator[Json]:
    opaque = opaque_for(model, part.opaque)
    details = opaque.get(DETAILS) if isinstance(opaque, dict) else None
    yield from details if isinstance(details, list) else []


def _before(content: Json, thought: str, how: Resending) -> Json:
    """Return the content of a message behind what was thought before it."""
    parts: list[Json] = [{"type": "text", "text": content}] if content else []
    parts = content if isinstance(content, list) else parts
    if how.place == "parts":
        return [{"type": "thinking", "thinking": [{"type": "text", "text": thought}]}, *parts]
    tags = f"<think>\n{thought}\n</think>\n\n"
    return tags + content if isinstance(content, str) else [{"type": "text", "text": tags}, *parts]
