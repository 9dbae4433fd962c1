"""What is still known of a thread whose own record cannot be read: from its messages and records.

Nothing is written here (mending.py).
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from jan_magics.domain.messages import Json, Message, Thread, text_of
from jan_magics.domain.overlays import CellLink
from jan_magics.domain.tree import ACTIVE_ROOT_KEY
from jan_magics.storage.content import OWN
from jan_magics.storage.overlays import decode_overlays

_TITLE_CHARS: Final = 60


def guessed_thread(
    name: str,
    text: str,
    messages: Sequence[Message],
    records: Iterable[Json],
    *,
    changed: datetime,
    taken: Collection[str] = (),
) -> Thread:
    """Return a thread as far as it is known; `text` is what is left of its record.

    A notebook of `taken` has a thread of its own already, so that this one is none.
    """
    links = [each for each in decode_overlays(records) if isinstance(each, CellLink)]
    title = _found(text, "title")
    times = [message.created_at for message in messages] or [changed]
    # Only a thread without a name is a notebook's own, and remembers its cells.
    is_own = not title or '"cells"' in text
    ours = _ours(links, messages, is_own=is_own, taken=taken)
    metadata: dict[str, Json] = {OWN: ours} if ours else {}
    root = _found(text, ACTIVE_ROOT_KEY)
    if root is not None:
        metadata[ACTIVE_ROOT_KEY] = root
    if title is None and "cells" not in ours:
        title = _first_question(messages) or name
    return Thread(name, title or "", min(times), max(times), metadata)


def _ours(
    links: Sequence[CellLink],
    messages: Sequence[Message],
    *,
    is_own: bool,
    taken: Collection[str],
) -> dict[str, Json]:
    ours: dict[str, Json] = {}
    notebook = next((link.notebook for link in reversed(links) if link.notebook), None)
    if notebook is not None:
        ours["notebook"] = notebook
        if is_own and notebook not in taken:
            ours["cells"] = list[Json](dict.fromkeys(link.cell for link in links))
    if model := next(filter(None, map(_model, reversed(messages))), None):
        ours["model"] = model
    return ours


def _model(message: Message) -> str | None:
    ours = message.metadata.get(OWN)
    found = ours.get("model") if isinstance(ours, dict) else None
    return found if message.role == "assistant" and isinstance(found, str) else None


def _found(text: str, key: str) -> str | None:
    """Find the text value of a key in damaged JSON."""
    found = re.search(rf'"{key}"\s*:\s*("(?:[^"\\]|\\.)*")', text)
    with suppress(ValueError):
        value = json.loads(found[1]) if found else None
        return value if isinstance(value, str) else None
    return None


def _first_question(messages: Sequence[Message]) -> str:
    asked = (text_of(message) for message in messages if message.role == "user")
    return next((" ".join(text.split())[:_TITLE_CHARS] for text in asked if text.strip()), "")
