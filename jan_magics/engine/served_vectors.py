"""Vectors of a server's model: what lives on a loop of its own, asked from any thread."""

import asyncio
import math
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from jan_magics.domain.errors import EmbedderError, ProviderError
from jan_magics.domain.protocols import Vectors
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.providers.embeddings import EmbeddingServer

T = TypeVar("T")
Opened: TypeAlias = Callable[[], EmbeddingServer]

_PROBE: Final = "a text by which the length of vectors is told"


@dataclass(slots=True)
class ServedEmbedder:
    """The embedder `provider:model`. Its server is asked once how long its vectors are.

    Raises:
        EmbedderError: when the server cannot be asked, or answers with something else.
    """

    name: str
    opened: Opened
    _dim: int = field(init=False)

    def __post_init__(self) -> None:
        self._dim = len(self.embed([_PROBE])[0])

    @property
    def fingerprint(self) -> Fingerprint:
        """Return what makes its vectors comparable: the model's name, as nobody tells more."""
        return Fingerprint(self.name, "served", self._dim, "the server's")

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return rows (n, dim) of unit length, those of zeros as they are. Raises EmbedderError."""
        rows = _asked(self.opened, lambda server: server.embed(texts)) if texts else []
        return [_unit(row) for row in rows]

    def reads(self, text: str) -> bool:
        """Return True: what a server's model can read, nobody tells."""
        return True


@dataclass(frozen=True, slots=True)
class ServedReranker:
    """The reranker `provider:model`."""

    name: str
    opened: Opened

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score a text, higher is better. Raises EmbedderError."""
        return _asked(self.opened, lambda server: server.rerank(question, texts))


def _unit(row: Sequence[float]) -> list[float]:
    length = math.hypot(*row)
    return [number / length for number in row] if length else [*row]


def _asked(opened: Opened, ask: Callable[[EmbeddingServer], Coroutine[Any, Any, T]]) -> T:
    """Ask a server from a thread that may have a loop of its own, and wait."""

    async def go() -> T:
        server = opened()
        try:
            return await ask(server)
        finally:
            await server.close()

    try:
        # A notebook's own thread already has a loop that runs.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, go()).result()
    except ProviderError as failure:
        raise EmbedderError(failure.message, failure.next_step) from failure
