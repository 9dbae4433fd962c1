"""Numbers of sources in earlier answers: what they named is not sent any more."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from jan_magics.domain.messages import Message, Part, TextPart
from jan_magics.domain.models import Profile
from jan_magics.domain.source_marks import without_marks
from jan_magics.sanitize.parts import Messages

KEY: Final = "jan_magics"
SOURCES: Final = "sources"
"""Under the key in an answer's metadata: what was retrieved for it, by number."""


def forget_numbers(messages: Sequence[Message], profile: Profile) -> Messages:
    """Take the numbers of its own sources off an answer that a question follows.

    In the turn of that question a number means another source, and a model copies what it reads.
    The copy keeps no list of sources; an answer that says nothing else stays as it is.
    """
    last = max((n for n, message in enumerate(messages) if message.role == "user"), default=0)
    return tuple(
        _forgetting(message) if n < last and has_sources(message) else message
        for n, message in enumerate(messages)
    )


def has_sources(message: Message) -> bool:
    """Tell whether something was retrieved for an answer."""
    return message.role == "assistant" and bool(_ours(message).get(SOURCES))


def _forgetting(message: Message) -> Message:
    ours = _ours(message)
    found = ours[SOURCES]
    known = len(found) if isinstance(found, list) else 0
    kept = {name: value for name, value in ours.items() if name != SOURCES}
    parts = tuple(_without(part, known) for part in message.parts)
    said = any(isinstance(part, TextPart) and part.text.strip() for part in parts)
    return replace(
        message,
        parts=parts if said else message.parts,
        metadata={**message.metadata, KEY: kept},
    )


def _without(part: Part, known: int) -> Part:
    if not isinstance(part, TextPart):
        return part
    text = without_marks(part.text, known)
    # Signed text goes back as it came.
    return part if text == part.text or part.opaque is not None else replace(part, text=text)


def _ours(message: Message) -> Mapping[str, Any]:
    found = message.metadata.get(KEY)
    return found if isinstance(found, dict) else {}
