"""What a server's words refuse of any request for a model: images, tools, a schema. Pure."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jan_magics.domain.errors import Refused
from jan_magics.domain.messages import FilePart
from jan_magics.domain.models import ChatRequest

_NO: Final = r"(?:do(?:es)? not|doesn'?t|don'?t|cannot|can'?t|is not|isn'?t|are not|not|no)"
_TOOLS: Final = r"(?:tools?\b|tool[ _-](?:use|call(?:ing|s)?)|function[ _-]call(?:ing|s)?)"
_IMAGES: Final = r"(?:images?\b|vision\b|image[ _](?:input|url|content)s?)"
_SCHEMA: Final = r"(?:response[ _]format\b|json[ _]schema\b|structured outputs?\b)"
_WORDS: Final[Mapping[Refused, re.Pattern[str]]] = MappingProxyType({
    "schema": re.compile(
        rf"{_SCHEMA}.{{0,80}}{_NO} (?:\w+ )?(?:support|available|allow|permit|recogni)"
        rf"|{_SCHEMA}.{{0,40}}unavailable"
        rf"|{_NO} support.{{0,40}}{_SCHEMA}"
        rf"|(?:unsupported|unknown|unrecognized|unexpected|invalid).{{0,60}}{_SCHEMA}"
        rf"|{_SCHEMA}.{{0,60}}(?:is invalid|input should be|must be one of|not in)",
        re.IGNORECASE | re.DOTALL,
    ),
    "system": re.compile(
        r"system (?:role|prompt|message|instruction)s? (?:is |are )?not (?:supported|allowed)"
        rf"|{_NO} (?:support|accept|allow)(?:ed|s)? (?:an? |the )?['\"]?(?:system|developer)\b"
        r"|developer instruction is not enabled|unexpected role ['\"]?system"
        r"|only user(?:,| and) assistant(?:,? and tool)? roles are supported",
        re.IGNORECASE,
    ),
    "tools": re.compile(
        rf"{_NO} support(?:ed)? (?:the use of )?{_TOOLS}"
        rf"|\b{_TOOLS}[`'\"]? (?:param )?(?:is |are )?"
        r"(?:not (?:supported|enabled|available)|requires? --)"
        r"|no endpoints? found that support tool|enable-auto-tool-choice"
        r"|unsupported parameter: ['\"]?tools\b",
        re.IGNORECASE,
    ),
    "images": re.compile(
        rf"{_NO} (?:support|accept|take)(?:ed|s)? (?:an? )?{_IMAGES}"
        rf"|{_IMAGES}[`'\"]? (?:is |are )?(?:not supported|only supported)"
        r"|no endpoints? found that support image|missing data required for image"
        r"|unknown variant `?image_url|is not a multimodal model|mmproj",
        re.IGNORECASE,
    ),
})  # fmt: skip


def refused_in(words: str) -> Refused | None:
    """Return what is refused whatever else the request says, None where it is something else."""
    return next((what for what, form in _WORDS.items() if form.search(words)), None)


def is_in(refused: Refused, request: ChatRequest) -> bool:
    """Tell whether a request has what was refused."""
    if refused == "schema":
        return request.schema is not None
    if refused == "tools":
        return bool(request.tools)
    if refused == "system":
        return bool(request.system.strip()) or any(m.role == "system" for m in request.messages)
    parts = (part for message in request.messages for part in message.parts)
    return any(
        isinstance(part, FilePart) and part.media_type.startswith("image/") for part in parts
    )
