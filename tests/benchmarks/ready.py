"""Texts with ready vectors, so that what is measured is the collection and not the embedder."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from jan_magics.domain.retrieval import Chunk, Document, Fingerprint, Recipe, chunk_id
from jan_magics.rag import ingest
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.vectors import FloatMatrix

RECIPE = Recipe("chars", 600, 0, "chars")
A_DOCUMENT = 100
"""Chunks."""
START = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Ready:
    """An embedder that knows the vectors of all texts already."""

    rows: dict[str, FloatMatrix]
    dim: int

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("ready", "1", self.dim)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> FloatMatrix:
        return np.array([self.rows[text] for text in texts], np.float32)

    def reads(self, text: str) -> bool:
        return True


def unit_rows(n: int, dim: int, seed: int = 0) -> FloatMatrix:
    """Return random unit vectors."""
    rows = np.random.default_rng(seed).standard_normal((n, dim), dtype=np.float32)
    unit: FloatMatrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def chunk_texts(n: int, words: int = 12) -> list[str]:
    """Return texts of that many words, each another one, of a vocabulary of 20,000."""
    rng = np.random.default_rng(1)
    # Few words are frequent and most are rare, as in any language.
    ranks = np.minimum(rng.zipf(1.3, (n, words)), 20_000)
    return [f"{i} " + " ".join(f"word{rank}" for rank in row) + "\n" for i, row in enumerate(ranks)]


def documents(texts: Sequence[str]) -> list[Document]:
    """Return the texts as documents of a hundred chunks, a line each."""
    return [
        Document(f"notes/{at // A_DOCUMENT}.txt", "".join(texts[at : at + A_DOCUMENT]))
        for at in range(0, len(texts), A_DOCUMENT)
    ]


def lines(document: Document, recipe: Recipe) -> tuple[Chunk, ...]:
    """Cut a document at its lines; no line is there twice."""
    chunks: list[Chunk] = []
    at = 0
    for n, line in enumerate(document.text.splitlines(keepends=True)):
        identity = chunk_id(document.source, recipe, line, 0)
        chunks.append(Chunk(identity, document.id, n, at, at + len(line), 20))
        at += len(line)
    return tuple(chunks)


def filled(path: Path, read: Sequence[Document], embedder: Ready) -> SqliteCollection:
    """Return a collection of documents, cut at their lines."""
    collection = opened(path)
    for _ in ingest.add(collection, read, RECIPE, lines, embedder):
        pass
    return collection


def opened(path: Path) -> SqliteCollection:
    """Open a collection."""
    return SqliteCollection(path, lambda: START)
