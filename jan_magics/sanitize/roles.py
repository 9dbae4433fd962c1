"""Roles that alternate: adjacent messages of one role are merged, empty answers are left out."""

from collections.abc import Iterable
from dataclasses import replace

from jan_magics.domain.messages import Message, ReasoningPart, TextPart


def alternate(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Drop answers that say nothing, then merge neighbours of one role; no part is lost.

    A question that failed or an answer that is hidden leaves two questions in a row, a hidden
    question two answers; strict templates refuse both.
    """
    kept: list[Message] = []
    for message in messages:
        if message.role == "assistant" and not _says_something(message):
            continue
        if kept and kept[-1].role == message.role != "system":
            kept[-1] = replace(kept[-1], parts=kept[-1].parts + message.parts)
        else:
            kept.append(message)
    return tuple(kept)


def _says_something(message: Message) -> bool:
    return any(
        part.text.strip() if isinstance(part, TextPart | ReasoningPart) else True
        for part in message.parts
    )
