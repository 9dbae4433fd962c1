"""A server that answers over HTTP, whatever its wire: request, stream, list of models."""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing

from jan_magics.domain.errors import ProviderError
from jan_magics.domain.events import StreamEvent
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef
from jan_magics.providers.dialects import Dialect
from jan_magics.providers.exchange import Letter, Reading, exchange
from jan_magics.providers.failures import Asked, unreadable
from jan_magics.providers.http import Line
from jan_magics.providers.keys import Key
from jan_magics.providers.params import settle


class HttpProvider(ABC):
    """One server at one address with at most one key.

    A wire makes it whole: `letter` is what is sent for a request, `reading` what reads its answer,
    and `models` its list.
    """

    def __init__(self, name: str, key: Key | None, dialect: Dialect, line: Line) -> None:
        self._name = name
        self._key = key
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
    def reading(self, asked: Asked, request: ChatRequest) -> Reading:
        """Return what makes the reader of an answer, given its content type."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Send a request and yield events; the last one is Finish.

        Close the iterator (`contextlib.aclosing`) when leaving it early: that closes the HTTP
        stream at once, and a local server stops to compute.

        Raises:
            ProviderError: in its exact class, before, in or after the stream.
        """
        asked = self._asked(request.model)
        letter, reading = self.letter(request), self.reading(asked, request)
        async with aclosing(exchange(self._line, asked, letter, reading)) as events:
            async for event in events:
                yield event

    async def idle(self) -> bool:
        """Return True: most servers do not tell. Raises ProviderError."""
        return True

    async def close(self) -> None:
        """Close all connections."""
        await self._line.close()

    async def _perhaps(self, path: str, asked: Asked) -> bytes:
        try:
            return await self._line.get(path, asked)
        except ProviderError:
            # Only more is known with it; an older version does not have it.
            return b""

    def _asked(self, model: ModelRef | None) -> Asked:
        named = str(model) if model else self._name
        return Asked(named, self._name, self._line.address, self._key)


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
