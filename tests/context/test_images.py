"""Images count by their size, read from real headers, and never by their bytes."""

import struct
import zlib

import pytest

from jan_magics.context.images import Rule, image_size, image_tokens
from jan_magics.context.tokens import estimator_for
from jan_magics.domain.messages import FilePart


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IEND", b"")


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 8


def jpeg(width: int, height: int, *, progressive: bool = False) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 2 + 400) + b"\xff\xc0" * 200
    tables = b"\xff\xc4" + struct.pack(">H", 5) + b"abc"
    mark = b"\xff\xff" + (b"\xc2" if progressive else b"\xc0")  # with one byte of padding
    frame = mark + struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\0" * 9
    return b"\xff\xd8" + exif + tables + frame + b"\xff\xd9"


def webp(kind: bytes, body: bytes) -> bytes:
    data = b"WEBP" + kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(data)) + data


def lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height))


def lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14))


def extended(width: int, height: int) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return webp(b"VP8X", b"\0" * 4 + sides)


@pytest.mark.parametrize("form", [png, gif, jpeg, lossy, lossless, extended])
@pytest.mark.parametrize("size", [(1, 1), (640, 480), (1080, 2400)])
def test_a_header_tells_the_size(form: object, size: tuple[int, int]) -> None:
    assert callable(form)
    assert image_size(form(*size)) == size
    assert image_size(form(*size)[:9]) is None, "cut off"


def test_a_progressive_photo_too() -> None:
    assert image_size(jpeg(4000, 3000, progressive=True)) == (4000, 3000)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff", b"<svg/>", b"\xff\xd8ab", png(0, 9)])
def test_no_size_is_no_error(data: bytes) -> None:
    assert image_size(data) is None


@pytest.mark.parametrize(
    ("rule", "size", "tokens"),
    [
        ("openai", (512, 512), 85 + 170),
        ("openai", (1024, 1024), 85 + 4 * 170),
        ("openai", (4096, 8192), 85 + 6 * 170),
        ("anthropic", (1092, 1092), 1590),
        ("anthropic", (200, 200), 54),
        ("anthropic", (8000, 8000), 1600),
        ("google", (384, 384), 258),
        ("google", (960, 540), 6 * 258),
        ("default", (1, 1), 64),
        ("default", (560, 560), 400),
        ("default", (10_000, 10_000), 1600),
    ],
)
def test_each_server_has_a_rule(rule: Rule, size: tuple[int, int], tokens: int) -> None:
    assert image_tokens(FilePart("image/png", png(*size)), rule) == tokens


@pytest.mark.parametrize("rule", ["openai", "anthropic", "google", "default"])
@pytest.mark.parametrize(
    "part",
    [
        FilePart("image/png", url="https://example.org/a.png"),
        FilePart("image/x-photoshop", b"\0" * 10**6),
        FilePart("image/png", png(10**9, 1)),
        FilePart("image/png", png(1, 10**9)),
        FilePart("image/png", png(2**31, 2**31)),
    ],
)
def test_an_unknown_or_absurd_size_is_bounded(rule: Rule, part: FilePart) -> None:
    assert 1 <= image_tokens(part, rule) <= 5000


def test_the_model_chooses_the_rule() -> None:
    photo = FilePart("image/jpeg", jpeg(1024, 1024))
    counts = {
        model: estimator_for(model).image(photo)
        for model in ("gpt-4o", "claude-sonnet-4", "gemini-2.5-pro", "qwen2.5-vl")
    }
    assert counts == {
        "gpt-4o": 765,
        "claude-sonnet-4": 1399,
        "gemini-2.5-pro": 1032,
        "qwen2.5-vl": 1369,
    }
