"""One request and its answer over HTTP, in any wire; once more without what a server refuses."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import httpx

from jan_magics.domain.errors import RequestRejected
from jan_magics.domain.events import LeftOut, StreamEvent
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ChatOptions, ChatRequest
from jan_magics.providers.answer import Answer
from jan_magics.providers.failures import Asked
from jan_magics.providers.http import Line, chunks_of
from jan_magics.providers.params import Settled, rejects_parameter

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


async def exchange(
    line: Line, asked: Asked, letter: Letter, reading: Reading
) -> AsyncGenerator[StreamEvent, None]:
    """Send a letter and yield the events of its answer; what was left out comes first.

    Raises:
        ProviderError: in its exact class, before, in or after the stream.
    """
    for left in letter.settled.left_out:
        yield left
    begun = False
    try:
        async with aclosing(_send(line, asked, letter, letter.body, reading)) as events:
            async for event in events:
                begun = True
                yield event
    except RequestRejected as error:
        if begun or letter.body == letter.bare or not rejects_parameter(error, _sent(letter)):
            raise
        refusal = error
    else:
        return
    for name in _sent(letter):
        named = name in refusal.message
        yield LeftOut(name, f"{asked.who} refuses it" if named else "sent without any parameter")
    async with aclosing(_send(line, asked, letter, letter.bare, reading)) as events:
        async for event in events:
            yield event


async def _send(
    line: Line, asked: Asked, letter: Letter, body: Mapping[str, Json], reading: Reading
) -> AsyncGenerator[StreamEvent, None]:
    async with line.post(letter.path, body, asked, letter.read) as response:
        answer = reading(response.headers.get("content-type", ""))
        chunks = chunks_of(response)
        async for chunk in chunks:
            for event in answer.feed(chunk):
                yield event
            if answer.ended:
                await _drain(chunks)
                break
        for event in answer.close():
            yield event


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


def _sent(letter: Letter) -> list[str]:
    level = letter.settled.level
    names = [name for name, value in letter.settled.values.items() if value is not None]
    return sorted((*names, *(["reasoning"] if level and level != "auto" else ())))


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    try:
        async with asyncio.timeout(_DRAIN):
            async for _ in chunks:
                pass
    except (TimeoutError, httpx.HTTPError):
        # The answer is whole; how its connection ends matters to nobody.
        return
