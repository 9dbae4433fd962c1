"""Vectors on their way in: one a text, of the right length, with a direction, at unit length."""

from collections.abc import Sequence

import numpy as np

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.protocols import Embedder
from jan_magics.rag.dialect import Hash
from jan_magics.rag.fitting import Measuring, pieces_of
from jan_magics.rag.rows import hash_of
from jan_magics.rag.vectors import FloatMatrix, FloatVector, units


def embedded(embedder: Embedder, texts: Sequence[str]) -> dict[Hash, bytes | None]:
    """Embed texts for a collection; None where zeros, NaN or infinities came back.

    Raises:
        EmbedderError: when the embedder fails, or gives other vectors than it promises.
    """
    if not texts:
        return {}
    pieces = [_pieces(embedder, text) for text in texts]
    rows = _checked(embedder, [piece for each in pieces for piece in each], query=False)
    if len(rows) != len(texts):
        left = iter(rows)
        rows = np.array([_mean([(len(part), next(left)) for part in each]) for each in pieces])
    return {
        hash_of(text): None if row is None else row.tobytes()
        for text, row in zip(texts, units(rows), strict=True)
    }


def _pieces(embedder: Embedder, text: str) -> list[str]:
    """Return a text as the embedder can read it: whole, or in pieces, so that no end is ignored.

    New documents are cut to size; this is for texts that another embedder's chunks left.
    """
    limit = embedder.fingerprint.max_tokens
    if limit is None or not isinstance(embedder, Measuring):
        return [text]
    return [text[start:end] for start, end in pieces_of(text, 0, len(text), limit, embedder)]


def _mean(rows: Sequence[tuple[int, FloatVector]]) -> FloatVector:
    if len(rows) == 1:
        return rows[0][1]
    lengths = [length for length, _ in rows]
    mean: FloatVector = np.average([row for _, row in rows], axis=0, weights=lengths)
    return mean


def question_vectors(
    embedder: Embedder, questions: Sequence[str]
) -> list[FloatVector | EmbedderError]:
    """Embed questions in one batch; the error of each that cannot be asked by vector.

    Raises:
        EmbedderError: when the embedder fails.
    """
    name = embedder.fingerprint.id
    readable = [question for question in questions if embedder.reads(question)]
    rows = units(_checked(embedder, readable, query=True)) if readable else []
    known = dict(zip(readable, rows, strict=True))
    made: list[FloatVector | EmbedderError] = []
    for question in questions:
        if question not in known:
            made.append(_foreign(name, question))
        else:
            vector = known[question]
            made.append(_empty(name, question) if vector is None else vector)
    return made


def _foreign(name: str, question: str) -> EmbedderError:
    return EmbedderError(
        f"the embedder {name!r} cannot read the script of {question!r}",
        "Search by words: --mode keyword   or ingest with another embedder: --embedder e5",
    )


def _empty(name: str, question: str) -> EmbedderError:
    return EmbedderError(
        f"the embedder {name!r} finds nothing to compare in {question!r}",
        "Ask with words, or search by words: --mode keyword",
    )


def _checked(embedder: Embedder, texts: Sequence[str], *, query: bool) -> FloatMatrix:
    fingerprint = embedder.fingerprint
    rows = np.asarray(embedder.embed(texts, query=query), np.float32)
    if rows.shape != (len(texts), fingerprint.dim):
        raise EmbedderError(
            f"the embedder {fingerprint.id!r} gave an array of shape {rows.shape} for"
            f" {len(texts)} texts; {(len(texts), fingerprint.dim)} was promised",
            "Name another embedder (--embedder), or look at its server",
        )
    return rows
