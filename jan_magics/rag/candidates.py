"""Candidates: who may be an answer, what each stage says of them, and who lets them go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jan_magics.rag.fusion import convex, rrf, trust_in, weight_of
from jan_magics.rag.options import Options
from jan_magics.rag.snapshot import Snapshot
from jan_magics.rag.vectors import FloatVector
from jan_magics.rag.where import Tree


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk by number, with every score that was measured; `score` is the last stage's."""

    number: int
    score: float
    metric: str
    vector: float | None = None
    vector_rank: int | None = None
    bm25: float | None = None
    bm25_rank: int | None = None
    fused: float | None = None
    rerank: float | None = None
    dropped_by: str | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """Candidates, the best first, and what the fusion weighed the cosine with."""

    candidates: Sequence[Candidate]
    weight: float | None = None


def gather(
    snapshot: Snapshot,
    question: str,
    query: FloatVector | None,
    options: Options,
    where: Tree | None,
) -> Gathered:
    """Return the candidates of a question, in order; without a query vector by words alone."""
    if query is None or options.mode == "keyword":
        return _by_words(snapshot, question, options, where)
    if options.mode == "vector":
        return _by_vector(snapshot, query, options, where)
    size = options.pool
    near, cosines = snapshot.by_vector(query, size, where)
    said, scores, others = snapshot.words(question, size, where, near)
    vector = dict(zip(near, cosines, strict=True))
    vector |= snapshot.cosines(query, [n for n in said if n not in vector])
    words = dict(zip(said, scores, strict=True))
    words |= others
    weight = None
    if options.fusion == "rrf":
        fused = rrf((near, said))
    else:
        weight = options.weight
        if weight is None:
            by = snapshot.fingerprint.id if snapshot.fingerprint else ""
            weight = weight_of(cosines, scores, trust_in(by))
        fused = convex(vector, words, weight)
    near_ranks, said_ranks = _ranks(near), _ranks(said)
    made = [
        Candidate(
            n, score, options.fusion,
            vector.get(n), near_ranks.get(n), words.get(n), said_ranks.get(n), score,
        )
        for n, score in fused.items()
    ]  # fmt: skip
    return Gathered(sorted_by_score(snapshot, made), weight)


def sorted_by_score(snapshot: Snapshot, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates with the best first, ties by chunk id."""
    ids = snapshot.ids([candidate.number for candidate in candidates])
    return sorted(candidates, key=lambda each: (-each.score, ids[each.number]))


def let_go(candidates: Sequence[Candidate], threshold: float | None) -> list[Candidate]:
    """Mark the candidates whose cosine is under the threshold."""
    if threshold is None:
        return list(candidates)
    return [
        each
        if each.vector is not None and each.vector >= threshold
        else replace(each, dropped_by="threshold")
        for each in candidates
    ]


def cut(candidates: Sequence[Candidate], k: int) -> list[Candidate]:
    """Keep the first k that nothing has let go; the others follow, each with what let it go."""
    staying = [each for each in candidates if each.dropped_by is None]
    gone = [replace(each, dropped_by="k") for each in staying[k:]]
    return staying[:k] + gone + [each for each in candidates if each.dropped_by is not None]


def _by_words(snapshot: Snapshot, question: str, options: Options, where: Tree | None) -> Gathered:
    numbers, scores = snapshot.by_words(question, _size(options), where)
    return Gathered([
        Candidate(n, score, snapshot.by, bm25=score, bm25_rank=rank)
        for rank, (n, score) in enumerate(zip(numbers, scores, strict=True), 1)
    ])  # fmt: skip


def _by_vector(
    snapshot: Snapshot, query: FloatVector, options: Options, where: Tree | None
) -> Gathered:
    numbers, scores = snapshot.by_vector(query, _size(options), where)
    return Gathered([
        Candidate(n, score, "cosine", vector=score, vector_rank=rank)
        for rank, (n, score) in enumerate(zip(numbers, scores, strict=True), 1)
    ])  # fmt: skip


def _size(options: Options) -> int:
    """Return how many candidates one side alone needs."""
    return options.pool if options.all or options.rerank else options.k


def _ranks(numbers: Sequence[int]) -> Mapping[int, int]:
    return {n: rank for rank, n in enumerate(numbers, 1)}
