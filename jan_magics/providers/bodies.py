"""The body of a request as JSON; large files become text only while they are sent, piece by piece.

A recording of 100 MB would else be in memory four times: as bytes, as base64, in the JSON, and in
the JSON's bytes.
"""

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final

from jan_magics.domain.encoding import base64_length, base64_pieces
from jan_magics.domain.messages import Json

LARGE: Final = 256 * 1024
"""Bytes from which on a file is not made into text before it is sent."""


@dataclass(frozen=True, slots=True)
class Inline:
    """Bytes that stand in a body as one text: `before`, then their base64."""

    data: bytes
    before: str = ""


class Body:
    """The bytes of a JSON body, as often as they are wanted; `size` in bytes is known before."""

    def __init__(self, value: Mapping[str, Json]) -> None:
        self._files: list[Inline] = []
        # Nobody can write it, because nobody knows it before.
        mark = secrets.token_hex(16)

        def held(file: object) -> str:
            if not isinstance(file, Inline):
                raise TypeError(f"{type(file).__name__} is no JSON")
            self._files.append(file)
            return mark

        text = json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=held
        )
        self._texts = [piece.encode() for piece in text.split(mark)]
        files = sum(len(each.before) + base64_length(each.data) for each in self._files)
        self.size = files + sum(map(len, self._texts))

    @property
    def content(self) -> "bytes | Body":
        """Return what httpx takes: the bytes where there are no large files, else their stream."""
        return self if self._files else self._texts[0]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        first, *texts = self._texts
        yield first
        for file, text in zip(self._files, texts, strict=True):
            yield file.before.encode()
            for piece in base64_pieces(file.data):
                yield piece
            yield text
