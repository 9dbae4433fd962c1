"""A million vectors, bit codes and exactly: `python -m tests.benchmarks.bench_bits [N]`.

Targets: recall@10 at least .97 at 5 × the speed of the exact search (float32, numpy, k = 10), both
on the same rows and questions, round by round. The rows stand around centres, as texts do around
topics; with faiss installed, its exact search is timed too.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from jan_magics.rag import bit_codes, vectors
from jan_magics.rag.vectors import FloatMatrix, Matrix
from tests.benchmarks.claims import RATIO, claimed, left_out, quick
from tests.benchmarks.rounds import by_question, installed, judged, ratios, scaled
from tests.benchmarks.vector_rivals import K, with_faiss

N, N_QUICK, DIM = 1_000_000, 300_000, 256
QUESTIONS, A_CENTRE = 30, 500


def rows_around_centres(n: int, dim: int) -> FloatMatrix:
    """Return unit rows, five hundred around each centre, as far from it as from nothing."""
    dice = np.random.default_rng(7)
    centres = dice.standard_normal((max(1, n // A_CENTRE), dim), dtype=np.float32)
    rows: FloatMatrix = centres[dice.integers(0, len(centres), n)]
    rows += dice.standard_normal((n, dim), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def questions(rows: FloatMatrix) -> FloatMatrix:
    """Return questions near to some rows."""
    dice = np.random.default_rng(8)
    asked = rows[dice.integers(0, len(rows), QUESTIONS)]
    asked += 0.02 * dice.standard_normal(asked.shape, dtype=np.float32)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    return asked


def measure(n: int) -> bool:
    """Measure question by question, and check what was found before anything is said."""
    rows = rows_around_centres(n, DIM)
    ids = np.array([f"{number:08}" for number in range(n)], object)
    begun = time.perf_counter()
    matrix = bit_codes.coded(Matrix(np.arange(n, dtype=np.int64), ids, rows))
    made = time.perf_counter() - begun
    asked = questions(rows)
    exact = [vectors.top(matrix, each, K)[0] for each in asked]
    found = [bit_codes.top(matrix, each, K)[0] for each in asked]
    shares = [len({*a} & {*b}) / K for a, b in zip(exact, found, strict=True)]
    ways: dict[str, Callable[[int], object]] = {
        "exact": lambda i: vectors.top(matrix, asked[i], K),
        "bits": lambda i: bit_codes.top(matrix, asked[i], K),
    }
    if not quick() and installed("faiss"):
        faiss = with_faiss(Path(), rows)
        assert all(
            {*faiss(query, None)} == {*right} for query, right in zip(asked, exact, strict=True)
        )
        ways["faiss, exact"] = lambda i: faiss(asked[i], None)
    times = by_question(ways, QUESTIONS)
    size = f"{n:,} × {DIM}"
    for name, seconds in times.items():
        claimed(f"{size}: {name}", scaled(seconds), "ms")
    kept = claimed(f"{size}: recall@{K} of bits", float(np.mean(shares)), "", least=0.97)
    speed = judged(times["exact"], times["bits"])
    kept &= claimed(f"{size}: the exact search's time of bits", speed, RATIO, least=5)
    for name in [*times][2:]:
        claimed(f"{size}: {name}, its time of bits", ratios(times[name], times["bits"]), RATIO)
    claimed(f"{size}: codes", matrix.codes.columns.nbytes / 1e6, "MB")
    claimed(f"{size}: rows", rows.nbytes / 1e6, "MB")
    claimed(f"{size}: codes made", made, "s")
    return kept


def main(n: int = 0) -> int:
    """Measure so many vectors; 1 when a target is missed."""
    if not hasattr(np, "bitwise_count"):
        left_out("bit codes", f"numpy {np.__version__} counts no bits, 2.0 does")
        return 0
    return 0 if measure(n or (N_QUICK if quick() else N)) else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
