"""What is attached to a question: as the user named it, and as it goes with the question.

Nothing is read here, and no library of retrieval is loaded.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from jan_magics.domain.messages import FilePart, Json, Message, TextPart
from jan_magics.sanitize.attachments import ATTACHED_KEY, INLINE_KEY

KEYS: Final = (INLINE_KEY, ATTACHED_KEY)


@dataclass(frozen=True, slots=True)
class Attachment:
    """What the user attaches: a file or folder at `path`, else a text, media, or an address."""

    name: str
    path: Path | None = None
    text: str | None = None
    media: FilePart | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Attached:
    """What goes with a question: media as parts, files as metadata; `notes` are for the footer."""

    parts: tuple[FilePart, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def put(self, question: Message) -> Message:
        """Return a question with these in place of what it had."""
        words = tuple(part for part in question.parts if not isinstance(part, FilePart))
        others = {key: each for key, each in question.metadata.items() if key not in KEYS}
        return replace(question, parts=(*words, *self.parts), metadata={**others, **self.metadata})

    def same_as(self, question: Message) -> bool:
        """Tell whether a question has just these."""
        return self.put(question) == question


@dataclass(frozen=True, slots=True)
class Home:
    """Where files of a turn belong: its thread, and the folder that their names are relative to.

    `dry`: it is only looked at what would be done.
    """

    folder: Path
    thread: str = ""
    title: str = ""
    dry: bool = False


def searched(path: Sequence[Message]) -> bool:
    """Tell whether any question of a path has files that are not sent with it but searched."""
    return any(row.get("mode") == "embeddings" for message in path for row in _rows(message))


def told_apart(message: Message) -> Message:
    """Return a message whose parts tell its files too: what is asked of other files is another."""
    files = {key: message.metadata[key] for key in KEYS if key in message.metadata}
    if not files:
        return message
    told = json.dumps(files, sort_keys=True, ensure_ascii=False)
    return replace(message, parts=(*message.parts, TextPart(told)))


def names_of(message: Message) -> list[str]:
    """Return the names of the files that go with a message, as it was written."""
    media = [each for each in message.parts if isinstance(each, FilePart)]
    texts = [row.get("name") for key in KEYS for row in _rows(message, key)]
    return [each.name or each.media_type for each in media] + [str(each) for each in texts if each]


def _rows(message: Message, key: str = ATTACHED_KEY) -> list[dict[str, Any]]:
    rows = message.metadata.get(key)
    return [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
