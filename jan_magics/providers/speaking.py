"""A server that answers over HTTP, whatever its wire: request, stream, list of models."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from jan_magics.domain.errors import ModelNotFound, ProviderError
from jan_magics.domain.events import LeftOut, Loading, StreamEvent, Waiting
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelInfo, ModelRef
from jan_magics.domain.protocols import Provider
from jan_magics.providers.access import Access, access_of
from jan_magics.providers.dialects import Dialect
from jan_magics.providers.exchange import Exchange, Letter, Reading
from jan_magics.providers.failures import Asked, unreadable
from jan_magics.providers.http import Line
from jan_magics.providers.keys import NEAR, Key
from jan_magics.providers.native import is_unloaded
from jan_magics.providers.params import settle, without

PROBE: Final = 0.1
"""Seconds that a server has to tell what it knows of a model; else that is unknown."""
SUGGESTING: Final = 1.5
"""Seconds that a server has to list its models for an error that names the nearest."""
NEAREST: Final = 3
LOADING: Final = 0.3
"""Seconds without any event from which on a server is asked whether it loads the model."""


class HttpProvider(ABC):
    """One server at one address; `access` says how it is asked, or is its one key.

    A wire makes it whole: `letter` is what is sent for a request, `reading` what reads its answer,
    and `models` its list.
    """

    def __init__(
        self, name: str, access: Access | Key | None, dialect: Dialect, line: Line
    ) -> None:
        self._name = name
        self._access = access_of(access)
        self._dialect = dialect
        self._line = line

    @property
    def name(self) -> str:
        """Return the provider's name, as before the colon of a model."""
        return self._name

    @property
    def address(self) -> str:
        """Return the base address."""
        return self._line.address

    @property
    def continues(self) -> bool:
        """Tell whether the server goes on with a last message of the assistant."""
        return self._dialect.prefill

    def check(self, model: ModelRef, options: ChatOptions) -> None:
        """Refuse a level of reasoning that is none; only the server knows its models.

        Raises:
            SettingError.
        """
        settle(options, self._dialect, model.name)

    @abstractmethod
    def letter(self, request: ChatRequest) -> Letter:
        """Return what is sent for a request. Raises SettingError for a parameter that is none."""

    @abstractmethod
    async def models(self) -> Sequence[ModelInfo]:
        """List the models of the server. Raises ProviderError."""

    @abstractmethod
    def reading(self, asked: Asked, request: ChatRequest) -> Reading:
        """Return what makes the reader of an answer, given its content type."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Send a request and yield events; the last one is Finish.

        Close the iterator (`contextlib.aclosing`) when leaving it early: that closes the HTTP
        stream at once, and a local server stops to compute.

        Raises:
            ProviderError: in its exact class, before, in or after the stream.
        """
        limiter = self._access.limiter
        async with AsyncExitStack() as stack:
            at_once = request.at_once
            full = limiter is not None and limiter.full_for(at_once)
            if full:
                yield Waiting("waiting: another answer goes first")
            if limiter:
                await stack.enter_async_context(limiter.place(request.purpose, at_once))
            if full:
                yield Waiting("")  # it has begun: what was waited is no time of this answer
            await stack.enter_async_context(suggesting(self, request.model))
            exchange = self._exchange(request)
            async with aclosing(exchange.events()) as events:
                if self.tells_loading:
                    first = asyncio.ensure_future(anext(events))
                    try:
                        await asyncio.wait({first}, timeout=LOADING)
                        if not first.done() and await self.unloaded(request.model):
                            yield Loading(f"loading {request.model.name}")
                        yield await first
                    finally:
                        first.cancel()
                        await asyncio.wait({first})
                async for event in events:
                    yield event

    @property
    def tells_loading(self) -> bool:
        """Tell whether the server can be asked which models it has loaded."""
        return bool(self._dialect.native)

    async def unloaded(self, model: ModelRef) -> bool:
        """Tell whether the server says that a model is not loaded; False where it does not say."""
        told = await self._perhaps(self._dialect.native, self._asked(model), PROBE)
        return is_unloaded(told, model.name)

    def _exchange(self, request: ChatRequest) -> Exchange:
        """Return a request as it is sent: without the parameters that were refused before."""
        model, refused = request.model, self._access.learned.parameters(request.model)
        asked, left = self._asked(model), list[LeftOut]()
        if refused:
            options, names = without(request.options, refused)
            request = replace(request, options=options)
            left = [LeftOut(name, refused[name]) for name in names]

        def reading(asked: Asked) -> Reading:
            return self.reading(asked, request)

        letter = self.letter(request).rekeyed(self._access.learned.keys(model))
        return Exchange(self._line, asked, self._access, request, letter, reading, tuple(left))

    async def idle(self) -> bool:
        """Return True: most servers do not tell. Raises ProviderError."""
        return True

    async def close(self) -> None:
        """Close all connections."""
        await self._line.close()

    async def _listed(
        self, path: str, beside: str, asked: Asked, patience: float | None = None
    ) -> tuple[bytes, bytes]:
        """Return a list and what another path tells beside it, both asked for at the same time."""
        further = asyncio.create_task(self._perhaps(beside, asked, patience))
        try:
            return await self._line.get(path, asked), await further
        finally:
            further.cancel()
            await asyncio.wait({further})

    async def _perhaps(self, path: str, asked: Asked, patience: float | None = None) -> bytes:
        try:
            async with asyncio.timeout(patience):
                return await self._line.get(path, asked)
        except (ProviderError, TimeoutError):
            # Only more is known with it; an older version does not have it.
            return b""

    def _asked(self, model: ModelRef | None) -> Asked:
        named = str(model) if model else self._name
        keys = self._access.keys
        number = keys.number if keys.number > 1 else 0
        return Asked(named, self._name, self._line.address, keys.current, number)


@asynccontextmanager
async def suggesting(provider: Provider, model: ModelRef) -> AsyncGenerator[None, None]:
    """Let an error for a model that is not there name those of its server that are near."""
    try:
        yield
    except ModelNotFound as missing:
        with suppress(ProviderError, TimeoutError):
            async with asyncio.timeout(SUGGESTING):
                names = [info.ref.name for info in await provider.models()]
            if near := nearest_names(model.name, names):
                first = replace(model, name=near[0])
                missing.next_step = f"Nearest there: {', '.join(near)}   then: %chat use {first}"
        raise


def nearest_names(name: str, names: Sequence[str]) -> list[str]:
    """Return the names that are most like another one, at most three; a part of it counts."""
    lower = {each.lower(): each for each in names}
    wanted = name.lower()
    inside = [each for each in lower if wanted in each or each in wanted]
    near = get_close_matches(wanted, lower, NEAREST, NEAR)
    return [lower[each] for each in dict.fromkeys((*near, *sorted(inside, key=len)))][:NEAREST]


def parsed_list(body: bytes, asked: Asked) -> Json:
    """Return the JSON of a list of models. Raises StreamBroken where it is none."""
    try:
        found: Json = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise unreadable(asked, "the list of models is no JSON") from error
    return found


def rows_of(rows: Json, asked: Asked) -> list[dict[str, Json]]:
    """Return the rows of a list of models. Raises StreamBroken where it is no list."""
    if not isinstance(rows, list):
        raise unreadable(asked, "there is no list of models in it")
    return [row for row in rows if isinstance(row, dict)]
