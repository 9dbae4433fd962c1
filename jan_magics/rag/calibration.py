"""How near an embedder places texts that have nothing to do with each other."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.protocols import Embedder
from jan_magics.rag.grounding import THRESHOLD, cosines
from jan_magics.rag.sentences import sentences

PERCENTILE: Final = 99.0
PAIRS: Final = 2_000
MOST: Final = 100
"""Chunks, and sentences, that are embedded."""
LEAST: Final = 4
_RIGHT: Final = frozenset({"minilm"})
"""The embedders for which the usual threshold is right."""


def threshold_of(embedder: Embedder, chunks: Sequence[str]) -> float:
    """Return the least cosine that supports a sentence: the usual one, or the embedder's own.

    Raises:
        EmbedderError, RetrievalError: as `calibrated` does, where it must be measured.
    """
    known = embedder.fingerprint.id in _RIGHT
    return THRESHOLD if known else calibrated(embedder, chunks)


def calibrated(embedder: Embedder, chunks: Sequence[str]) -> float:
    """Return the threshold of grounding for an embedder, from the chunks of a collection.

    It is the 99th percentile of the cosines of random pairs of a sentence and a chunk that does
    not hold it. The same chunks give the same threshold.

    Raises:
        EmbedderError: when the embedder fails.
        RetrievalError: when there are too few chunks to tell.
    """
    random = np.random.default_rng(0)
    texts = list(dict.fromkeys(chunk for chunk in chunks if embedder.reads(chunk)))
    some = [texts[n] for n in sorted(random.permutation(len(texts))[:MOST])]
    found = [(each.plain, n) for n, text in enumerate(some) for each in sentences(text)
             if each.claims]  # fmt: skip
    drawn = [found[n] for n in sorted(random.permutation(len(found))[:MOST])]
    if len(some) < LEAST or not drawn:
        raise _too_few(embedder, len(some))
    vectors = np.asarray(embedder.embed([*(text for text, _ in drawn), *some]), np.float64)
    scores = cosines(vectors[: len(drawn)], vectors[len(drawn) :])
    pairs = [
        scores[row, column]
        for row, column in random.integers((len(drawn), len(some)), size=(PAIRS, 2))
        if column != drawn[row][1] and drawn[row][0] not in some[column]
    ]
    known = [pair for pair in pairs if not np.isnan(pair)]
    if not known:
        raise _too_few(embedder, len(some))
    return float(np.percentile(known, PERCENTILE))


def _too_few(embedder: Embedder, count: int) -> RetrievalError:
    return RetrievalError(
        f"{count} chunks are too few to tell what is near for {embedder.fingerprint.id!r}",
        "Add documents: %rag add PATH   or give the threshold yourself",
    )
