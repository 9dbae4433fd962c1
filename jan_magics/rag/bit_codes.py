"""Neighbours among very many vectors: a bit a dimension chooses who is measured exactly.

The bit is the sign (Charikar 2002: signs differ in as many places as the angle is wide). Everything
in this file is approximate in whom it finds, and exact in the score of who is found.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from jan_magics.rag import vectors
from jan_magics.rag.vectors import FloatMatrix, FloatVector, Matrix, Numbers

Columns: TypeAlias = npt.NDArray[np.uint64]
Distances: TypeAlias = npt.NDArray[np.uint16]

_WORD: Final = 64
_BLOCK: Final = 1 << 16
"""Rows at a time: what is counted of them stays in the processor's cache."""
MEASURED: Final = 2_000
"""Rows that are measured exactly, at least; of ten wanted ones 97 in 100 are among them."""


@dataclass(frozen=True, slots=True)
class BitCodes:
    """The signs of rows: columns[c][i] are the dimensions 64 c to 64 c + 63 of row i."""

    columns: Columns

    def distances(self, query: FloatVector) -> Distances:
        """Return in how many dimensions each row's sign is not the query's."""
        word = encode(query[None]).columns[:, 0]
        count = self.columns.shape[1]
        found = np.zeros(count, np.uint16)
        for at in range(0, count, _BLOCK):
            part = found[at : at + _BLOCK]
            for column, bits in zip(self.columns, word, strict=True):
                part += np.bitwise_count(column[at : at + _BLOCK] ^ bits)
        return found


@dataclass(frozen=True, slots=True)
class CodedMatrix(Matrix):
    """The vectors of a generation with their codes."""

    codes: BitCodes


def coded(matrix: Matrix) -> CodedMatrix:
    """Return vectors with their codes."""
    return CodedMatrix(matrix.numbers, matrix.ids, matrix.rows, encode(matrix.rows))


def encode(rows: FloatMatrix) -> BitCodes:
    """Return the codes of rows; 32 times smaller than they are."""
    packed = np.packbits(rows > 0, axis=1)
    short = -packed.shape[1] % (_WORD // 8)
    whole = np.pad(packed, ((0, 0), (0, short))) if short else packed
    return BitCodes(np.ascontiguousarray(whole.view(np.uint64).T))


def top(
    matrix: CodedMatrix, query: FloatVector, k: int, allowed: Numbers | None = None
) -> tuple[list[int], list[float]]:
    """Return the numbers and cosines of the k best rows that are near by their codes, ties by id.

    `allowed` are the numbers, ascending, that may be found at all.
    """
    wanted = max(MEASURED, 100 * k)
    if len(matrix.rows) <= wanted or (allowed is not None and len(allowed) <= wanted):
        return vectors.top(matrix, query, k, allowed)
    distances: npt.NDArray[Any] = matrix.codes.distances(query)
    places = None
    if allowed is not None:
        places = np.flatnonzero(np.isin(matrix.numbers, allowed, assume_unique=True))
        distances = distances[places]
    # Everyone of the last distance is measured, too: who is left out is never a matter of order.
    many = np.bincount(distances).cumsum()
    near = np.flatnonzero(distances <= np.searchsorted(many, wanted))
    chosen = near if places is None else places[near]
    part = Matrix(matrix.numbers[chosen], matrix.ids[chosen], matrix.rows[chosen])
    return vectors.top(part, query, k)
