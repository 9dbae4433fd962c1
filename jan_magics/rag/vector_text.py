"""Vectors as text, exact to the bit: base64 of little-endian float32."""

import base64
import binascii
from collections.abc import Sequence

import numpy as np

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.protocols import Vectors
from jan_magics.rag.vectors import FloatMatrix


def to_texts(vectors: Vectors) -> list[str]:
    """Write each row of an array of shape (n, dim).

    >>> to_texts([[1.0, 0.0]])
    ['AACAPwAAAAA=']
    """
    rows = np.asarray(vectors, "<f4")
    return [base64.b64encode(row.tobytes()).decode("ascii") for row in rows]


def from_texts(texts: Sequence[str], dim: int) -> FloatMatrix:
    """Read rows of `dim` numbers into an array of shape (n, dim).

    Raises:
        EmbedderError: for what is no such row.
    """
    rows = np.zeros((len(texts), dim), np.float32)
    for place, text in enumerate(texts):
        try:
            row = np.frombuffer(base64.b64decode(text, validate=True), "<f4")
            rows[place] = row
        except (ValueError, binascii.Error) as error:
            raise EmbedderError(
                f"a recorded vector is not one of {dim} numbers", "Record it again: %chat record"
            ) from error
    return rows
