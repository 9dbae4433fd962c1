"""Chunks on a plane: the two directions in which their vectors differ most."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.protocols import Embedder
from jan_magics.rag.snapshot import Snapshot
from jan_magics.rag.vectors import product, unit

MOST_POINTS: Final = 5000
"""Chunks of a larger collection that are shown, the same ones each time."""
Points = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Landscape:
    """`points` (n, 2) of chunks with their sources and cosines, `place` (2,) of the question.

    `shares` are the parts of all variance that the two directions have; `chunks` counts all.
    """

    question: str
    points: Points
    place: Points
    sources: tuple[str, ...]
    cosines: Points
    shares: tuple[float, float]
    chunks: int


def landscape(snapshot: Snapshot, embedder: Embedder, question: str) -> Landscape:
    """Return where chunks lie around a question.

    Principal components of the unit vectors; the question is put into the chunks' plane.

    Raises:
        RetrievalError: when there is nothing to show, or the question has no direction.
    """
    found = snapshot.rows(snapshot.numbers(MOST_POINTS))
    numbers = sorted(found)
    query = unit(np.asarray(embedder.embed([question], query=True))[0])
    if query is None or not numbers:
        what = "the collection has no vectors" if not numbers else f"{question!r} has no vector"
        raise RetrievalError(f"there is no map: {what}", "Look at: %rag doctor")
    rows = np.array([found[n] for n in numbers], np.float64)
    middle = rows.mean(0)
    axes, shares = _axes(rows - middle)
    cosines = snapshot.cosines(query, numbers)
    return Landscape(
        question, product(rows - middle, axes), np.dot(query - middle, axes),
        tuple(each.source for each in snapshot.stored(numbers)),
        np.array([cosines[n] for n in numbers]), shares, snapshot.count(),
    )  # fmt: skip


def _axes(rows: Points) -> tuple[Points, tuple[float, float]]:
    """Return the two first directions (dim, 2) and their shares, alike on every machine."""
    values, vectors = np.linalg.eigh(product(rows.T, rows))
    chosen = vectors[:, ::-1][:, :2]
    # The sign of a direction is arbitrary: its largest part is made positive.
    signs = np.sign(chosen[np.abs(chosen).argmax(0), range(chosen.shape[1])])
    whole = float(values.clip(0).sum())
    first, second = (float(max(0.0, each)) / whole if whole > 0 else 0.0 for each in values[:-3:-1])
    return chosen * signs, (first, second)
