"""Server-sent events: bytes in, data payloads out. Reads nothing and knows no JSON."""

from typing import Final

from jan_magics.domain.errors import StreamBroken

LIMIT: Final = 16 * 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"


class SseDecoder:
    r"""Cut a stream into the payloads of its events, however the bytes arrive.

    Lines end in `\n`, `\r\n` or `\r`; names, ids and comments are dropped. Works on bytes, so a
    character that is split between two reads is whole again in its payload.
    https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
    """

    __slots__ = ("_after_return", "_at_start", "_data", "_limit", "_pieces", "_size")

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []  # the unfinished line
        self._data: list[bytes] = []  # the data lines of the unfinished event
        self._size = 0
        self._after_return = False
        self._at_start = True

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes in and return the payloads that they complete.

        Raises:
            StreamBroken: when one event grows beyond `limit` bytes.
        """
        if self._after_return or b"\r" in data:
            data = self._plain_newlines(data)
        if b"\n" not in data:
            self._pieces.append(data)
            self._grow(len(data))
            return []
        if self._pieces:
            data = b"".join((*self._pieces, data))
        lines = data.split(b"\n")
        rest = lines.pop()
        if self._at_start:
            lines[0] = lines[0].removeprefix(_BOM)
            self._at_start = False
        payloads = self._events(lines)
        self._pieces = [rest] if rest else []
        self._size = sum(map(len, self._data))
        self._grow(len(rest))
        return payloads

    def close(self) -> list[bytes]:
        """Return the event that the end of the stream left without its blank line."""
        line = b"".join(self._pieces)
        self._pieces = []
        return self._events([line, b""])

    def _events(self, lines: list[bytes]) -> list[bytes]:
        data = self._data
        payloads: list[bytes] = []
        for line in lines:
            if not line:
                if data:
                    payloads.append(data[0] if len(data) == 1 else b"\n".join(data))
                    data.clear()
            elif line.startswith(b"data:"):
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line == b"data":
                data.append(b"")
            # Older llama.cpp writes its failures as a field of their own.
            elif line.startswith(b"error:"):
                data.append(line[6:])
        return payloads

    def _plain_newlines(self, data: bytes) -> bytes:
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
            self._after_return = False
        if data:
            self._after_return = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > self._limit:
            raise StreamBroken(
                f"the answer has a single event of more than {self._limit:,} bytes",
                "This is no chat stream; check the address of the model: %chat models",
            )
