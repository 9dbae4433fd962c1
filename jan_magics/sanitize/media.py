"""Media: bytes and addresses stay parts of their own to the wire, never text that looks like one.

What a model cannot take is left out; a message that has nothing else says so.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from jan_magics.domain.messages import (
    FilePart,
    Message,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import Profile
from jan_magics.sanitize.attachments import guarded
from jan_magics.sanitize.parts import Messages, with_parts

_DATA_URL: Final = re.compile(r"data:([^;,\s]+);base64,([A-Za-z0-9+/]*={0,2})")


def unpack_media(messages: Sequence[Message], profile: Profile) -> Messages:
    """Turn data addresses into bytes, and documents that are text into text."""
    return tuple(
        with_parts(message, map(_unpacked, message.parts))
        if any(type(part) is FilePart for part in message.parts)
        else message
        for message in messages
    )


def leave_out_media(messages: Sequence[Message], profile: Profile) -> Messages:
    """Leave out the files that a model cannot take."""
    return tuple(
        _without(message, profile)
        if any(type(part) is FilePart for part in message.parts)
        else message
        for message in messages
    )


def _unpacked(part: Part) -> Part:
    if not isinstance(part, FilePart):
        return part
    found = _DATA_URL.fullmatch(part.url) if part.url and not part.data else None
    data = part.data if found is None else _decoded(found[2])
    media_type = part.media_type
    if found and (not media_type or media_type.endswith("/*")):
        media_type = found[1]
    media_type = media_type.lower()
    if data and media_type.startswith("text/"):
        text = data.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
        return TextPart(guarded(f"File: {part.name or 'attachment'}\n{text}"))
    # Bytes or an address: of both, the bytes are what was meant.
    url = None if data else part.url
    if (media_type, data or None, url) == (part.media_type, part.data, part.url):
        return part
    return replace(part, media_type=media_type, data=data or None, url=url)


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return None


def _without(message: Message, profile: Profile) -> Message:
    gone = [part for part in _files(message) if not is_taken(part, message.role, profile)]
    if not gone:
        return message
    kept: list[Part] = [part for part in message.parts if all(part is not each for each in gone)]
    if not any(map(_is_content, kept)):
        named = ", ".join(map(_named, gone))
        kept.append(TextPart(f"[Left out, because the model cannot take it: {named}]"))
    return with_parts(message, kept)


def _is_content(part: Part) -> bool:
    if isinstance(part, TextPart):
        return bool(part.text.strip())
    return isinstance(part, FilePart | ToolCallPart | ToolResultPart)


def _files(message: Message) -> Iterator[FilePart]:
    return (part for part in message.parts if isinstance(part, FilePart))


def is_taken(part: FilePart, role: Role, profile: Profile) -> bool:
    """Tell whether a file in a message of that role can be sent to a model."""
    media_type = part.media_type.lower()
    if not (part.data or (part.url and re.fullmatch(profile.addressed, media_type))):
        return False
    if role == "system" or (role == "assistant" and not profile.answer_files):
        return False
    known = {"image": profile.images, "audio": profile.audio, "video": profile.video}
    if known.get(media_type.partition("/")[0], profile.files) is False:
        return False
    return re.fullmatch(profile.media, media_type) is not None


def _named(part: FilePart) -> str:
    kind = part.media_type.lower().partition("/")[0]
    kind = kind if kind in ("image", "audio", "video") else "file"
    return f"{kind} {part.name}" if part.name else kind
