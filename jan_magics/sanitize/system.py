"""System messages: one at the beginning where a template allows one, else part of a question."""

from collections.abc import Sequence
from dataclasses import replace

from jan_magics.domain.messages import Message, TextPart
from jan_magics.domain.models import Profile
from jan_magics.sanitize.parts import Messages, with_parts


def fold_system(messages: Sequence[Message], profile: Profile) -> Messages:
    """Bring system messages where the provider takes them; no word of theirs is lost."""
    bare = [_in_words(message) if message.role == "system" else message for message in messages]
    kept = tuple(message for message in bare if message.role != "system" or message.parts)
    told = [message for message in kept if message.role == "system"]
    if profile.system == "any" or not told:
        return kept
    others = tuple(message for message in kept if message.role != "system")
    parts = tuple(part for message in told for part in message.parts)
    if profile.system == "first":
        return (with_parts(told[0], parts), *others)
    first = next((n for n, message in enumerate(others) if message.role == "user"), 0)
    question = tuple(replace(each, parts=(*parts, *each.parts)) for each in others[first:][:1])
    return (*others[:first], *question, *others[first + 1 :])


def _in_words(message: Message) -> Message:
    said = (part for part in message.parts if isinstance(part, TextPart) and part.text.strip())
    return with_parts(message, said)
