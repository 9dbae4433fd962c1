"""Servers that speak the Anthropic Messages wire, over HTTP; anthropic_wire.py is the wire."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final

import httpx

from jan_magics.domain.events import StreamEvent
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelInfo, ModelRef
from jan_magics.providers.answer import Answer
from jan_magics.providers.anthropic_answer import AnthropicDecoder
from jan_magics.providers.anthropic_wire import encode, settle_for
from jan_magics.providers.catalog import declared_of
from jan_magics.providers.dialects import ANTHROPIC, Dialect
from jan_magics.providers.exchange import Letter, exchange, patience
from jan_magics.providers.failures import Asked, unreadable
from jan_magics.providers.http import Line
from jan_magics.providers.keys import Key
from jan_magics.providers.openai_usage import count
from jan_magics.providers.waves import calls_in

VERSION: Final = "2023-06-01"


class AnthropicProvider:
    """One server at one address with at most one key."""

    def __init__(
        self,
        name: str,
        address: str,
        key: Key | None = None,
        *,
        dialect: Dialect = ANTHROPIC,
        header: str = "x-api-key",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._name = name
        self._key = key
        self._dialect = dialect
        headers = {"anthropic-version": VERSION}
        self._line = Line(address, key, header=header, headers=headers, transport=transport)

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
        settle_for(ChatRequest(model, (), options=options), self._dialect)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Send a request and yield events; the last one is Finish.

        Raises:
            ProviderError: in its exact class, before, in or after the stream.
        """
        asked = self._asked(request.model)
        calls = calls_in(request.messages)

        def reading(kind: str) -> Answer:
            decoder = AnthropicDecoder(asked, calls=calls)
            return Answer(asked, decoder, stream=kind.startswith("text/event-stream"))

        letter = letter_for(request, self._dialect)
        async with aclosing(exchange(self._line, asked, letter, reading)) as events:
            async for event in events:
                yield event

    async def idle(self) -> bool:
        """Return True: the wire does not tell."""
        return True

    async def models(self) -> Sequence[ModelInfo]:
        """List the models as the server does, the newest first. Raises ProviderError."""
        asked = self._asked(None)
        return read_models(await self._line.get("models?limit=1000", asked), asked)

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
    return Letter(
        "messages",
        encode(request, dialect),
        encode(bare, dialect),
        settle_for(request, dialect),
        patience(options),
    )


def read_models(body: bytes, asked: Asked) -> Sequence[ModelInfo]:
    """Return the models of a list. Raises StreamBroken where it is none."""
    try:
        data: Json = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise unreadable(asked, "the list of models is no JSON") from error
    rows = data.get("data") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise unreadable(asked, "there is no list of models in it")
    address = asked.address if asked.provider == "custom" else None
    return tuple(
        ModelInfo(
            ModelRef(asked.provider, name, address),
            count(row.get("max_input_tokens")) or None,
            declared_of(name),
        )
        for row in rows
        if isinstance(row, dict) and isinstance(name := row.get("id"), str) and name
    )
