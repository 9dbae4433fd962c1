"""Roles that alternate, beginning with a question: neighbours are merged, empty answers go."""

from collections.abc import Iterable
from dataclasses import replace

from jan_magics.domain.messages import Message, ReasoningPart, TextPart


def alternate(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Drop answers that say nothing or come before any question, then merge neighbours of one role.

    A question that failed or an answer that is hidden leaves two questions in a row, a hidden
    question two answers, and a hidden first one an answer to begin with; strict templates refuse
    all three.
    """
    kept: list[Message] = []
    asked = False
    for message in messages:
        asked = asked or message.role == "user"
        if message.role == "assistant" and not (asked and _says_something(message)):
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
