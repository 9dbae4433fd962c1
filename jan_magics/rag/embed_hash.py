"""An embedder of arithmetic: words are hashed into places. No weights, the same everywhere.

It knows no meaning: texts are near that share words. It is for tests and for lessons.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import sqrt

import numpy as np

from jan_magics.domain.retrieval import Fingerprint
from jan_magics.domain.segmentation import index_words
from jan_magics.rag.vectors import FloatMatrix


@dataclass(frozen=True, slots=True)
class HashEmbedder:
    """Each word adds or subtracts one at one of `dim` places; `revision` makes another one."""

    dim: int = 64
    revision: str = "1"

    @property
    def fingerprint(self) -> Fingerprint:
        """Return what makes its vectors comparable with stored ones."""
        return Fingerprint("hash", self.revision, self.dim, "sum")

    def embed(self, texts: Sequence[str], *, query: bool = False) -> FloatMatrix:
        """Return float32 rows (n, dim) of unit length; a text without words gets zeros."""
        rows = np.zeros((len(texts), self.dim), np.float32)
        for place, text in enumerate(texts):
            row = rows[place]
            for word in index_words(text):
                seed = blake2b(f"{self.revision} {word}".encode(), digest_size=8).digest()
                number = int.from_bytes(seed, "little")
                row[(number >> 1) % self.dim] += 1 if number & 1 else -1
            rows[place] /= sqrt(float((row * row).sum())) or 1.0
        return rows

    def reads(self, text: str) -> bool:
        """Return True: it sees words of every script."""
        return True
