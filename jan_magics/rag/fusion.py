"""Two rankings become one: of meaning (cosine) and of words (BM25)."""

from collections.abc import Mapping, Sequence
from typing import Final

RRF_K: Final = 60
"""Cormack, Clarke & Büttcher, SIGIR 2009."""
LARGEST_WEIGHT: Final = 0.7
"""Of the cosine. Measured: docs/decisions, on fusing words and vectors."""
_FOLLOWING: Final = 10


def convex(
    vector: Mapping[int, float], words: Mapping[int, float], weight: float
) -> dict[int, float]:
    """Return weight · cosine + (1 − weight) · BM25 for every member, both scaled to 0…1.

    A member that has none of the words has nothing from them, and one without a vector nothing
    from that side. Bruch, Gai & Ingber, TOIS 2023.
    """
    near, said = scaled(vector), scaled({**dict.fromkeys(vector, 0.0), **words})
    return {
        n: weight * near.get(n, 0.0) + (1 - weight) * said.get(n, 0.0)
        for n in dict.fromkeys((*vector, *words))
    }


def rrf(rankings: Sequence[Sequence[int]], k: int = RRF_K) -> dict[int, float]:
    """Return the sum over rankings of 1 / (k + rank), as a share of the largest possible one."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, n in enumerate(ranking, 1):
            scores[n] = scores.get(n, 0.0) + 1 / (k + rank)
    most = len(rankings) / (k + 1)
    return {n: score / most for n, score in scores.items()}


def scaled(scores: Mapping[int, float]) -> dict[int, float]:
    """Return scores at 0…1, the lowest at 0 and the highest at 1; equal ones are all 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {n: (score - low) / (high - low) for n, score in scores.items()}


def weight_of(vector: Sequence[float], words: Sequence[float]) -> float:
    """Return the weight of the cosine that the pools of one question ask for.

    weight = 0.7 · v / (v + w), where v and w say how far the best of a pool stands out:
    (best − mean of the next ten) / (best − last). `vector` and `words` are the scores of the two
    pools, the best first.
    """
    if not words or not vector:
        return 0.0 if words else 1.0
    near, said = _standing_out(vector), _standing_out(words)
    return LARGEST_WEIGHT * near / (near + said) if near + said else LARGEST_WEIGHT / 2


def _standing_out(scores: Sequence[float]) -> float:
    best, *others = scores
    if not others or best <= others[-1]:
        return 1.0
    following = others[:_FOLLOWING]
    return (best - sum(following) / len(following)) / (best - others[-1])
