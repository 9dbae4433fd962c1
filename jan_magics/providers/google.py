"""Servers that speak the Google generateContent wire, over HTTP; google_wire.py is the wire."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final
from urllib.parse import quote

import httpx

from jan_magics.domain.events import StreamEvent
from jan_magics.domain.messages import Json
from jan_magics.domain.models import CapabilitySource, ChatOptions, ChatRequest, ModelInfo, ModelRef
from jan_magics.providers.answer import Answer
from jan_magics.providers.catalog import declared_of
from jan_magics.providers.dialects import GOOGLE, Dialect
from jan_magics.providers.exchange import Letter, exchange, patience
from jan_magics.providers.failures import Asked, unreadable
from jan_magics.providers.google_answer import GoogleDecoder
from jan_magics.providers.google_wire import encode
from jan_magics.providers.http import Line
from jan_magics.providers.keys import Key
from jan_magics.providers.openai_usage import count
from jan_magics.providers.params import settle
from jan_magics.providers.waves import calls_in

_PREFIX: Final = "models/"


class GoogleProvider:
    """One server at one address with at most one key."""

    def __init__(
        self,
        name: str,
        address: str,
        key: Key | None = None,
        *,
        dialect: Dialect = GOOGLE,
        header: str = "x-goog-api-key",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._name = name
        self._key = key
        self._dialect = dialect
        self._line = Line(address, key, header=header, transport=transport)

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
        """Return False: a last message of the model is answered, not gone on with."""
        return False

    def check(self, model: ModelRef, options: ChatOptions) -> None:
        """Refuse a level of reasoning that is none; only the server knows its models.

        Raises:
            SettingError.
        """
        settle(options, self._dialect, model.name)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Send a request and yield events; the last one is Finish.

        Raises:
            ProviderError: in its exact class, before, in or after the stream.
        """
        asked = self._asked(request.model)
        calls = calls_in(request.messages)

        def reading(kind: str) -> Answer:
            decoder = GoogleDecoder(asked, calls=calls)
            return Answer(asked, decoder, stream=kind.startswith("text/event-stream"))

        letter = letter_for(request, self._dialect)
        async with aclosing(exchange(self._line, asked, letter, reading)) as events:
            async for event in events:
                yield event

    async def idle(self) -> bool:
        """Return True: the wire does not tell."""
        return True

    async def models(self) -> Sequence[ModelInfo]:
        """List the models that answer. Raises ProviderError."""
        asked = self._asked(None)
        return read_models(await self._line.get("models?pageSize=1000", asked), asked)

    async def close(self) -> None:
        """Close all connections."""
        await self._line.close()

    def _asked(self, model: ModelRef | None) -> Asked:
        named = str(model) if model else self._name
        return Asked(named, self._name, self._line.address, self._key)


def letter_for(request: ChatRequest, dialect: Dialect) -> Letter:
    """Return what is sent for a request."""
    options = request.options
    bare = replace(request, options=ChatOptions(timeout=options.timeout))
    name = request.model.name
    path = name if name.startswith((_PREFIX, "tunedModels/")) else _PREFIX + name
    return Letter(
        f"{quote(path)}:streamGenerateContent?alt=sse",
        encode(request, dialect),
        encode(bare, dialect),
        settle(options, dialect, name),
        patience(options),
    )


def read_models(body: bytes, asked: Asked) -> Sequence[ModelInfo]:
    """Return the models of a list that answer. Raises StreamBroken where it is none."""
    try:
        data: Json = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise unreadable(asked, "the list of models is no JSON") from error
    rows = data.get("models") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise unreadable(asked, "there is no list of models in it")
    return tuple(_info(row, asked) for row in rows if isinstance(row, dict) and _answers(row))


def _answers(row: Mapping[str, Json]) -> bool:
    methods = row.get("supportedGenerationMethods")
    named = isinstance(name := row.get("name"), str) and bool(name.removeprefix(_PREFIX))
    return named and (not isinstance(methods, list) or "generateContent" in methods)


def _info(row: Mapping[str, Json], asked: Asked) -> ModelInfo:
    name = str(row["name"]).removeprefix(_PREFIX)
    address = asked.address if asked.provider == "custom" else None
    can: dict[str, CapabilitySource] = {**declared_of(name)}
    if row.get("thinking") is True:
        can["reasoning"] = "probed"
    window = count(row.get("inputTokenLimit")) or None
    return ModelInfo(ModelRef(asked.provider, name, address), window, can)
