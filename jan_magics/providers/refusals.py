"""What a server's words refuse of a model: images, tools, a system role, calls. Pure."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jan_magics.domain.errors import Refused, RequestRejected
from jan_magics.domain.messages import FilePart
from jan_magics.domain.models import ChatRequest
from jan_magics.providers.waves import calls_in

_NO: Final = r"(?:do(?:es)? not|doesn'?t|don'?t|cannot|can'?t|is not|isn'?t|are not|not|no)"
_TOOLS: Final = r"(?:tools?\b|tool[ _-](?:use|call(?:ing|s)?)|function[ _-]call(?:ing|s)?)"
_IMAGES: Final = (
    r"(?:images?\b|vision\b|image[ _](?:input|url|content)s?(?: modality)?"
    r"|multi-?modal(?: inputs?| data| requests?)?\b)"
)
_SCHEMA: Final = r"(?:response[ _]format\b|json[ _]schema\b|structured outputs?\b)"
_WORDS: Final[Mapping[Refused, re.Pattern[str]]] = MappingProxyType({
    # Before the tools: it is said of a request that offers none.
    "calls": re.compile(
        r"toolConfig field must be defined|(?:must|should) define (?:the )?[`'\"]?tools\b"
        r"|without [`'\"]?tools=?[`'\"]? param|expects the [`'\"]?tools=?[`'\"]? param",
        re.IGNORECASE,
    ),
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
        r"|(?:invalid|unknown|unsupported) role:? ['\"]?(?:system|developer)\b"
        r"|conversation roles must alternate"  # ours do, but for the system text before them
        r"|only user(?:,| and) assistant(?:,? and tool)? roles are supported",
        re.IGNORECASE,
    ),
    "tools": re.compile(
        rf"{_NO} support(?:ed)? (?:the use of )?{_TOOLS}"
        rf"|\b{_TOOLS}[`'\"]? (?:param )?(?:is |are |has |have )?"
        r"(?:not (?:been )?(?:supported|enabled|available)|requires? --)"
        r"|no endpoints? found that support tool|enable-auto-tool-choice"
        r"|(?:unsupported|unrecognized|unknown) (?:request )?(?:parameter|argument)(?: supplied)?:"
        r" ['\"]?tools\b",
        re.IGNORECASE,
    ),
    "images": re.compile(
        rf"{_NO} (?:support|accept|take|have)(?:ed|s)? (?:an? )?{_IMAGES}"
        rf"|{_IMAGES}[`'\"]? (?:is |are )?(?:not (?:supported|enabled|allowed)|only supported)"
        r"|no endpoints? found that support image|missing data required for image"
        r"|unknown variant `?image_url|(?:is )?not (?:a )?multi-?modal|mmproj"
        r"|at most 0 images?|content type:? ['\"`]?image_url|only supports? text",
        re.IGNORECASE,
    ),
})  # fmt: skip
# A guess, for the many ways to say it: content or images are spoken of, and not one that is broken.
_OF_IMAGES: Final = re.compile(
    r"\bcontent\b|\bimages?\b|image_url|\bvision\b|\bvisual\b|\bmodalit|\bmulti-?modal|\bpictures?\b",
    re.IGNORECASE,
)
_OF_ONE_IMAGE: Final = re.compile(
    r"too (?:large|big|many|small|long)|exceed|larger than|\bsize\b|dimension|decod|corrupt|damaged"
    r"|download|fetch|retriev|valid url|valid base64|base64|media[ _]type|mime|format|policy|filter"
    r"|could not (?:be )?(?:process|read|load)|malformed|resolution|moderation|safety",
    re.IGNORECASE,
)
TOO_LARGE: Final = 413
_SAID_OTHERWISE: Final = frozenset({401, 402, 403, 404, TOO_LARGE, 429})


def refused_in(words: str) -> Refused | None:
    """Return what is refused whatever else the request says, None where it is something else."""
    return next((what for what, form in _WORDS.items() if form.search(words)), None)


def may_refuse_images(refusal: RequestRejected) -> bool:
    """Tell whether a refusal may be one of images, though its server has words of its own."""
    status, words = refusal.status, refusal.message.partition("): ")[2]
    if status is None or not 400 <= status < 500 or status in _SAID_OTHERWISE:
        return False
    return bool(_OF_IMAGES.search(words)) and not _OF_ONE_IMAGE.search(words)


def size_told(request: ChatRequest) -> str:
    """Say what makes a request large: the bytes of its files, "" where it has none."""
    parts = (part for message in request.messages for part in message.parts)
    files = {part.name or part.media_type: len(part.data) for part in parts
             if isinstance(part, FilePart) and part.data}  # fmt: skip
    if not files:
        return ""
    largest = max(files, key=lambda name: files[name])
    whole, one = (f"{size / 1_000_000:,.1f} MB" for size in (sum(files.values()), files[largest]))
    return f"its files have {whole}, {largest!r} alone {one}"


def is_in(refused: Refused, request: ChatRequest) -> bool:
    """Tell whether a request has what was refused."""
    if refused == "schema":
        return request.schema is not None
    if refused == "tools":
        return bool(request.tools)
    if refused == "calls":
        return not request.tools and bool(calls_in(request.messages))
    if refused == "system":
        return bool(request.system.strip()) or any(m.role == "system" for m in request.messages)
    parts = (part for message in request.messages for part in message.parts)
    return any(
        isinstance(part, FilePart) and part.media_type.startswith("image/") for part in parts
    )
