"""Chat with language models in notebooks: `%load_ext jan_magics`, then `%%chat`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jan_magics.domain.version import VERSION

if TYPE_CHECKING:
    from jan_magics.api import plot
    from jan_magics.api.answer import Answer
    from jan_magics.api.chat import Chat
    from jan_magics.api.chunks import chunks
    from jan_magics.api.collection import Collection
    from jan_magics.api.current import current
    from jan_magics.api.leaking import leaks
    from jan_magics.api.lists import assistants, find, models, save_assistant, threads
    from jan_magics.api.moving import import_threads
    from jan_magics.api.replaying import replay
    from jan_magics.api.shelf import collections
    from jan_magics.api.showing import show
    from jan_magics.api.tools import tool, tools

__version__ = VERSION
__all__ = [
    "Answer", "Chat", "Collection", "assistants", "chunks", "collections", "current", "find",
    "import_threads", "leaks", "models", "plot", "replay", "save_assistant", "show", "threads",
    "tool", "tools",
]  # fmt: skip

_HOMES = (
    ("Answer", "answer"), ("Chat", "chat"), ("chunks", "chunks"),
    ("Collection", "collection"), ("collections", "shelf"),
    ("current", "current"), ("assistants", "lists"),
    ("save_assistant", "lists"), ("find", "lists"), ("import_threads", "moving"),
    ("leaks", "leaking"), ("models", "lists"), ("threads", "lists"),
    ("replay", "replaying"), ("show", "showing"), ("tool", "tools"), ("tools", "tools"),
)  # fmt: skip


def __getattr__(name: str) -> Any:
    # Lazy: loading the extension must not load pandas, httpx or a database.
    if name == "plot":
        return import_module("jan_magics.api.plot")
    for public, home in _HOMES:
        if public == name:
            return getattr(import_module(f"jan_magics.api.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))


def load_ipython_extension(shell: Any) -> None:
    """Register `%%chat` and `%chat`; silent, nothing is read, written or sent."""
    from jan_magics.magics.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics back; threads stay."""
    from jan_magics.magics.extension import unload

    unload(shell)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jan-magics"}]
