"""Attached files: their text in the question, or a list of what can be searched, once each.

The list stands at the end of a text, as Jan writes it; a question that holds it keeps it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from jan_magics.domain.messages import Json, Message, Part, TextPart
from jan_magics.domain.models import Profile
from jan_magics.sanitize.names import file_name
from jan_magics.sanitize.parts import Messages, with_parts
from jan_magics.sanitize.text import mended

INLINE_KEY: Final = "inline_file_contents"
"""Metadata of a question: files whose whole text goes with it, each `name` and `content`."""
ATTACHED_KEY: Final = "attached_files"
"""Metadata of a question: files that can be searched, `file_id`, `name`, `chunks` and `mode`."""
OPEN: Final = "[ATTACHED_FILES]"
CLOSE: Final = "[/ATTACHED_FILES]"
INSTRUCTION: Final = (
    "Files that the user attached are listed between [ATTACHED_FILES] and [/ATTACHED_FILES] in "
    "their turn; when one matters, get its content with the retrieval tools by its file_id."
)
MODES: Final = ("inline", "embeddings")
_FIELD: Final = re.compile(r",\s*(?=(?:file_id|name|type|size|chunks|mode):)")


@dataclass(frozen=True, slots=True)
class Attached:
    """A file in a list; `size` in bytes. Kind and size are read and not written."""

    file_id: str
    name: str
    chunks: int | None = None
    mode: str | None = None
    kind: str | None = None
    size: int | None = None


Listed: TypeAlias = tuple[Attached, ...]


def attach_files(messages: Sequence[Message], profile: Profile) -> Messages:
    """Put the files of each question's metadata into its last text; the copy keeps no such key."""
    return tuple(
        _attached(message, profile)
        if INLINE_KEY in message.metadata or ATTACHED_KEY in message.metadata
        else message
        for message in messages
    )


def list_once(messages: Sequence[Message], profile: Profile) -> Messages:
    """List each file of a question once, also when the question was merged from several."""
    return tuple(
        with_parts(message, _listed_once(message.parts, profile))
        if message.role == "user"
        else message
        for message in messages
    )


def files_instruction(messages: Sequence[Message]) -> str:
    """Return what the system text says while any question lists files, else nothing."""
    for message in messages:
        if message.role == "user" and any(_lists(message)):
            return INSTRUCTION
    return ""


def extract_block(text: str) -> tuple[Listed, str]:
    """Return the files that a text ends with, and the text before them.

    A block with any line that is no file is the user's own text, and stays.
    """
    if not text.endswith(f"\n{CLOSE}"):
        return (), text
    before, opened, block = f"\n{text}".removesuffix(f"\n{CLOSE}").rpartition(f"\n{OPEN}\n")
    files = [_read_line(line) for line in block.split("\n")]
    found = tuple(each for each in files if each is not None)
    if not opened or len(found) < len(files):
        return (), text
    return found, before[1:].rstrip()


def inject_block(text: str, files: Sequence[Attached]) -> str:
    """Return a text with the list of files behind it."""
    if not files:
        return text
    lines = "\n".join(map(_line, files))
    return "\n\n".join(filter(None, (text, f"{OPEN}\n{lines}\n{CLOSE}")))


def guarded(text: str) -> str:
    """Return a file's text so that a list which it may end with is not taken for the question's."""
    return f"{text}\n" if text.endswith(CLOSE) else text


def _lists(message: Message) -> Iterator[bool]:
    yield bool(_known(message.metadata, 1))
    for part in message.parts:
        if isinstance(part, TextPart):
            yield bool(extract_block(part.text)[0])


def _attached(message: Message, profile: Profile) -> Message:
    kept = {k: v for k, v in message.metadata.items() if k not in (INLINE_KEY, ATTACHED_KEY)}
    bare = replace(message, metadata=kept)
    if message.role != "user":
        return bare
    texts = [n for n, part in enumerate(message.parts) if isinstance(part, TextPart)]
    last = message.parts[texts[-1]] if texts else None
    last = last if isinstance(last, TextPart) else TextPart("")
    files, own = _blocks(last.text)
    bodies = _bodies(message.metadata, profile.longest_file_name)
    more = _known(message.metadata, profile.longest_file_name)
    if not bodies and not more:
        return bare
    text = guarded("\n\n".join(filter(None, (own, *bodies)))) if bodies else own
    whole = replace(last, text=inject_block(text, _distinct((*files, *more))))
    if not texts:
        return with_parts(bare, (*message.parts, whole))
    parts = list(message.parts)
    parts[texts[-1]] = whole
    return with_parts(bare, parts)


def _bodies(metadata: Mapping[str, Json], longest: int) -> list[str]:
    return [
        f"File: {file_name(str(each.get('name') or 'attachment'), longest)}\n{mended(content)}"
        for each in _rows(metadata.get(INLINE_KEY))
        if isinstance(content := each.get("content"), str) and content
    ]


def _known(metadata: Mapping[str, Json], longest: int) -> Listed:
    found = (_read(row, longest) for row in _rows(metadata.get(ATTACHED_KEY)))
    return tuple(each for each in found if each is not None)


def _rows(value: Json) -> list[dict[str, Json]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _distinct(files: Sequence[Attached]) -> Listed:
    found = dict[str, Attached]()
    for each in files:
        found.setdefault(each.file_id, each)
    return tuple(found.values())


def _blocks(text: str) -> tuple[Listed, str]:
    """Return the files of all blocks that a text ends with, and the text before them."""
    files, own = extract_block(text)
    if not files:
        return (), text
    earlier, own = _blocks(own)
    return (*earlier, *files), own


def _listed_once(parts: Sequence[Part], profile: Profile) -> Iterator[Part]:
    seen = set[str]()
    for part in parts:
        files, own = _blocks(part.text) if isinstance(part, TextPart) else ((), "")
        if not isinstance(part, TextPart) or not files:
            yield part
            continue
        fresh = [each for each in _distinct(files) if each.file_id not in seen]
        seen.update(each.file_id for each in fresh)
        named = (replace(e, name=file_name(e.name, profile.longest_file_name)) for e in fresh)
        if text := inject_block(own, tuple(named)):
            yield part if text == part.text else replace(part, text=text)


def _line(file: Attached) -> str:
    # A name must not read like a further field.
    said = [f"file_id: {file.file_id}", f"name: {_FIELD.sub('; ', file.name)}"]
    if file.chunks is not None:
        said.append(f"chunks: {file.chunks}")
    if file.mode is not None:
        said.append(f"mode: {file.mode}")
    return f"- {', '.join(said)}"


def _read_line(line: str) -> Attached | None:
    if not line.startswith("- "):
        return None
    pairs = (field.partition(":") for field in _FIELD.split(line[2:]))
    return _read({key.strip(): value.strip() for key, _, value in pairs}, 0)


def _read(row: Mapping[str, Json], longest: int) -> Attached | None:
    identifier, name = row.get("file_id"), row.get("name")
    if not isinstance(identifier, str) or not isinstance(name, str):
        return None
    if not identifier or not name:
        return None
    mode, kind = row.get("mode"), row.get("type")
    return Attached(
        re.sub(r"[\s,]+", "_", mended(identifier)) if longest else identifier,
        file_name(name, longest) if longest else name,
        _number(row.get("chunks")),
        mode if isinstance(mode, str) and mode in MODES else None,
        kind if isinstance(kind, str) else None,
        _number(row.get("size")),
    )


def _number(value: Json) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if re.fullmatch(r"\d{1,15}", str(value)) else None
