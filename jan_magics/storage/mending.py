"""Repairs of one thread of the JSONL layout, whose lock is held. Nothing is thrown away."""

import json
import re
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, Message, Thread, text_of
from jan_magics.domain.tree import ACTIVE_ROOT_KEY
from jan_magics.storage.codec import decode_message
from jan_magics.storage.folder import Folder
from jan_magics.storage.writing import fold

_TITLE_CHARS: Final = 60


def mend(folder: Folder, quarantine: Path) -> list[str]:
    """Set damaged lines aside, out of the thread; rebuild a damaged record. Say what was done."""
    done: list[str] = []
    # Ordinary, as at every opening: what waited in the journal goes into the log.
    fold(folder)
    if folder.quarantine_path.exists():
        quarantine.mkdir(parents=True, exist_ok=True)
        target = _free(quarantine, f"{folder.path.name}.quarantine", ".jsonl")
        folder.quarantine_path.rename(target)
        kept = f"; an older log is {folder.backup_path}" if folder.backup_path.exists() else ""
        done.append(f"its damaged lines are in {target}{kept}")
    try:
        folder.thread()
    except (ThreadNotFound, StoreError):
        done.append(_rebuild(folder))
    return done


def _rebuild(folder: Folder) -> str:
    text = ""
    said = "its thread.json was made anew"
    if folder.exists():
        kept = _free(folder.path, "thread.damaged", ".json")
        text = folder.thread_path.read_bytes().decode("utf-8", "replace")
        kept.write_bytes(folder.thread_path.read_bytes())
        said += f"; the damaged one is {kept.name}"
    messages = [decode_message(value) for _, value in folder.log().entries.values()]
    root = _found(text, ACTIVE_ROOT_KEY)
    metadata: dict[str, Json] = {} if root is None else {ACTIVE_ROOT_KEY: root}
    times = [message.created_at for message in messages] or [folder.changed_at()]
    title = _found(text, "title") or _title(messages) or folder.path.name
    folder.write_thread(Thread(folder.path.name, title, min(times), max(times), metadata))
    return said


def _found(text: str, key: str) -> str | None:
    """Find the text value of a key in damaged JSON."""
    found = re.search(rf'"{key}"\s*:\s*("(?:[^"\\]|\\.)*")', text)
    with suppress(ValueError):
        value = json.loads(found[1]) if found else None
        return value if isinstance(value, str) else None
    return None


def _title(messages: list[Message]) -> str:
    asked = (text_of(message) for message in messages if message.role == "user")
    return next((" ".join(text.split())[:_TITLE_CHARS] for text in asked if text.strip()), "")


def _free(folder: Path, stem: str, suffix: str) -> Path:
    names = (folder / f"{stem}{f'~{n}' if n else ''}{suffix}" for n in count())
    return next(path for path in names if not path.exists())
