"""Images, audio and video among files: known by their first bytes, else by the end of a name."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

IMAGES: Final = "png, jpeg, webp, gif"
_BYTES: Final[Mapping[str, re.Pattern[bytes]]] = MappingProxyType({
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "audio/wav": re.compile(rb"RIFF....WAVE", re.DOTALL),
    "audio/flac": re.compile(rb"fLaC"),
    "audio/ogg": re.compile(rb"OggS"),
})  # fmt: skip
_NAMES: Final[Mapping[str, str]] = MappingProxyType({
    "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "opus": "audio/ogg",
    "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm",
    "mkv": "video/x-matroska", "avi": "video/x-msvideo", "mpeg": "video/mpeg", "mpg": "video/mpeg",
})  # fmt: skip
_ONLY_BY_BYTES: Final = ("png", "jpg", "jpeg", "webp", "gif", "wav", "flac", "ogg")
_OTHERS: Final = ("bmp", "tif", "tiff", "heic", "avif", "ico")


def media_type_of(name: str, data: bytes) -> str | None:
    """Return the media type of an image, a recording or a video, None for anything else."""
    known = next((kind for kind, begins in _BYTES.items() if begins.match(data)), None)
    return known or (_NAMES.get(suffix_of(name)) if data else None)


def fault_of_media(name: str) -> str | None:
    """Say why a file that no bytes tell cannot be what its name promises; None where it can."""
    suffix = suffix_of(name)
    if suffix in _OTHERS:
        return f"images are {IMAGES}; save it as one of these"
    return f"it is no {suffix}, whatever its name says" if suffix in _ONLY_BY_BYTES else None


def suffix_of(name: str) -> str:
    """Return the end of a name in small letters, without the dot."""
    return PurePosixPath(name.lower()).suffix.lstrip(".")
