"""Names of tools and files: as long as the provider takes them, and in its characters."""

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import PurePosixPath

from jan_magics.domain.messages import FilePart, Message, Part, ToolCallPart, ToolResultPart
from jan_magics.domain.models import Profile
from jan_magics.sanitize.parts import Messages, with_parts
from jan_magics.sanitize.text import mended


def fit_names(messages: Sequence[Message], profile: Profile) -> Messages:
    """Shorten the names of tools and files, and leave only characters that are taken."""
    return tuple(
        with_parts(message, (_fitting(part, profile) for part in message.parts))
        for message in messages
    )


def tool_name(name: str, longest: int) -> str:
    """Return the name under which a tool is offered and its calls are sent again.

    A name that has to change ends in a digest of the old one, so that two never become one.
    """
    if re.fullmatch(rf"[A-Za-z0-9_-]{{1,{longest}}}", name):
        return name
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    known = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "tool"
    return f"{known[: longest - 9]}_{digest}"


def file_name(name: str, longest: int) -> str:
    """Return a file's name in one line; what is too long is cut before its suffix."""
    name = re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]+", " ", mended(name)).strip() or "attachment"
    if len(name) <= longest:
        return name
    suffix = PurePosixPath(name).suffix[: longest // 4]
    return f"{name[: longest - len(suffix) - 1]}…{suffix}"


def _fitting(part: Part, profile: Profile) -> Part:
    match part:
        case ToolCallPart() | ToolResultPart():
            name = tool_name(part.name, profile.longest_tool_name)
            return part if name == part.name else replace(part, name=name)
        case FilePart(name=str(given)):
            name = file_name(given, profile.longest_file_name)
            return part if name == given else replace(part, name=name)
        case _:
            return part
