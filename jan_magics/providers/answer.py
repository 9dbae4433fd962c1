"""The body of one answer, in any wire: bytes become frames, and frames events. Pure."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from jan_magics.domain.errors import ProviderError, ServerFailed, StreamBroken
from jan_magics.domain.events import Finish, StreamEvent
from jan_magics.providers.complaints import complaint
from jan_magics.providers.failures import GO_ON, Asked, cut_off, unreadable
from jan_magics.providers.frames import breaks_off
from jan_magics.providers.sse import LIMIT, SseDecoder


class Decoding(Protocol):
    """What a wire's decoder does with the frames of one answer."""

    @property
    def begun(self) -> bool:
        """Tell whether the answer said anything, or at least why it says nothing."""
        ...

    @property
    def done(self) -> bool:
        """Tell whether the server said that this was all."""
        ...

    def feed(self, payload: bytes, events: list[StreamEvent]) -> None:
        """Append the events of one frame. Raises ProviderError."""
        ...

    def close(self) -> list[StreamEvent]:
        """Return the last events; the very last is Finish. Raises ProviderError."""
        ...


class Framing(Protocol):
    """What cuts a stream into frames."""

    def feed(self, data: bytes) -> Sequence[bytes]:
        """Take bytes in and return the frames that they complete. Raises StreamBroken."""
        ...

    def close(self) -> Sequence[bytes]:
        """Return what the end of the stream completes."""
        ...


class Answer:
    """The whole body of one answer: a stream, or what a server sent in place of one.

    Feed it until `ended`, then close it. An error waits for `close`, so that the events before it
    are never lost, however the bytes were cut. `lines`: a stream may begin as JSON does.
    """

    __slots__ = (
        "_body", "_decoder", "_failure", "_frames", "_kind", "_lines", "_size", "asked", "done",
    )  # fmt: skip

    def __init__(
        self,
        asked: Asked,
        decoder: Decoding,
        *,
        stream: bool = True,
        lines: Framing | None = None,
    ) -> None:
        self.asked = asked
        self.done = False
        # Without the right content type the first byte decides: some servers stream as text/plain.
        self._kind = "stream" if stream else ""
        self._frames: Framing = lines or SseDecoder()
        self._lines = lines is not None
        self._decoder = decoder
        self._failure: ProviderError | None = None
        self._body: list[bytes] = []
        self._size = 0

    @property
    def ended(self) -> bool:
        """Tell whether nothing more is expected: the server said so, or failed."""
        return self.done or self._failure is not None

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Take bytes in and return the events that they complete."""
        events: list[StreamEvent] = []
        try:
            if self._kind != "stream":
                data = self._decide(data)
            self._decode(self._frames.feed(data), events)
        except ProviderError as error:
            self._failure = error
            if isinstance(error, StreamBroken | ServerFailed) and self._decoder.begun:
                error.next_step = GO_ON  # the address is right: it has answered until here
        return events

    def close(self) -> Iterator[StreamEvent]:
        """Yield the last events; the very last is Finish.

        Raises:
            ProviderError: StreamBroken also for a stream that ends without saying that it does.
        """
        events: list[StreamEvent] = []
        left: Sequence[bytes] = ()
        try:
            if not self.ended and self._kind == "whole":
                left = (b"".join(self._body),)
                self._whole(left[0], events)
            elif not self.ended:
                left = self._frames.close()
                self._decode(left, events)
        except StreamBroken as error:
            # A frame that the end of the stream cut through cannot be read.
            begun = self._kind == "stream" and self._decoder.begun
            cut = begun or any(map(breaks_off, left))
            self._failure = cut_off(self.asked, begun=begun) if cut else error
        yield from events
        if self._failure:
            raise self._failure
        *rest, last = self._decoder.close()
        yield from rest
        told = self.done or self._kind == "whole"
        if not told and isinstance(last, Finish) and last.reason is None:
            raise cut_off(self.asked, begun=True)
        yield last

    def _decode(self, payloads: Sequence[bytes], events: list[StreamEvent]) -> None:
        for payload in payloads:
            if payload == b"[DONE]":
                self.done = True
                break
            self._decoder.feed(payload, events)
        self.done = self.done or self._decoder.done

    def _decide(self, data: bytes) -> bytes:
        """Keep a body that is no stream; return what belongs to one."""
        self._body.append(data)
        self._size += len(data)
        if self._size > LIMIT:
            raise unreadable(self.asked, f"it is larger than {LIMIT:,} bytes and no stream")
        if self._kind == "whole":
            return b""
        start = b"".join(self._body)
        if not (first := start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]):
            return b""
        if first in (b"[<" if self._lines else b"{[<"):
            self._kind = "whole"
            return b""
        self._kind = "stream"
        self._body.clear()
        return start

    def _whole(self, body: bytes, events: list[StreamEvent]) -> None:
        body = body.lstrip(b"\xef\xbb\xbf \t\r\n")
        if body.startswith(b"<"):
            words = complaint(body, self.asked.key).text[:120]
            raise unreadable(self.asked, f"it is a web page ({words!r})")
        self._decoder.feed(body, events)
        if not self._decoder.begun:
            raise unreadable(self.asked, "it is JSON without an answer")
