"""Embedders for tests: one that counts, and one that breaks its promises."""

from collections.abc import Sequence

from jan_magics.domain.protocols import Vectors
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.rag.embed_hash import HashEmbedder


class Counting:
    """The hash embedder, with what it was asked to embed."""

    def __init__(self, revision: str = "1", limit: int | None = None, dim: int = 256) -> None:
        self._inner = HashEmbedder(dim, revision)
        self._limit = limit
        self.seen: list[str] = []

    @property
    def fingerprint(self) -> Fingerprint:
        dim, revision = self._inner.dim, self._inner.revision
        return Fingerprint("hash", revision, dim, "sum", max_tokens=self._limit)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.seen += texts
        return self._inner.embed(texts, query=query)

    def tokens(self, text: str) -> int:
        return len(text.split())

    def reads(self, text: str) -> bool:
        return self._inner.reads(text)


class Numbered(Counting):
    """An embedder that gives the row whose number ends a text."""

    def __init__(self, rows: Vectors) -> None:
        super().__init__()
        self._rows = rows

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        return self._rows[[int(text.split()[-1]) for text in texts]]


class Broken(Counting):
    """An embedder that gives something else than it promises."""

    def __init__(self, rows: object) -> None:
        super().__init__()
        self._rows = rows

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        return self._rows
