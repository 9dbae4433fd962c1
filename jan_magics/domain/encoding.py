"""Bytes as base64 text, piece by piece: a large recording is never in memory as text."""

import binascii
from collections.abc import Iterator
from typing import Final

PIECE: Final = 3 * 2**14
"""Bytes of a piece, a multiple of three: only the last piece is padded."""


def base64_pieces(data: bytes, size: int = PIECE) -> Iterator[bytes]:
    """Yield the base64 text of bytes in pieces, ASCII, made from `size` bytes each.

    Joined they are the whole; no character in them needs an escape in JSON.

    Raises:
        ValueError: when `size` is no multiple of three.
    """
    if size <= 0 or size % 3:
        raise ValueError(f"pieces of {size!r} bytes cannot be joined: take a multiple of three")
    # A view: slices of it copy nothing.
    view = memoryview(data)
    for start in range(0, len(view), size):
        yield binascii.b2a_base64(view[start : start + size], newline=False)


def base64_length(data: bytes) -> int:
    """Return how many characters the base64 text of bytes has."""
    return (len(data) + 2) // 3 * 4
