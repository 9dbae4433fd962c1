"""Short ways to make a request and to take an answer in."""

import json
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jan_magics.domain.errors import ProviderError
from jan_magics.domain.events import Finish, StreamEvent, fold
from jan_magics.domain.messages import Message, Part, Role, TextPart
from jan_magics.domain.models import ChatOptions, ChatRequest, parse_model
from jan_magics.providers.answer import Answer
from jan_magics.providers.failures import Asked
from jan_magics.providers.openai_answer import Decoder

ASKED = Asked("test:model", "test", "http://127.0.0.1:1/v1")


def message(role: Role, *parts: Part | str) -> Message:
    made = tuple(TextPart(part) if isinstance(part, str) else part for part in parts)
    return Message("0" * 32, "t", role, made, datetime(2026, 1, 1, tzinfo=UTC))


def asking(
    *messages: Message | str, model: str = "test:model", system: str = "", **options: Any
) -> ChatRequest:
    said = tuple(message("user", item) if isinstance(item, str) else item for item in messages)
    return ChatRequest(parse_model(model), said, system, options=ChatOptions(**options))


async def collect(provider: Any, request: ChatRequest) -> list[StreamEvent]:
    async with aclosing(provider.stream(request)) as events:
        return [event async for event in events]


def read(pieces: Iterable[bytes], *, stream: bool = True) -> list[StreamEvent]:
    """Take a body in, cut as given, as the provider does."""
    answer = Answer(ASKED, Decoder(ASKED), stream=stream)
    events: list[StreamEvent] = []
    for piece in pieces:
        events += answer.feed(piece)
        if answer.ended:
            break
    return [*events, *answer.close()]


def sse(*chunks: Any, done: bool = True) -> bytes:
    frames = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]
    return b"".join(frames) + (b"data: [DONE]\n\n" if done else b"")


@dataclass(frozen=True)
class Outcome:
    parts: tuple[Part, ...]
    finish: Finish | None = None
    error: type[ProviderError] | None = None
    words: str = ""


def outcome(pieces: Iterable[bytes], *, stream: bool = True) -> Outcome:
    """Return what an answer means whatever its cutting: parts, and Finish or the error."""
    answer = Answer(ASKED, Decoder(ASKED), stream=stream)
    events: list[StreamEvent] = []
    for piece in pieces:
        events += answer.feed(piece)
        if answer.ended:
            break
    try:
        events += answer.close()
    except ProviderError as error:
        return Outcome(fold(events), None, type(error), str(error))
    last = events[-1]
    return Outcome(fold(events), last if isinstance(last, Finish) else None)
