"""Tokens of images by the size rules of those who serve them. Reads headers, decodes nothing."""

import struct
from collections.abc import Callable
from math import ceil
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from jan_magics.domain.messages import FilePart

Rule: TypeAlias = Literal["openai", "anthropic", "google", "default"]
Size: TypeAlias = tuple[int, int]
# Where the size is not known: what the rule asks for a usual picture of 1,024 × 1,024.
_USUAL: Final = (1024, 1024)
_MOST: Final = 1600
# Start-of-frame marks of JPEG; DHT, JPG and DAC lie between them.
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image_tokens(part: FilePart, rule: Rule = "default") -> int:
    """Return the tokens of an image; one without readable size counts as 1,024 × 1,024."""
    size = image_size(part.data) if part.data else None
    return _RULES[rule](*(size or _USUAL))


def image_size(data: bytes) -> Size | None:
    """Return width and height in pixels from a PNG, JPEG, GIF or WebP header, else None."""
    try:
        width, height = _read(data)
    except (struct.error, IndexError):  # cut off
        return None
    return (width, height) if width > 0 and height > 0 else None


def _read(data: bytes) -> Size:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _pair(data, ">II", 16)
    if data.startswith((b"GIF87a", b"GIF89a")):
        return _pair(data, "<HH", 6)
    if data.startswith(b"\xff\xd8"):
        return _jpeg(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp(data)
    return 0, 0


def _pair(data: bytes, form: str, offset: int) -> Size:
    first, second = struct.unpack_from(form, data, offset)
    return int(first), int(second)


def _jpeg(data: bytes) -> Size:
    at = 2
    while at < len(data):
        if data[at] != 0xFF:
            return 0, 0
        mark = data[at + 1]
        if mark == 0xFF:  # padding before a mark
            at += 1
        elif mark in _FRAMES:
            height, width = _pair(data, ">HH", at + 5)
            return width, height
        else:
            at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4]))
    return 0, 0


def _webp(data: bytes) -> Size:
    kind = data[12:16]
    if kind == b"VP8 ":
        width, height = _pair(data, "<HH", 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X" and len(data) >= 30:
        width = int.from_bytes(data[24:27], "little")
        return width + 1, int.from_bytes(data[27:30], "little") + 1
    return 0, 0


def _openai(width: int, height: int) -> int:
    # High detail: fit into 2,048 × 2,048, then the short side to 768, then tiles of 512.
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    return 85 + 170 * ceil(width * scale / 512) * ceil(height * scale / 512)


def _anthropic(width: int, height: int) -> int:
    # Longer sides than 1,568 are scaled down, and no picture costs more than about 1,600.
    scale = min(1.0, 1568 / max(width, height))
    return min(_MOST, ceil(width * scale * height * scale / 750))


def _google(width: int, height: int) -> int:
    if max(width, height) <= 384:
        return 258
    side = max(256, min(768, int(min(width, height) / 1.5)))
    return 258 * min(16, ceil(width / side) * ceil(height / side))


def _default(width: int, height: int) -> int:
    # Patches of 28 × 28, as most open models see; their servers scale big pictures down.
    return max(64, min(_MOST, ceil(width / 28) * ceil(height / 28)))


_RULES: Final = MappingProxyType[Rule, Callable[[int, int], int]](
    {"openai": _openai, "anthropic": _anthropic, "google": _google, "default": _default}
)
