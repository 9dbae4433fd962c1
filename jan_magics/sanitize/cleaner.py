"""The cleaning of one profile, for a planner: plain messages are only put in order."""

from collections.abc import Sequence
from dataclasses import dataclass

from jan_magics.domain.messages import Message, TextPart
from jan_magics.domain.models import Profile
from jan_magics.sanitize.cited import KEY, has_sources
from jan_magics.sanitize.parts import Messages
from jan_magics.sanitize.pipeline import clean
from jan_magics.sanitize.roles import alternate


@dataclass(frozen=True, slots=True)
class Cleaner:
    """Cleans histories for a profile; two of them are equal when they clean alike."""

    profile: Profile

    def __call__(self, messages: Sequence[Message]) -> Messages:
        """Return messages as they can be sent.

        Most messages are one text that any provider takes; they need nothing but their order, and
        long threads of them are waited for.
        """
        if all(map(is_plain, messages)):
            return alternate(messages)
        return clean(messages, self.profile).messages


def is_plain(message: Message) -> bool:
    """Tell whether a message is one text, without files, in characters that may be sent."""
    if len(message.parts) != 1 or type(message.parts[0]) is not TextPart:
        return False
    if message.role == "system" or message.metadata.keys() - {KEY} or has_sources(message):
        return False
    text = message.parts[0].text
    return _is_clean(text) and message.parts[0].opaque is None and bool(text.strip())


def _is_clean(text: str) -> bool:
    if "\x00" in text or "[ATTACHED_FILES]" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True
