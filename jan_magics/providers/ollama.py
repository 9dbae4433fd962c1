"""Ollama over HTTP, in its own wire; ollama_wire.py is the wire itself."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import httpx

from jan_magics.domain.errors import ProviderError
from jan_magics.domain.messages import Json
from jan_magics.domain.models import CapabilitySource, ChatRequest, ModelInfo, ModelRef
from jan_magics.providers.access import Access
from jan_magics.providers.answer import Answer
from jan_magics.providers.dialects import OLLAMA, Dialect
from jan_magics.providers.exchange import Letter, Reading, letter_of
from jan_magics.providers.failures import Asked
from jan_magics.providers.http import BODY_LIMIT, Line, body_of
from jan_magics.providers.keys import Key
from jan_magics.providers.ollama_wire import Lines, OllamaDecoder, encode
from jan_magics.providers.openai_usage import count
from jan_magics.providers.params import settle
from jan_magics.providers.speaking import HttpProvider, rows_of
from jan_magics.providers.waves import calls_in

UNLOADED: Final = 4_096
"""Tokens of context that a model is loaded with, where nobody asks for more."""
_NAMED: Final = ("tools", "vision")
_PROBED: Final = 8
_PATIENCE: Final = 0.08  # seconds for all probes together: a list must not wait for them


class OllamaProvider(HttpProvider):
    """One Ollama at one address; an address of its OpenAI-like wire means the same server."""

    def __init__(
        self,
        name: str,
        address: str,
        access: Access | Key | None = None,
        *,
        dialect: Dialect = OLLAMA,
        header: str = "Authorization",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        base, mark, query = address.partition("?")
        root = base.rstrip("/").removesuffix("/v1")
        line = Line(f"{root}{mark}{query}", header=header, transport=transport)
        super().__init__(name, access, dialect, line)

    @property
    def continues(self) -> bool:
        """Return False: whether a last message is gone on with depends on the model's template."""
        return False

    def letter(self, request: ChatRequest) -> Letter:
        """Return what is sent for a request. Raises SettingError for a parameter that is none."""
        return letter_for(request, self._dialect)

    def reading(self, asked: Asked, request: ChatRequest) -> Reading:
        """Return what makes the reader of an answer; it is always lines of JSON."""
        calls, tags = calls_in(request.messages), self._dialect.tags
        return lambda _: Answer(
            asked, OllamaDecoder(asked, tags=tags, calls=calls), stream=False, lines=Lines()
        )

    async def models(self) -> Sequence[ModelInfo]:
        """List the models, loaded ones first, with what the server says of them.

        Raises:
            ProviderError.
        """
        asked = self._asked(None)
        tags, running = await self._listed("api/tags", "api/ps", asked)
        names = _names(tags, asked)
        loaded = _loaded(running)
        first = sorted(names, key=lambda name: name not in loaded)
        shown = await self._shown(first[:_PROBED], asked)
        return tuple(_info(name, asked, loaded, shown.get(name, {})) for name in first)

    async def _shown(self, names: Sequence[str], asked: Asked) -> Mapping[str, Mapping[str, Json]]:
        """Ask for details of some models; what does not come in time is not known."""
        tasks = {name: asyncio.create_task(self._show(name, asked)) for name in names}
        if not tasks:
            return {}
        done, late = await asyncio.wait(tasks.values(), timeout=_PATIENCE)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        return {name: task.result() for name, task in tasks.items() if task in done}

    async def _show(self, name: str, asked: Asked) -> Mapping[str, Json]:
        try:
            async with self._line.post("api/show", {"model": name}, asked, 5.0) as response:
                return _object(await body_of(response, BODY_LIMIT))
        except ProviderError:
            return {}


def letter_for(request: ChatRequest, dialect: Dialect) -> Letter:
    """Return what is sent for a request."""
    settled = settle(request.options, dialect, request.model.name)
    return letter_of("api/chat", request, partial(encode, dialect=dialect), settled)


def _object(body: bytes) -> Mapping[str, Json]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _names(body: bytes, asked: Asked) -> Sequence[str]:
    rows = rows_of(_object(body).get("models"), asked)
    found = (row.get("model") or row.get("name") for row in rows)
    return [name for name in found if isinstance(name, str) and name]


def _loaded(body: bytes) -> Mapping[str, int | None]:
    """Return the models that are loaded, with the context they were loaded with."""
    rows = _object(body).get("models")
    return {
        str(row.get("model") or row.get("name")): count(row.get("context_length")) or None
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    }


def _info(
    name: str, asked: Asked, loaded: Mapping[str, int | None], shown: Mapping[str, Json]
) -> ModelInfo:
    address = asked.address if asked.provider == "custom" else None
    told = shown.get("capabilities")
    names = [each for each in told if isinstance(each, str)] if isinstance(told, list) else []
    words = {"thinking": "reasoning"}
    can: dict[str, CapabilitySource] = {words.get(each, each): "probed" for each in names}
    ref = ModelRef(asked.provider, name, address)
    # It names all that a model can: what is not among them, it cannot.
    lacks: dict[str, CapabilitySource] = {each: "probed" for each in _NAMED if each not in can}
    window = loaded.get(name) or _window(shown)
    return ModelInfo(ref, window, can, name in loaded, lacks if can else {})


def _window(shown: Mapping[str, Json]) -> int | None:
    """Return the window of a model that is not loaded: what it can do, it does only when asked."""
    details = shown.get("model_info")
    rows = details.items() if isinstance(details, dict) else ()
    sizes = (count(value) for name, value in rows if name.endswith(".context_length"))
    size = next((size for size in sizes if size), None)
    return min(size, UNLOADED) if size else None
