"""Late interaction: each word of a question looks for its like in a text.

score = ½ · mean over the question's tokens of the best cosine with a token of the text
      + ½ · cosine of the whole question with the whole text
Khattab & Zaharia, SIGIR 2020, over MiniLM's token vectors, which were not trained for it.
"""

from collections.abc import Sequence

import numpy as np

from jan_magics.rag.embed_minilm import MiniLmEmbedder
from jan_magics.rag.vectors import FloatMatrix, product


class LateInteraction:
    """The packaged reranker; it reads some 50 texts a second."""

    def __init__(self, embedder: MiniLmEmbedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        """Return what stands behind `--rerank`."""
        return "minilm"

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score a text, from -1 to 1; higher is better."""
        asked, *told = self._embedder.token_vectors([question, *texts])
        return [0.5 * _best(asked, each) + 0.5 * _whole(asked, each) for each in told]


def _best(asked: FloatMatrix, told: FloatMatrix) -> float:
    return float(product(_unit(asked), _unit(told).T).max(axis=1).mean())


def _whole(asked: FloatMatrix, told: FloatMatrix) -> float:
    one, other = _unit(asked.mean(axis=0)), _unit(told.mean(axis=0))
    return float(np.dot(one, other))


def _unit(rows: FloatMatrix) -> FloatMatrix:
    lengths = np.sqrt((rows * rows).sum(axis=-1, keepdims=True))
    unit: FloatMatrix = rows / np.maximum(lengths, 1e-12)
    return unit
