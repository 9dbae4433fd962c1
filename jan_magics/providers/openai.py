"""Servers that speak the OpenAI chat wire, over HTTP; openai_wire.py is the wire itself."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

import httpx

from jan_magics.domain.errors import ProviderError
from jan_magics.domain.events import StreamEvent
from jan_magics.domain.messages import FilePart
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelInfo, ModelRef
from jan_magics.providers.answer import Answer
from jan_magics.providers.dialects import PLAIN, Dialect
from jan_magics.providers.exchange import Letter, exchange, patience
from jan_magics.providers.failures import Asked
from jan_magics.providers.http import Line
from jan_magics.providers.keys import Key, is_loopback
from jan_magics.providers.llamacpp import LlamaTokenizer, open_tokenizer
from jan_magics.providers.openai_answer import Decoder
from jan_magics.providers.openai_models import is_idle, read_models
from jan_magics.providers.openai_wire import encode
from jan_magics.providers.params import settle
from jan_magics.providers.waves import calls_in


class OpenAIProvider:
    """One server at one address with at most one key."""

    def __init__(
        self,
        name: str,
        address: str,
        key: Key | None = None,
        *,
        dialect: Dialect = PLAIN,
        header: str = "Authorization",
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
        """Tell whether the server goes on with a last message of the assistant."""
        return self._dialect.prefill

    def check(self, model: ModelRef, options: ChatOptions) -> None:
        """Refuse a level of reasoning that is none; only the server knows its models.

        Raises:
            SettingError.
        """
        settle(options, self._dialect, model.name)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Send a request and yield events; the last one is Finish.

        Close the iterator (`contextlib.aclosing`) when leaving it early: that closes the HTTP
        stream at once, and a local server stops to compute.

        Raises:
            ProviderError: in its exact class, before, in or after the stream.
        """
        asked = self._asked(request.model)
        letter = letter_for(request, self._dialect)
        calls, tags = calls_in(request.messages), self._dialect.tags

        def reading(kind: str) -> Answer:
            decoder = Decoder(asked, tags=tags, calls=calls)
            return Answer(asked, decoder, stream=kind.startswith("text/event-stream"))

        async with aclosing(exchange(self._line, asked, letter, reading)) as events:
            async for event in events:
                yield event

    async def idle(self) -> bool:
        """Tell whether the server has nothing to do; True where it has no such list.

        Raises ProviderError.
        """
        if not self._dialect.slots:
            return True
        return is_idle(await self._line.get(self._dialect.slots, self._asked(None), 1.0))

    async def models(self) -> Sequence[ModelInfo]:
        """List the models, the loaded or default one first. Raises ProviderError."""
        asked = self._asked(None)
        if not self._dialect.native:
            return read_models(await self._line.get("models", asked), asked)
        listed, native = await asyncio.gather(self._line.get("models", asked), self._native(asked))
        return read_models(listed, asked, native)

    async def tokenizer(
        self, model: ModelRef, image: Callable[[FilePart], int]
    ) -> LlamaTokenizer | None:
        """Return the server's own tokenizer where it is a llama.cpp server, else None.

        A server elsewhere is asked only where its provider is known as one.
        """
        if not self._dialect.slots and not is_loopback(self.address):
            return None
        return await open_tokenizer(self._line, self._asked(model), image)

    async def _native(self, asked: Asked) -> bytes:
        try:
            return await self._line.get(self._dialect.native, asked)
        except ProviderError:
            # Only more is known with it; an older version does not have it.
            return b""

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
        "chat/completions",
        encode(request, dialect),
        encode(bare, dialect),
        settle(options, dialect, request.model.name),
        patience(options),
    )
