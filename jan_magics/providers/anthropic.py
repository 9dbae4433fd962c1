"""Servers that speak the Anthropic Messages wire, over HTTP; anthropic_wire.py is the wire."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import httpx

from jan_magics.domain.models import ChatRequest, ModelInfo, ModelRef
from jan_magics.providers.access import Access
from jan_magics.providers.answer import Answer
from jan_magics.providers.anthropic_answer import AnthropicDecoder
from jan_magics.providers.anthropic_wire import encode, settle_for
from jan_magics.providers.catalog import declared_of
from jan_magics.providers.dialects import ANTHROPIC, Dialect
from jan_magics.providers.exchange import Letter, Reading, letter_of
from jan_magics.providers.failures import Asked
from jan_magics.providers.http import Line
from jan_magics.providers.keys import Key
from jan_magics.providers.openai_usage import count
from jan_magics.providers.speaking import HttpProvider, parsed_list, rows_of
from jan_magics.providers.waves import calls_in

VERSION: Final = "2023-06-01"


class AnthropicProvider(HttpProvider):
    """One server at one address; `access` says how it is asked, or is its one key."""

    def __init__(
        self,
        name: str,
        address: str,
        access: Access | Key | None = None,
        *,
        dialect: Dialect = ANTHROPIC,
        header: str = "x-api-key",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        headers = {"anthropic-version": VERSION}
        line = Line(address, header=header, headers=headers, transport=transport)
        super().__init__(name, access, dialect, line)

    def letter(self, request: ChatRequest) -> Letter:
        """Return what is sent for a request. Raises SettingError for a parameter that is none."""
        return letter_for(request, self._dialect)

    def reading(self, asked: Asked, request: ChatRequest) -> Reading:
        """Return what makes the reader of an answer, given its content type."""
        calls, form = calls_in(request.messages), request.schema.name if request.schema else ""
        return lambda kind: Answer(
            asked,
            AnthropicDecoder(asked, calls=calls, form=form),
            stream=kind.startswith("text/event-stream"),
        )

    async def models(self) -> Sequence[ModelInfo]:
        """List the models as the server does, the newest first. Raises ProviderError."""
        asked = self._asked(None)
        return read_models(await self._line.get("models?limit=1000", asked), asked)


def letter_for(request: ChatRequest, dialect: Dialect) -> Letter:
    """Return what is sent for a request."""
    settled = settle_for(request, dialect)
    return letter_of("messages", request, partial(encode, dialect=dialect), settled)


def read_models(body: bytes, asked: Asked) -> Sequence[ModelInfo]:
    """Return the models of a list. Raises StreamBroken where it is none."""
    data = parsed_list(body, asked)
    rows = rows_of(data.get("data") if isinstance(data, dict) else None, asked)
    address = asked.address if asked.provider == "custom" else None
    return tuple(
        ModelInfo(
            ModelRef(asked.provider, name, address),
            count(row.get("max_input_tokens")) or None,
            declared_of(name),
        )
        for row in rows
        if isinstance(name := row.get("id"), str) and name
    )
