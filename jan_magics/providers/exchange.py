"""One request and its answer over HTTP, in any wire; once more where something can be done.

What can be done about a refusal: the next key at once, waiting a little, or leaving parameters
out. Only before the first event, and so often in all as a request may go out.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import httpx

from jan_magics.domain.errors import (
    AuthenticationFailed,
    ProviderError,
    RateLimited,
    RequestRejected,
)
from jan_magics.domain.events import LeftOut, Remark, Retrying, StreamEvent
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ChatOptions, ChatRequest
from jan_magics.providers.access import Access
from jan_magics.providers.answer import Answer
from jan_magics.providers.failures import Asked
from jan_magics.providers.http import Line, Sends, chunks_of
from jan_magics.providers.keys import Key
from jan_magics.providers.params import Settled
from jan_magics.providers.refusals import TOO_LARGE, is_in, size_told
from jan_magics.providers.rejections import Rejected, parameters_of, rejected, rekeyed
from jan_magics.providers.retrying import NEXT_KEY, pause_after, reason_of

# A stream that has said that it is over is read to its end, so that its connection can be used
# again; a server that never ends it is not waited for.
_DRAIN: Final = 0.25

Reading: TypeAlias = Callable[[str], Answer]
"""Makes what reads an answer, given the content type."""


@dataclass(frozen=True, slots=True)
class Letter:
    """What is sent where: the body, the same without any parameter, and seconds between two bytes.

    `settled` are the parameters that the body has.
    """

    path: str
    body: Mapping[str, Json]
    bare: Mapping[str, Json]
    settled: Settled
    read: float | None = None

    def rekeyed(self, keys: Mapping[str, str]) -> "Letter":
        """Return it with some keys called otherwise, or left out."""
        if not keys:
            return self
        return replace(self, body=rekeyed(self.body, keys), bare=rekeyed(self.bare, keys))


@dataclass(slots=True)
class Exchange:
    """One request, until it is answered or nothing can be done about its refusal.

    `asked` says who is asked with which key, `access` how; `request` is what the letter was made of
    and `reading` what reads the answer to it. `left` are parameters that it has no more.
    """

    line: Line
    asked: Asked
    access: Access
    request: ChatRequest
    letter: Letter
    reading: Callable[[Asked], Reading]
    left: tuple[LeftOut, ...] = ()
    _body: Mapping[str, Json] = field(init=False)
    _sends: Sends = field(init=False)
    _keys: Iterator[tuple[int, Key]] = field(init=False)
    _waited: int = 0
    _switched: bool = False

    def __post_init__(self) -> None:
        self._body = self.letter.body
        self._sends = Sends(self.request.sends)
        self._keys = self.access.keys.after_current()

    async def events(self) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of the answer; what was left out comes first.

        Raises:
            ProviderError: in its exact class, before, in or after the stream.
        """
        for left in (*self.left, *self.letter.settled.left_out):
            yield left
        while True:
            begun = False
            try:
                async with aclosing(self._send()) as events:
                    async for event in events:
                        if not begun and self._switched:
                            yield self._settled()
                        begun = True
                        yield event
            except ProviderError as failure:
                self._complete(failure)
                if begun or not self._sends.left:
                    raise
                refused = failure
            else:
                return
            async with aclosing(self._mend(refused)) as events:
                async for event in events:
                    yield event

    def _complete(self, failure: ProviderError) -> None:
        """Add to a refusal how often its request may go out again, and what is large about it."""
        if not isinstance(failure, RequestRejected):
            return
        failure.sends = self._sends.left
        if failure.status == TOO_LARGE and (told := size_told(self.request)):
            failure.message += f" · {told}"

    async def _send(self) -> AsyncGenerator[StreamEvent, None]:
        letter, asked = self.letter, self.asked
        async with self.line.post(
            letter.path, self._body, asked, letter.read, self._sends
        ) as response:
            answer = self.reading(asked)(response.headers.get("content-type", ""))
            chunks = chunks_of(response)
            async for chunk in chunks:
                for event in answer.feed(chunk):
                    yield event
                if answer.ended:
                    await _drain(chunks)
                    break
            for event in answer.close():
                yield event

    async def _mend(self, refused: ProviderError) -> AsyncGenerator[StreamEvent, None]:
        """Do what can be done before the request goes out again, and say it; else raise it."""
        if self._next_key(refused):
            return
        among = self.request.purpose == "map"
        patient = self.access.patient
        seconds = pause_after(refused, self._waited, among=among) if patient else None
        if seconds is not None:
            self._waited += 1
            if isinstance(refused, RateLimited) and self.access.limiter:
                # It is the server that is asked too often, not this request that is wrong.
                self.access.limiter.hold(seconds)
            yield Retrying(seconds, reason_of(refused))
            await self.access.sleep(seconds)
            return
        found = self._rejected(refused)
        if found is None:
            raise refused
        for left in self._leave_out(found):
            yield left

    def _next_key(self, refused: ProviderError) -> bool:
        """Take the next key where this one may be what was refused; False where there is none."""
        unaccepted = isinstance(refused, AuthenticationFailed)
        if not unaccepted and refused.status not in NEXT_KEY:
            return False
        further = next(self._keys, None)
        if further is None:
            return False
        number = self.asked.number or self.access.keys.number
        before = (*self.asked.refused, number) if unaccepted else self.asked.refused
        self.asked = replace(self.asked, number=further[0], key=further[1], refused=before)
        self._switched = True
        return True

    def _rejected(self, refused: ProviderError) -> Rejected | None:
        """Return which parameter is refused, None where the same without is not worth a try."""
        if not isinstance(refused, RequestRejected):
            return None
        if refused.refuses and is_in(refused.refuses, self.request):
            return None
        return rejected(refused, self._body, self.letter.bare, self.letter.settled)

    def _leave_out(self, found: Rejected) -> Iterator[LeftOut]:
        """Make the body without what is refused, remember that, and tell of each parameter."""
        who, model, learned = self.asked.who, self.request.model, self.access.learned
        if found.keys:
            learned.note_keys(model, found.keys)
            self._body = rekeyed(self._body, found.keys)
            self.letter = self.letter.rekeyed(found.keys)
            for key in (key for key, other in found.keys.items() if not other):
                yield LeftOut(key, f"{who} refuses it")
            return
        self._body, names = self.letter.bare, parameters_of(self.letter.settled)
        learned.note_parameters(model, found.named or names, f"{who} has refused it before")
        for name in names:
            why = f"{who} refuses it" if name in found.named else "sent without any parameter"
            yield LeftOut(name, why)

    def _settled(self) -> Remark:
        """Begin with the key that was accepted from now on, and say which one it is."""
        self.access.keys.settle(self.asked.number)
        source = self.asked.key.source if self.asked.key else ""
        return Remark(
            f"key {self.asked.number} of {self.asked.who} answered ({source}):"
            " the one before was refused"
        )


def letter_of(
    path: str,
    request: ChatRequest,
    encode: Callable[[ChatRequest], Mapping[str, Json]],
    settled: Settled,
) -> Letter:
    """Return the letter of a request: as it is encoded, and the same without any parameter."""
    options = request.options
    bare = replace(request, options=ChatOptions(timeout=options.timeout))
    return Letter(path, encode(request), encode(bare), settled, patience(options))


def patience(options: ChatOptions) -> float | None:
    """Return the seconds between two bytes: the option, else a parameter of that name."""
    asked = options.parameters.get("timeout")
    number = asked if isinstance(asked, int | float) and asked > 0 else None
    return options.timeout if options.timeout is not None else number


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    try:
        async with asyncio.timeout(_DRAIN):
            async for _ in chunks:
                pass
    except (TimeoutError, httpx.HTTPError):
        # The answer is whole; how its connection ends matters to nobody.
        return
