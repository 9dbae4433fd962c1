"""An embedder that is asked for a text once, so that a grid of settings embeds nothing twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.protocols import Embedder, Vectors
from jan_magics.domain.retrieval import Fingerprint


@dataclass(slots=True)
class Remembered:
    """Another embedder's vectors, each kept for as long as this one is; queries are kept apart.

    Embed all questions first, else the first setting of a grid pays for them in its time.
    """

    embedder: Embedder
    kept: dict[tuple[str, bool], Any] = field(default_factory=dict, repr=False)

    @property
    def fingerprint(self) -> Fingerprint:
        """Return the other one's: the vectors are its own."""
        return self.embedder.fingerprint

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return float32 rows (n, dim), those that are not yet known in one batch.

        Raises:
            EmbedderError: when the embedder fails, or gives another number of vectors.
        """
        missing = [text for text in dict.fromkeys(texts) if (text, query) not in self.kept]
        if missing:
            rows = self.embedder.embed(missing, query=query)
            if len(rows) != len(missing):
                raise EmbedderError(
                    f"the embedder {self.fingerprint.id!r} gave {len(rows)} vectors for"
                    f" {len(missing)} texts",
                    "Name another embedder (--embedder), or look at its server",
                )
            self.kept |= {(text, query): row for text, row in zip(missing, rows, strict=True)}
        if not texts:
            return np.zeros((0, self.fingerprint.dim), np.float32)
        return np.stack([self.kept[text, query] for text in texts])

    def reads(self, text: str) -> bool:
        """Tell whether the embedder can read the script of a text."""
        return self.embedder.reads(text)
