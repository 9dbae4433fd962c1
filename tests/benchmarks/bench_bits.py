"""A million vectors, bit codes and exactly: `python -m tests.benchmarks.bench_bits [N]`.

Targets: recall@10 at least .97 at 5 × the speed of the exact search (float32, numpy, k = 10), both
on the same rows and questions, round by round. The rows stand around centres, as texts do around
topics; with faiss installed, its exact search is timed too.
"""

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from jan_magics.rag import bit_codes, vectors
from jan_magics.rag.vectors import FloatMatrix, FloatVector, Matrix

N, DIM, K = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, 256, 10
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


def rivals(rows: FloatMatrix) -> dict[str, Callable[[FloatVector], object]]:
    """Return the exact searches of others that are installed."""
    found: dict[str, Callable[[FloatVector], object]] = {}
    if find_spec("faiss"):
        import faiss  # type: ignore[import-not-found, unused-ignore]

        index = faiss.IndexFlatIP(DIM)
        index.add(rows)
        found["faiss"] = lambda query: index.search(query[None], K)
    return found


def main() -> None:
    """Measure round by round, and check what was found before anything is said."""
    rows = rows_around_centres(N, DIM)
    ids = np.array([f"{n:08}" for n in range(N)], object)
    begun = time.perf_counter()
    matrix = bit_codes.coded(Matrix(np.arange(N, dtype=np.int64), ids, rows))
    made = time.perf_counter() - begun
    runs: dict[str, Callable[[FloatVector], object]] = {
        "exact": lambda query: vectors.top(matrix, query, K),
        "bits": lambda query: bit_codes.top(matrix, query, K),
        **rivals(rows),
    }
    asked = questions(rows)
    shares = [
        len({*vectors.top(matrix, each, K)[0]} & {*bit_codes.top(matrix, each, K)[0]}) / K
        for each in asked
    ]
    times: dict[str, list[float]] = {name: [] for name in runs}
    for query in asked:
        for name, run in runs.items():
            begun = time.perf_counter()
            run(query)
            times[name].append(1000 * (time.perf_counter() - begun))
    medians = {name: statistics.median(each) for name, each in times.items()}
    recall, ratio = statistics.fmean(shares), medians["exact"] / medians["bits"]
    print(f"{N:,} × {DIM}: " + "  ".join(f"{name} {ms:.1f} ms" for name, ms in medians.items()))
    print(f"  recall@{K} {recall:.3f} (at least .97: {'yes' if recall >= 0.97 else 'NO'})")
    print(f"  {ratio:.1f} × the exact search (at least 5: {'yes' if ratio >= 5 else 'NO'})")
    megabytes = matrix.codes.columns.nbytes / 1e6, rows.nbytes / 1e6
    print(f"  codes {megabytes[0]:.0f} MB beside {megabytes[1]:.0f} MB, made in {made:.1f} s")
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}")
    report = {"ms": medians, "recall": recall, "ratio": ratio, "n": N, "dim": DIM}
    Path("build/bench").mkdir(parents=True, exist_ok=True)
    Path("build/bench/bits.json").write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
