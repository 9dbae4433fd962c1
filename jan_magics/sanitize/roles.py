"""Roles that alternate, beginning with a question: neighbours are merged, empty answers go."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from jan_magics.domain.messages import Message, ReasoningPart, TextPart
from jan_magics.domain.models import Profile
from jan_magics.sanitize.parts import Messages
from jan_magics.sanitize.waves import ends_in_result

EMPTY: Final = "[This message is empty.]"


def alternate(messages: Iterable[Message], *, waves: bool = False) -> Messages:
    """Drop answers that say nothing or come before any question, then merge neighbours of one role.

    A question that failed or an answer that is hidden leaves two questions in a row, a hidden
    question two answers, and a hidden first one an answer to begin with; strict templates refuse
    all three. With `waves`, what follows a tool result stays a message of its own.
    """
    kept: list[Message] = []
    asked = False
    for message in messages:
        asked = asked or message.role == "user"
        if message.role == "assistant" and not (asked and _says_something(message)):
            continue
        neighbours = bool(kept) and kept[-1].role == message.role != "system"
        if neighbours and not (waves and ends_in_result(kept[-1])):
            kept[-1] = replace(kept[-1], parts=kept[-1].parts + message.parts)
        else:
            kept.append(message)
    return tuple(kept)


def order_roles(messages: Sequence[Message], profile: Profile) -> Messages:
    """Alternate as the provider sees it, with or without waves."""
    return alternate(messages, waves=profile.waves)


def explain_empty(messages: Sequence[Message], profile: Profile) -> Messages:
    """Say of a question without content that it is empty: it may neither go nor be sent so."""
    return tuple(
        message
        if message.parts or message.role != "user"
        else replace(message, parts=(TextPart(EMPTY),))
        for message in messages
    )


def _says_something(message: Message) -> bool:
    return any(
        part.text.strip() if isinstance(part, TextPart | ReasoningPart) else True
        for part in message.parts
    )
