"""The chat that cells use: one a kernel, and one of its own for a script."""

from jan_magics.api.chat import Chat, chat_on
from jan_magics.api.opening import current_host


def current() -> Chat:
    """Return the chat that `%%chat` uses here; a script gets one of its own."""
    return chat_on(current_host())
