"""A second look at the candidates: variety, or a slower and better judge."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp
from typing import Final

import numpy as np

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.protocols import Reranker
from jan_magics.rag.candidates import Candidate, sorted_by_score
from jan_magics.rag.options import Options
from jan_magics.rag.snapshot import Snapshot
from jan_magics.rag.vectors import FloatMatrix, product

LAMBDA: Final = 0.7
"""How much relevance counts against variety."""


def reranked(
    snapshot: Snapshot, question: str, candidates: Sequence[Candidate], options: Options
) -> list[Candidate]:
    """Return the candidates in the order of the second look; those behind it keep theirs.

    Raises:
        EmbedderError: when the reranker fails.
    """
    judge = options.rerank
    if judge is None:
        return list(candidates)
    staying = [each for each in candidates if each.dropped_by is None]
    gone = [each for each in candidates if each.dropped_by is not None]
    seen, rest = staying[: options.recall], staying[options.recall :]
    behind = [replace(each, dropped_by="recall") for each in rest]
    if judge == "mmr":
        order = mmr([each.score for each in seen], _rows(snapshot, seen))
        again = [_judged(seen[place], value, "mmr") for place, value in order]
    else:
        scores = _scores(judge, question, snapshot, seen)
        again = [_judged(each, score, judge.name) for each, score in zip(seen, scores, strict=True)]
        again = sorted_by_score(snapshot, again)
    return [*again, *behind, *gone]


def mmr(
    relevance: Sequence[float], rows: FloatMatrix, weight: float = LAMBDA
) -> list[tuple[int, float]]:
    """Return places in the order of maximal marginal relevance, each with its marginal value.

    value(d) = λ · relevance(d) − (1 − λ) · max over chosen of cosine(d, chosen)
    Carbonell & Goldstein, SIGIR 1998. With λ = 1 the order is that of relevance. A row of zeros
    is like nothing.
    """
    wide = rows.astype(np.float64)
    likeness = product(wide, wide.T)
    value = weight * np.array(relevance, np.float64)
    nearest = np.full(len(relevance), -np.inf)
    left = list(range(len(relevance)))
    order: list[tuple[int, float]] = []
    while left:
        marginal = value[left]
        if order:
            marginal = marginal - (1 - weight) * nearest[left]
        best = int(np.argmax(marginal))
        place = left.pop(best)
        order.append((place, float(marginal[best])))
        nearest = np.maximum(nearest, likeness[place])
    return order


def probability(logit: float) -> float:
    """Return 1 / (1 + exp(−logit)); logits themselves stay, as near 1 many are the same."""
    return 1 / (1 + exp(-logit)) if logit >= 0 else exp(logit) / (1 + exp(logit))


def _rows(snapshot: Snapshot, candidates: Sequence[Candidate]) -> FloatMatrix:
    found = snapshot.rows([each.number for each in candidates])
    dim = next((len(row) for row in found.values()), 1)
    empty = np.zeros(dim, np.float32)
    return np.array([found.get(each.number, empty) for each in candidates], np.float32)


def _scores(
    judge: Reranker, question: str, snapshot: Snapshot, candidates: Sequence[Candidate]
) -> Sequence[float]:
    texts = [stored.text for stored in snapshot.stored([each.number for each in candidates])]
    scores = [float(score) for score in judge.scores(question, texts)] if texts else []
    if len(scores) != len(texts) or not all(map(np.isfinite, scores)):
        raise EmbedderError(
            f"the reranker {judge.name!r} gave {len(scores)} scores for {len(texts)} texts,"
            " or some that are no numbers",
            "Leave --rerank out, or name another one",
        )
    return scores


def _judged(candidate: Candidate, score: float, name: str) -> Candidate:
    return replace(candidate, score=score, rerank=score, metric=name)
