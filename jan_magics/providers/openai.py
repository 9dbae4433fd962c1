"""Servers that speak the OpenAI chat wire, over HTTP; openai_wire.py is the wire itself."""

from collections.abc import Callable, Sequence
from functools import partial

import httpx

from jan_magics.domain.errors import ModelTimeout
from jan_magics.domain.messages import FilePart
from jan_magics.domain.models import ChatRequest, ModelInfo, ModelRef
from jan_magics.providers.access import Access
from jan_magics.providers.answer import Answer
from jan_magics.providers.dialects import PLAIN, Dialect
from jan_magics.providers.exchange import Letter, Reading, letter_of
from jan_magics.providers.failures import Asked
from jan_magics.providers.http import Line
from jan_magics.providers.keys import Key, is_loopback
from jan_magics.providers.llamacpp import LlamaTokenizer, open_tokenizer
from jan_magics.providers.openai_answer import Decoder
from jan_magics.providers.openai_models import is_idle, read_models
from jan_magics.providers.openai_wire import encode
from jan_magics.providers.params import settle
from jan_magics.providers.speaking import PROBE, HttpProvider
from jan_magics.providers.waves import calls_in


class OpenAIProvider(HttpProvider):
    """One server at one address; `access` says how it is asked, or is its one key."""

    def __init__(
        self,
        name: str,
        address: str,
        access: Access | Key | None = None,
        *,
        dialect: Dialect = PLAIN,
        header: str = "Authorization",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        line = Line(address, header=header, transport=transport)
        super().__init__(name, access, dialect, line)

    def letter(self, request: ChatRequest) -> Letter:
        """Return what is sent for a request. Raises SettingError for a parameter that is none."""
        return letter_for(request, self._dialect)

    def reading(self, asked: Asked, request: ChatRequest) -> Reading:
        """Return what makes the reader of an answer, given its content type."""
        calls, tags = calls_in(request.messages), self._dialect.tags
        details = bool(self._dialect.resends and self._dialect.resends.place == "details")
        return lambda kind: Answer(
            asked,
            Decoder(asked, tags=tags, calls=calls, details=details),
            stream=kind.startswith("text/event-stream"),
        )

    async def idle(self) -> bool:
        """Tell whether the server has nothing to do; True where it has no such list.

        One that does not say so within a second has something to do. Raises ProviderError.
        """
        if not self._dialect.slots:
            return True
        try:
            return is_idle(await self._line.get(self._dialect.slots, self._asked(None), 1.0))
        except ModelTimeout:
            return False

    async def models(self) -> Sequence[ModelInfo]:
        """List the models, the loaded or default one first. Raises ProviderError."""
        asked = self._asked(None)
        if self._dialect.slots:
            listed, told = await self._listed("models", "/props", asked, PROBE)
            return read_models(listed, asked, properties=told)
        if self._dialect.native:
            listed, native = await self._listed("models", self._dialect.native, asked)
            return read_models(listed, asked, native)
        return read_models(await self._line.get("models", asked), asked)

    async def tokenizer(
        self, model: ModelRef, image: Callable[[FilePart], int]
    ) -> LlamaTokenizer | None:
        """Return the server's own tokenizer where it is a llama.cpp server, else None.

        A server elsewhere is asked only where its provider is known as one.
        """
        if not self._dialect.slots and not is_loopback(self.address):
            return None
        return await open_tokenizer(self._line, self._asked(model), image)


def letter_for(request: ChatRequest, dialect: Dialect) -> Letter:
    """Return what is sent for a request."""
    settled = settle(request.options, dialect, request.model.name)
    return letter_of("chat/completions", request, partial(encode, dialect=dialect), settled)
