"""Embeddings and reranking of a server: `/v1/embeddings` and `/v1/rerank`. Lives on the loop.

A batch that is too large for the server is halved until it fits; of a single text that is still
too large, the halves are embedded and their mean is taken, weighted by length.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Final

import httpx

from jan_magics.domain.errors import ContextOverflow, EmbedderError, ProviderError
from jan_magics.domain.messages import Json
from jan_magics.providers.access import Access, access_of
from jan_magics.providers.failures import Asked
from jan_magics.providers.http import BODY_LIMIT, Line, body_of
from jan_magics.providers.keys import Key

BATCH: Final = 64
"""Texts that are sent in one request."""
_SHORTEST: Final = 200
"""Characters below which a text is not halved any more."""
_TOO_LARGE: Final = re.compile(
    r"too (?:large|long|many)|exceed|batch size|maximum (?:context|batch|sequence)|context length",
    re.IGNORECASE,
)
_NEXT: Final = "Name another embedder (--embedder), or look at the server's log"


class EmbeddingServer:
    """One model of one server. `model` may be empty where the server has only one.

    `access` says how it is asked, or is its one key; questions of other kinds go before. `screen`
    sees every text before it is sent, and may refuse it.
    """

    def __init__(
        self,
        name: str,
        address: str,
        model: str,
        access: Access | Key | None = None,
        *,
        header: str = "Authorization",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.screen: Callable[[Sequence[str]], None] = lambda _: None
        self._line = Line(address, header=header, transport=transport)
        self._model = model
        self._access = access_of(access)
        self._asked = Asked(f"{name}:{model}", name, address, self._access.keys.current)

    @property
    def model(self) -> str:
        """Return `provider:name`."""
        return self._asked.model

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector a text, in the order of the texts, all of one length.

        Raises:
            ProviderError: when the server does not answer properly.
            EmbedderError: when it answers with other vectors than were asked for.
        """
        self.screen(texts)
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            vectors += await self._fitting(texts[start : start + BATCH])
        if len({len(vector) for vector in vectors}) > 1:
            raise self._wrong("vectors of different lengths came back")
        return vectors

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score a text, in the order of the texts; higher is better.

        Raises:
            ProviderError, EmbedderError: as `embed` does.
        """
        if not texts:
            return []
        self.screen((question, *texts))
        body: dict[str, Json] = {"model": self._model, "query": question, "documents": list(texts)}
        data = await self._post("rerank", body)
        rows = self._in_order(data.get("results", data.get("data")), len(texts))
        return [self._number(row.get("relevance_score", row.get("score"))) for row in rows]

    async def close(self) -> None:
        """Close all connections; a later request opens them again."""
        await self._line.close()

    async def _fitting(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts in as few requests as the server takes."""
        try:
            return await self._once(texts)
        except ProviderError as error:
            if not (isinstance(error, ContextOverflow) or _TOO_LARGE.search(error.message)):
                raise
            if len(texts) > 1:
                middle = len(texts) // 2
                return await self._fitting(texts[:middle]) + await self._fitting(texts[middle:])
            if len(texts[0]) < 2 * _SHORTEST:
                raise EmbedderError(
                    f"{self.model} refuses the text {texts[0][:60]!r} as too large:"
                    f" {error.message}",
                    "Cut smaller chunks: --size 100, or start the server with a larger batch",
                ) from error
        return [await self._halved(texts[0])]

    async def _halved(self, text: str) -> list[float]:
        middle = text.rfind(" ", len(text) // 4, len(text) // 2) + 1 or len(text) // 2
        halves = text[:middle], text[middle:]
        first, second = await self._fitting(halves[:1]) + await self._fitting(halves[1:])
        share = middle / len(text)
        return [share * a + (1 - share) * b for a, b in zip(first, second, strict=True)]

    async def _once(self, texts: Sequence[str]) -> list[list[float]]:
        body: dict[str, Json] = {
            "model": self._model, "input": list(texts), "encoding_format": "float",
        }  # fmt: skip
        data = await self._post("embeddings", body)
        rows = self._in_order(data.get("data"), len(texts))
        return [self._vector(row.get("embedding")) for row in rows]

    async def _post(self, path: str, body: Mapping[str, Json]) -> Mapping[str, Json]:
        limiter = self._access.limiter
        async with AsyncExitStack() as stack:
            if limiter:
                await stack.enter_async_context(limiter.place("embedding"))
            posted = self._line.post(path, body, self._asked, None)
            raw = await body_of(await stack.enter_async_context(posted), BODY_LIMIT)
        try:
            data = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise self._wrong("the answer is no JSON") from error
        if not isinstance(data, dict):
            raise self._wrong("the answer is no object")
        return data

    def _in_order(self, rows: Json, count: int) -> list[Mapping[str, Json]]:
        """Return rows by their index; each must be there exactly once."""
        found: dict[int, Mapping[str, Json]] = {}
        for row in rows if isinstance(rows, list) else ():
            index = row.get("index") if isinstance(row, dict) else None
            if isinstance(row, dict) and isinstance(index, int):
                found[index] = row
        size = len(rows) if isinstance(rows, list) else 0
        if size != count or found.keys() != set(range(count)):
            raise self._wrong(f"{size} rows came back for {count} texts, or not one for each")
        return [found[index] for index in range(count)]

    def _vector(self, value: Json) -> list[float]:
        if not isinstance(value, list) or not value:
            raise self._wrong("a row without a vector came back")
        return [self._number(each) for each in value]

    def _number(self, value: Json) -> float:
        # What is no number stays a hole, and is refused where vectors are checked.
        if value is None:
            return math.nan
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(f"{value!r} came back where a number belongs")
        return float(value)

    def _wrong(self, what: str) -> EmbedderError:
        return EmbedderError(f"{self.model} did not embed as asked: {what}", _NEXT)
