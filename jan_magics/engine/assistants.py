"""Assistants: instructions and default parameters under a name, one readable file each."""

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import AssistantNotFound, KeyRefused, SettingError
from jan_magics.domain.messages import Json, Thread
from jan_magics.domain.parameters import checked_parameters
from jan_magics.storage.files import replace_file, translated
from jan_magics.storage.json_text import parse, pretty

VERSION_FILE: Final = ".migration_version"
SHORTEST_PREFIX: Final = 4
LONGEST_NAME: Final = 80
THREAD_KEY: Final = "assistants"
"""Where Jan keeps a thread's assistants, the first of which counts."""
_KNOWN: Final = ("id", "name", "instructions", "parameters")


@dataclass(frozen=True, slots=True)
class Assistant:
    """Instructions and default parameters; `extra` holds unknown keys, which survive."""

    id: str
    name: str
    instructions: str = ""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)


PLAIN: Final = Assistant("model-only", "default")
"""The model as it is. Jan calls a thread without an assistant so, and it needs no file."""


@dataclass(frozen=True, slots=True)
class AssistantRow:
    """An assistant of the list; `path` None = built in, `fault` says what is wrong with a file."""

    assistant: Assistant
    path: Path | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Assistants:
    """The assistants of a data folder, read anew at every look; looking writes nothing."""

    folder: Path
    new_id: Callable[[], str]
    now: Callable[[], datetime]

    def rows(self) -> tuple[AssistantRow, ...]:
        """List all, the built-in one first, then by name; a damaged file is a row too."""
        # Jan has a folder for each, we have a file; both are read.
        paths = (*self.folder.glob("*.json"), *self.folder.glob("*/assistant.json"))
        found = sorted(map(_read, paths), key=lambda row: (row.assistant.name.lower(), row.path))
        named = any(row.assistant.id == PLAIN.id for row in found)
        return tuple(found) if named else (AssistantRow(PLAIN), *found)

    def named(self, name: str) -> AssistantRow:
        """Return the assistant of that name, else the one whose id begins so.

        Raises:
            AssistantNotFound: with the nearest names.
            SettingError: when several are meant, or its file is damaged.
        """
        rows = self.rows()
        found = [row for row in rows if name in (row.assistant.name, row.assistant.id)]
        found = found or [row for row in rows if row.assistant.name.lower() == name.lower()]
        if not found and len(name) >= SHORTEST_PREFIX:
            found = [row for row in rows if row.assistant.id.startswith(name)]
        if not found:
            names = [row.assistant.name for row in rows]
            raise AssistantNotFound(name, difflib.get_close_matches(name, names, 3))
        if len(found) > 1:
            ids = ", ".join(row.assistant.id[:8] for row in found)
            raise SettingError(
                f"{len(found)} assistants are called {name!r}", f"Name one by its id: {ids}"
            )
        if found[0].fault:
            raise SettingError(
                f"the assistant {name!r} cannot be read: {found[0].fault}",
                f"Mend or delete its file: {found[0].path}",
            )
        return found[0]

    def create(self, name: str) -> AssistantRow:
        """Return the assistant of that name; where there is none, write a new one."""
        clean = usable_name(name)
        try:
            return self.named(clean)
        except AssistantNotFound:
            stamp = int(self.now().timestamp())
            extra: dict[str, Json] = {"object": "assistant", "created_at": stamp, "model": "*"}
            return self.save(Assistant(self.new_id(), clean, extra=extra))

    def save(self, assistant: Assistant, path: Path | None = None) -> AssistantRow:
        """Write an assistant whole, or not at all. Raises StoreError."""
        place = path or self.folder / f"{assistant.id}.json"
        with translated(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            replace_file(place, pretty(encode(assistant)).encode())
        return AssistantRow(assistant, place)

    def of_thread(self, thread: Thread) -> Assistant | None:
        """Return a thread's first assistant as its file is now, else as the thread kept it."""
        kept = next(_kept(thread), None)
        return self._newest(kept) if kept else None

    def default(self) -> Assistant:
        """Return the assistant of threads that have none: built in, unless the user edited it."""
        return self._newest(encode(PLAIN)) or PLAIN

    def _newest(self, kept: dict[str, Json]) -> Assistant | None:
        found = next((row for row in self.rows() if row.assistant.id == kept["id"]), None)
        if found and not found.fault:
            return found.assistant
        try:
            return decode(kept, "")
        except ValueError:
            return None


def encode(assistant: Assistant) -> dict[str, Json]:
    """Write an assistant as JSON in Jan's shape."""
    return {
        "id": assistant.id,
        "name": assistant.name,
        "instructions": assistant.instructions,
        "parameters": dict(assistant.parameters),
        **assistant.extra,
    }


def decode(raw: Json, name: str) -> Assistant:
    """Read an assistant; `name` is that of its file. Raises ValueError saying what is wrong."""
    content = raw if isinstance(raw, dict) else {}
    instructions, parameters = content.get("instructions"), content.get("parameters")
    faults = {
        "it is no JSON object": not isinstance(raw, dict),
        "its instructions are no text": not isinstance(instructions, str | None),
        "its parameters are no object": not isinstance(parameters, dict | None),
    }
    for fault, holds in faults.items():
        if holds:
            raise ValueError(fault)
    own_id, own_name = content.get("id"), content.get("name")
    identifier = own_id if isinstance(own_id, str) and own_id else name
    return Assistant(
        identifier,
        own_name if isinstance(own_name, str) and own_name else identifier,
        instructions if isinstance(instructions, str) else "",
        parameters if isinstance(parameters, dict) else {},
        {key: value for key, value in content.items() if key not in _KNOWN},
    )


def remembered(thread: Thread, assistant: Assistant) -> dict[str, Json] | None:
    """Return the thread's keys that name an assistant as its first; None: it is already."""
    kept = list(_kept(thread))
    first = kept[0] if kept else None
    if first is None and assistant == PLAIN:
        return None
    entry = encode(assistant)
    if first and "model" in first:
        entry["model"] = first["model"]  # in a thread it is the thread's model, not "any"
    if first == entry:
        return None
    others: list[Json] = [each for each in kept if each["id"] != entry["id"]]
    return {THREAD_KEY: [entry, *others]}


def usable_name(name: str) -> str:
    """Return a name in one line. Raises SettingError when it cannot be one."""
    clean = " ".join(name.split())
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable():
        raise SettingError(
            f"{name[:40]!r} cannot be an assistant's name",
            f"Use 1 to {LONGEST_NAME} printable characters.",
        )
    return clean


def usable_parameters(given: Mapping[str, object]) -> dict[str, Json]:
    """Return parameters as they are kept. Raises SettingError for what nobody takes, KeyRefused."""
    for name in given:
        if "key" in name and "api" in name:
            raise KeyRefused(f"{name} is no parameter of a model", "Type: %chat key PROVIDER")
    checked_parameters(given)
    known: dict[str, Json] = json.loads(json.dumps(given))
    return known


def _kept(thread: Thread) -> Iterator[dict[str, Json]]:
    found = thread.extra.get(THREAD_KEY)
    for each in found if isinstance(found, list) else ():
        if isinstance(each, dict) and isinstance(each.get("id"), str):
            yield each


def _read(path: Path) -> AssistantRow:
    name = path.parent.name if path.name == "assistant.json" else path.stem
    try:
        return AssistantRow(decode(parse(path.read_bytes()), name), path)
    except (OSError, ValueError) as fault:
        return AssistantRow(Assistant(name, name), path, _reason(fault))


def _reason(fault: Exception) -> str:
    if isinstance(fault, OSError):
        return fault.strerror or "it cannot be read"
    words = str(fault)
    return words if words.startswith("it") else f"it is not JSON: {words}"
