"""What older programs wrote between the words: read as what it means, never written back."""

import re
from collections.abc import Iterator
from typing import Final

from jan_magics.domain.messages import Message, Part, ReasoningPart, TextPart

_TAGGED: Final = re.compile(
    r"\s*<(think|thought)>(?P<why>.*?)(?:</\1>(?P<rest>.*)|\Z)", re.DOTALL | re.IGNORECASE
)
_CHANNELS: Final = re.compile(
    r"\s*<\|channel\|>\s*analysis\s*<\|message\|>(?P<why>.*?)"
    r"(?:(?:<\|end\|>)?\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*final\s*<\|message\|>"
    r"(?P<rest>.*)|(?:<\|end\|>)?\s*\Z)",
    re.DOTALL | re.IGNORECASE,
)


def read_parts(message: Message) -> tuple[Part, ...]:
    """Return the parts of a message; reasoning that an answer begins with in tags is reasoning."""
    if message.role != "assistant":
        return message.parts
    return tuple(part for each in message.parts for part in _read(each))


def words_of(message: Message) -> str:
    """Join what a message says, a blank line between two parts; reasoning in tags is left out."""
    texts = [part.text for part in read_parts(message) if isinstance(part, TextPart)]
    return "\n\n".join(texts)


def says_nothing(message: Message) -> bool:
    """Tell whether an answer has no word, no reasoning, no file and no tool call."""
    if message.role != "assistant" or message.metadata.get("tool_calls"):
        return False
    said = (TextPart, ReasoningPart)
    return all(isinstance(part, said) and not part.text.strip() for part in message.parts)


def _read(part: Part) -> Iterator[Part]:
    found = None
    if isinstance(part, TextPart):
        found = _TAGGED.fullmatch(part.text) or _CHANNELS.fullmatch(part.text)
    if found is None:
        yield part
        return
    for kind, text in ((ReasoningPart, found["why"]), (TextPart, found["rest"])):
        if text and text.strip():
            yield kind(text.strip())
