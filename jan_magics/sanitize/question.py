"""The guard before a request leaves: somebody asks something. Some templates fail without."""

from collections.abc import Sequence

from jan_magics.domain.errors import PromptError
from jan_magics.domain.messages import FilePart, Message, TextPart
from jan_magics.sanitize.roles import EMPTY


def has_question(messages: Sequence[Message]) -> bool:
    """Tell whether any question has words or a file of the user's own; takes what will be sent.

    A tool result in the user's name is no question.
    """
    return any(message.role == "user" and _asks(message) for message in messages)


def require_question(messages: Sequence[Message]) -> None:
    """Raise PromptError where nothing of what will be sent is a question."""
    if not has_question(messages):
        raise PromptError(
            "nothing of what would be sent is a question",
            "Write a prompt, or show what you hid: %chat undo",
        )


def _asks(message: Message) -> bool:
    if any(isinstance(part, FilePart) for part in message.parts):
        return True
    text = "".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
    # As the templates judge it: only the beginning and the end of the text count.
    is_result = text.startswith("<tool_response>") and text.endswith("</tool_response>")
    return bool(text) and text != EMPTY and not is_result
