"""Vectors on their way in: one a text, of the right length, with a direction, at unit length."""

from collections.abc import Sequence

import numpy as np

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.protocols import Embedder
from jan_magics.rag.rows import Hash, hash_of
from jan_magics.rag.vectors import FloatVector, unit


def embedded(embedder: Embedder, texts: Sequence[str]) -> dict[Hash, bytes | None]:
    """Embed texts for a collection; None where zeros, NaN or infinities came back.

    Raises:
        EmbedderError: when the embedder fails, or gives other vectors than it promises.
    """
    if not texts:
        return {}
    rows = _checked(embedder, texts, query=False)
    units = [unit(row) for row in rows]
    return {
        hash_of(text): None if row is None else row.tobytes()
        for text, row in zip(texts, units, strict=True)
    }


def question_vector(embedder: Embedder, question: str) -> FloatVector:
    """Embed a question.

    Raises:
        EmbedderError: when the embedder fails, cannot read the question, or finds nothing in it.
    """
    name = embedder.fingerprint.id
    if not embedder.reads(question):
        raise EmbedderError(
            f"the embedder {name!r} cannot read the script of {question!r}",
            "Search by words: --mode keyword   or ingest with another embedder: --embedder e5",
        )
    vector = unit(_checked(embedder, [question], query=True)[0])
    if vector is None:
        raise EmbedderError(
            f"the embedder {name!r} finds nothing to compare in {question!r}",
            "Ask with words, or search by words: --mode keyword",
        )
    return vector


def _checked(embedder: Embedder, texts: Sequence[str], *, query: bool) -> Sequence[FloatVector]:
    fingerprint = embedder.fingerprint
    rows = np.asarray(embedder.embed(texts, query=query), np.float32)
    if rows.shape != (len(texts), fingerprint.dim):
        raise EmbedderError(
            f"the embedder {fingerprint.id!r} gave an array of shape {rows.shape} for"
            f" {len(texts)} texts; {(len(texts), fingerprint.dim)} was promised",
            "Name another embedder (--embedder), or look at its server",
        )
    return list(rows)
