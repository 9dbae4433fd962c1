"""Exact search among vectors in memory; one score for every engine.

A fast product in float32 chooses who may be among the best; those few are measured again in
float64, row by row, so that the score of a chunk depends on nothing but its vector and the
question: not on the engine, nor on who else is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

FloatMatrix: TypeAlias = npt.NDArray[np.float32]
FloatVector: TypeAlias = npt.NDArray[np.float32]
Numbers: TypeAlias = npt.NDArray[np.int64]

_NOTHING: Final = 1e-12
_SAME: Final = 1e-5
"""Float32 products this close may stand in another order when they are measured exactly."""
_SAMPLE: Final = 2_000


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of a generation: row i is that of the chunk numbers[i], whose id is ids[i].

    Chunks without a usable vector are not in it. `numbers` ascend.
    """

    numbers: Numbers
    ids: npt.NDArray[Any]
    rows: FloatMatrix


def matrix(found: Sequence[Any], dim: int) -> Matrix:
    """Put numbers, ids and vectors of chunks together, as a Dialect reads them."""
    return Matrix(
        numbers_in([row[0] for row in found]),
        np.array([row[1] for row in found], object),
        np.frombuffer(b"".join([row[2] for row in found]), "<f4").reshape(len(found), dim),
    )


def numbers_in(numbers: Sequence[int]) -> Numbers:
    """Return numbers of chunks as an array."""
    return np.array(numbers, np.int64)


def top(
    matrix: Matrix, query: FloatVector, k: int, allowed: Numbers | None = None
) -> tuple[list[int], list[float]]:
    """Return the numbers and cosines of the k best rows, ties by id; k may be any number.

    `allowed` are the numbers, ascending, that may be found at all.
    """
    rows, at = matrix.rows, None
    if allowed is not None:
        at = np.flatnonzero(np.isin(matrix.numbers, allowed, assume_unique=True))
        # Copying few rows is cheaper than multiplying all of them.
        if len(at) * 4 < len(rows):
            rows = rows[at]
    products = product(rows, query)
    if at is not None and len(products) != len(at):
        products = products[at]
    if k < len(products):
        least = np.partition(products, len(products) - k)[-k] - _SAME
        best = np.flatnonzero(products >= least)
    else:
        best = np.arange(len(products))
    chosen = best if at is None else at[best]
    return ordered(matrix.numbers[chosen], matrix.ids[chosen], exact(matrix.rows[chosen], query), k)


def ordered(
    numbers: Numbers, ids: Sequence[str] | npt.NDArray[Any], scores: npt.NDArray[Any], k: int
) -> tuple[list[int], list[float]]:
    """Return the k best with their scores: the highest first, ties by id."""
    values = scores.tolist()
    places = sorted(range(len(values)), key=lambda place: (-values[place], ids[place]))[:k]
    return [int(numbers[place]) for place in places], [values[place] for place in places]


def exact(rows: FloatMatrix, query: FloatVector) -> npt.NDArray[np.float64]:
    """Return the cosines of unit rows with a unit query; equal rows have equal ones.

    A sum along the row does not depend on how many rows there are, as a matrix product does.
    """
    products: npt.NDArray[np.float64] = (rows.astype(np.float64) * query.astype(np.float64)).sum(1)
    return np.clip(products, -1.0, 1.0)


def cosines(matrix: Matrix, query: FloatVector, numbers: Sequence[int]) -> dict[int, float]:
    """Return the cosines of chunks by number; without those that have no usable vector."""
    wanted = np.array(sorted(numbers), np.int64)
    places = np.searchsorted(matrix.numbers, wanted)
    places = places[places < len(matrix.numbers)]
    places = places[np.isin(matrix.numbers[places], wanted)]
    scores = exact(matrix.rows[places], query)
    return dict(zip(matrix.numbers[places].tolist(), scores.tolist(), strict=True))


def percentiles(matrix: Matrix, query: FloatVector, scores: Sequence[float]) -> list[float]:
    """Return for each cosine the share of chunks, from 0 to 1, that are less near to a query.

    Of many chunks some are measured, the same ones each time and spread over all documents.
    """
    step = -(-len(matrix.rows) // _SAMPLE)
    others = np.sort(product(matrix.rows[::step], query))
    shares = np.searchsorted(others, np.array(scores) - _SAME) / len(others)
    return [round(share, 4) for share in shares.tolist()]


def product(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the matrix product of rows (n, k) with a vector (k,) or a matrix (k, m).

    Some builds of OpenBLAS read a result's memory before they write it: of finite numbers they
    warn now and then of an invalid value, and may return one. Such a product is made without them.
    """
    with np.errstate(all="ignore"):
        found: npt.NDArray[Any] = left @ right
        if not np.isfinite(found).all():
            found = np.einsum("ik,k...->i...", left, right)
    return found


def unit(vector: npt.NDArray[Any]) -> FloatVector | None:
    """Return a vector at unit length, None where it has no direction: zeros, NaN, infinities."""
    return units(np.asarray(vector)[None])[0]


def units(rows: npt.NDArray[Any]) -> list[FloatVector | None]:
    """Return rows at unit length, None for those without a direction."""
    wide = np.asarray(rows, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt((wide * wide).sum(1))
        good = np.isfinite(lengths) & (lengths >= _NOTHING)
        made = (wide / np.where(good, lengths, 1.0)[:, None]).astype("<f4")
    return [row if usable else None for row, usable in zip(made, good.tolist(), strict=True)]
