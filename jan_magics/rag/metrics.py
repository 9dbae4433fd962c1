"""Measures of a ranking, as the literature defines them; each is from 0 to 1, or None if undefined.

A ranking is ids, the best first; what comes twice counts once, where it comes first. They agree
with trec_eval on the same ranking: recall_k, P_k, recip_rank, ndcg_cut_k.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from math import log2
from typing import TypeAlias

Span: TypeAlias = tuple[str, int, int]
"""A place: a source, and characters of it, half-open."""


def collapsed(ranking: Iterable[str]) -> list[str]:
    """Return a ranking with each id once, where it comes first."""
    return list(dict.fromkeys(ranking))


def recall(ranking: Sequence[str], relevant: Collection[str], k: int) -> float | None:
    """Return the share of what is relevant that is among the first k."""
    wanted = set(relevant)
    return len(wanted.intersection(collapsed(ranking)[:k])) / len(wanted) if wanted else None


def precision(ranking: Sequence[str], relevant: Collection[str], k: int) -> float | None:
    """Return the relevant ones among the first k, over k; fewer than k are not made up for."""
    wanted = set(relevant)
    return len(wanted.intersection(collapsed(ranking)[:k])) / k if wanted and k > 0 else None


def first_rank(ranking: Sequence[str], relevant: Collection[str]) -> int | None:
    """Return the rank of the first relevant one, from 1; None where there is none."""
    return next((n for n, each in enumerate(collapsed(ranking), 1) if each in relevant), None)


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str]) -> float | None:
    """Return 1 over the rank of the first relevant one, 0 where there is none."""
    rank = first_rank(ranking, relevant)
    return (1 / rank if rank else 0.0) if relevant else None


def ndcg(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float | None:
    """Return the normalised discounted cumulative gain of the first k.

    DCG = Σ gain(rank) / log2(1 + rank), over that of the best ranking of all that is relevant.
    Järvelin & Kekäläinen, TOIS 2002. A gain of 0 or less is not relevant.
    """
    best = sorted((gain for gain in gains.values() if gain > 0), reverse=True)
    if not best or k <= 0:
        return None
    found = [max(0.0, gains.get(each, 0.0)) for each in collapsed(ranking)[:k]]
    return _dcg(found) / _dcg(best[:k])


def span_scores(
    retrieved: Iterable[Span], relevant: Iterable[Span]
) -> tuple[float | None, float | None, float | None]:
    """Return recall, precision and intersection over union of characters.

    Each character counts once, however many chunks hold it.
    """
    found, wanted = _joined(retrieved), _joined(relevant)
    shared = _shared(found, wanted)
    size, least = _size(found), _size(wanted)
    if not least:
        return None, None, None
    return shared / least, shared / size if size else 0.0, shared / (size + least - shared)


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _joined(spans: Iterable[Span]) -> dict[str, list[tuple[int, int]]]:
    """Return the places of each source, ascending and apart."""
    found: dict[str, list[tuple[int, int]]] = {}
    for source, start, end in sorted(spans):
        places = found.setdefault(source, [])
        if places and start <= places[-1][1]:
            places[-1] = places[-1][0], max(end, places[-1][1])
        elif end > start:
            places.append((start, end))
    return found


def _size(places: Mapping[str, Sequence[tuple[int, int]]]) -> int:
    return sum(end - start for spans in places.values() for start, end in spans)


def _shared(
    found: Mapping[str, Sequence[tuple[int, int]]], wanted: Mapping[str, Sequence[tuple[int, int]]]
) -> int:
    """Count the characters that are in both: where the edges of both, in order, are open twice."""
    shared = 0
    for source in found.keys() & wanted.keys():
        spans = (*found[source], *wanted[source])
        edges = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
        depth = 0
        for (at, step), (following, _) in pairwise(edges):
            depth += step
            shared += following - at if depth == 2 else 0
    return shared
