"""How far a mean over questions can be trusted, and whether two settings differ. Seeded."""

from collections.abc import Sequence
from itertools import product as every
from typing import Final

import numpy as np

from jan_magics.rag.vectors import product

RESAMPLES: Final = 2_000
FLIPS: Final = 10_000
EXACT: Final = 13
"""Questions up to which all ways to swap two settings are tried."""
_TIE: Final = 1e-12


def interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of a mean; None without values.

    The percentiles of the means of 2,000 resamples of the questions (Efron 1979).
    """
    if not values:
        return None
    known = np.asarray(values, np.float64)
    random = np.random.default_rng(seed)
    # Row by row: all at once would take 2,000 times the memory of the questions.
    means = [known[random.integers(len(known), size=len(known))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def p_value(first: Sequence[float], second: Sequence[float], *, seed: int = 0) -> float | None:
    """Return the two-sided p of a paired permutation test of the means; None without pairs.

    The settings' values are swapped question by question: in every way for up to 13 questions,
    else 10,000 times at random (Fisher 1935; Smucker, Allan & Carterette, CIKM 2007).

    Raises:
        ValueError: when the two are not of the same questions.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} values are no pairs")
    differences = np.asarray(second, np.float64) - np.asarray(first, np.float64)
    count = len(differences)
    if not count:
        return None
    observed = abs(differences.sum()) - _TIE * count
    if count <= EXACT:
        signs = np.array(list(every((1.0, -1.0), repeat=count)))
        return float((np.abs(product(signs, differences)) >= observed).mean())
    random = np.random.default_rng(seed)
    extreme = sum(
        int((np.abs(product(flips, differences)) >= observed).sum())
        for flips in (random.choice((1.0, -1.0), (1_000, count)) for _ in range(FLIPS // 1_000))
    )
    # The observed way is one of the ways: p is never 0.
    return (extreme + 1) / (FLIPS + 1)
