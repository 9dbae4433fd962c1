"""Grounding: which sentences of an answer its sources support, by the cosine of embeddings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.looking import checked_cosine
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Hit
from jan_magics.domain.segmentation import index_words
from jan_magics.rag.sentences import Sentence, sentences
from jan_magics.rag.vectors import product

THRESHOLD: Final = 0.65
"""The least cosine that supports a sentence: right for MiniLM; see `calibration` for others."""
Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grounded:
    """A sentence of an answer and the chunk next to it; None where nothing could be compared.

    `answer[start:end]` is the sentence as it is written. `score` is the cosine, `overlap` the
    share of its words that the chunk has, too (0 to 1).
    """

    sentence: str
    start: int
    end: int
    supported: bool
    score: float | None = None
    overlap: float | None = None
    chunk: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Grounding:
    """The sentences of an answer, in its order, and by which measure they are judged.

    `unread` counts those that the embedder cannot read, `passed_over` the rows of tables and the
    pieces of nothing but code, which are no sentences.
    """

    rows: tuple[Grounded, ...]
    threshold: float
    embedder: str
    unread: int = 0
    passed_over: int = 0


def ground(
    answer: str,
    hits: Sequence[Hit],
    embedder: Embedder,
    *,
    threshold: float = THRESHOLD,
    top: int = 1,
) -> Grounding:
    """Compare the sentences of an answer with chunks, all embedded in one batch.

    A sentence has one row, its best chunk; up to `top` where several support it.

    Raises:
        EmbedderError: when the embedder fails, or gives another number of vectors.
        SettingError: when the threshold is no cosine.
    """
    checked_cosine(threshold)
    units = sentences(answer)
    found = [each for each in units if each.claims]
    over = sum(each.kind in ("row", "code") for each in units)
    read = [embedder.reads(each.plain) for each in found]
    scores = _scores(found, hits, embedder)
    scores[[n for n, known in enumerate(read) if not known]] = np.nan
    rows = [
        row
        for n, sentence in enumerate(found)
        for row in _rows(answer, sentence, hits, (scores[n], threshold, top))
    ]
    return Grounding(tuple(rows), threshold, embedder.fingerprint.id, read.count(False), over)


def cosines(left: Matrix, right: Matrix) -> Matrix:
    """Return the cosine of each row with each row, float64 of shape (left, right).

    NaN where one of the two has no direction: zeros, NaN and infinities have none.
    """
    found: Matrix = np.clip(product(_units(left), _units(right).T), -1.0, 1.0)
    return found


def _units(rows: Matrix) -> Matrix:
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0.0)
    # By the largest first: the square of a very small number is 0.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    rows = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Matrix = np.divide(rows, lengths, out=np.full_like(rows, np.nan), where=lengths > 0)
    return units


def _scores(found: Sequence[Sentence], hits: Sequence[Hit], embedder: Embedder) -> Matrix:
    if not found or not hits:
        return np.full((len(found), len(hits)), np.nan)
    texts = [*(each.plain for each in found), *(hit.text for hit in hits)]
    vectors = np.asarray(embedder.embed(texts), np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise EmbedderError(
            f"the embedder {embedder.fingerprint.id!r} gave an array of shape {vectors.shape} for"
            f" {len(texts)} texts",
            "Name another embedder (--embedder), or look at its server",
        )
    return cosines(vectors[: len(found)], vectors[len(found) :])


def _rows(
    answer: str, sentence: Sentence, hits: Sequence[Hit], judged: tuple[Matrix, float, int]
) -> Iterator[Grounded]:
    scores, threshold, top = judged
    place = (answer[sentence.start : sentence.end], sentence.start, sentence.end)
    known = [n for n in np.argsort(-scores, kind="stable") if not np.isnan(scores[n])]
    if not known:
        yield Grounded(*place, supported=False)
    for n in known[: max(1, top)]:
        score, hit = float(scores[n]), hits[n]
        if n == known[0] or score >= threshold:
            shared = overlap(sentence.plain, hit.text)
            yield Grounded(*place, score >= threshold, score, shared, hit.chunk.id, hit.source)


def overlap(sentence: str, text: str) -> float | None:
    """Return the share of a sentence's words that a text has; None where it has no words.

    >>> overlap("The red fox", "A red box, the foxes")
    0.6666666666666666
    """
    words = set(index_words(sentence))
    return len(words.intersection(index_words(text))) / len(words) if words else None
