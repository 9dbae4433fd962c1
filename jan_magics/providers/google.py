"""Servers that speak the Google generateContent wire, over HTTP; google_wire.py is the wire."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

import httpx

from jan_magics.domain.messages import Json
from jan_magics.domain.models import CapabilitySource, ChatRequest, ModelInfo, ModelRef
from jan_magics.providers.access import Access
from jan_magics.providers.answer import Answer
from jan_magics.providers.catalog import declared_of
from jan_magics.providers.dialects import GOOGLE, Dialect
from jan_magics.providers.exchange import Letter, Reading, letter_of
from jan_magics.providers.failures import Asked
from jan_magics.providers.google_answer import GoogleDecoder
from jan_magics.providers.google_wire import encode, settle_for
from jan_magics.providers.http import Line
from jan_magics.providers.keys import Key
from jan_magics.providers.openai_usage import count
from jan_magics.providers.speaking import HttpProvider, parsed_list, rows_of
from jan_magics.providers.waves import calls_in

_PREFIX: Final = "models/"


class GoogleProvider(HttpProvider):
    """One server at one address; `access` says how it is asked, or is its one key."""

    def __init__(
        self,
        name: str,
        address: str,
        access: Access | Key | None = None,
        *,
        dialect: Dialect = GOOGLE,
        header: str = "x-goog-api-key",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        line = Line(address, header=header, transport=transport)
        super().__init__(name, access, dialect, line)

    @property
    def continues(self) -> bool:
        """Return False: a last message of the model is answered, not gone on with."""
        return False

    def letter(self, request: ChatRequest) -> Letter:
        """Return what is sent for a request. Raises SettingError for a parameter that is none."""
        return letter_for(request, self._dialect)

    def reading(self, asked: Asked, request: ChatRequest) -> Reading:
        """Return what makes the reader of an answer, given its content type."""
        calls = calls_in(request.messages)
        return lambda kind: Answer(
            asked, GoogleDecoder(asked, calls=calls), stream=kind.startswith("text/event-stream")
        )

    async def models(self) -> Sequence[ModelInfo]:
        """List the models that answer. Raises ProviderError."""
        asked = self._asked(None)
        return read_models(await self._line.get("models?pageSize=1000", asked), asked)


def letter_for(request: ChatRequest, dialect: Dialect) -> Letter:
    """Return what is sent for a request."""
    name = request.model.name
    path = name if name.startswith((_PREFIX, "tunedModels/")) else _PREFIX + name
    settled = settle_for(request, dialect)
    return letter_of(
        f"{quote(path)}:streamGenerateContent?alt=sse",
        request,
        partial(encode, dialect=dialect),
        settled,
    )


def read_models(body: bytes, asked: Asked) -> Sequence[ModelInfo]:
    """Return the models of a list that answer. Raises StreamBroken where it is none."""
    data = parsed_list(body, asked)
    rows = rows_of(data.get("models") if isinstance(data, dict) else None, asked)
    return tuple(_info(row, asked) for row in rows if _answers(row))


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
