"""Two rankings become one: of meaning (cosine) and of words (BM25)."""

from collections.abc import Mapping, Sequence
from typing import Final

RRF_K: Final = 60
"""Cormack, Clarke & Büttcher, SIGIR 2009."""
AVERAGED: Final = 0.7
"""What a cosine is trusted with where a vector is the mean of its words'. See trust_in."""
TRAINED: Final = 1.1
"""The same where a model was trained to make vectors of sentences."""
_OF_WORDS: Final = frozenset(("static", "hash"))
_FOLLOWING: Final = 10
_LOOKED_AT: Final = 50
"""Of each pool, so that a longer list weighs as a short one does."""
_USUAL: Final = 0.55
"""How far BM25 falls over a pool, as a share of its best score, on questions of every kind."""


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


def rrf(rankings: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return the sum over rankings of 1 / (60 + rank), as a share of the largest possible one."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, n in enumerate(ranking, 1):
            scores[n] = scores.get(n, 0.0) + 1 / (RRF_K + rank)
    most = len(rankings) / (RRF_K + 1)
    return {n: score / most for n, score in scores.items()}


def scaled(scores: Mapping[int, float]) -> dict[int, float]:
    """Return scores at 0…1, the lowest at 0 and the highest at 1; equal ones are all 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {n: (score - low) / (high - low) for n, score in scores.items()}


def trust_in(embedder: str) -> float:
    """Return what the cosines of an embedder are trusted with, by its name.

    Measured: docs/decisions, on fusing words and vectors.
    """
    return AVERAGED if embedder in _OF_WORDS else TRAINED


def weight_of(vector: Sequence[float], words: Sequence[float], trust: float = AVERAGED) -> float:
    """Return the weight of the cosine, 0 to 1, that the pools of one question ask for.

    weight = trust · v / (v + w) · (1.55 − f), where v and w say how far the best of a pool stands
    out: (best − mean of the next ten) / (best − last), and f how far the words' scores fall:
    (best − last) / best. Where all say the same, words say little. `vector` and `words` are the
    scores of the two pools, the best first; 50 of each are looked at. Of fewer, all that have a
    word, the last is as far as the collection goes: f is then the usual 0.55.
    """
    if not words or not vector:
        return 0.0 if words else 1.0
    vector, words = vector[:_LOOKED_AT], words[:_LOOKED_AT]
    near, said = _standing_out(vector), _standing_out(words)
    share = near / (near + said) if near + said else 0.5
    full = len(words) == _LOOKED_AT and words[0] > 0
    fall = (words[0] - words[-1]) / words[0] if full else _USUAL
    return min(1.0, max(0.0, trust * share * (1 + _USUAL - fall)))


def _standing_out(scores: Sequence[float]) -> float:
    best, *others = scores
    if not others or best <= others[-1]:
        return 1.0
    following = others[:_FOLLOWING]
    return (best - sum(following) / len(following)) / (best - others[-1])
