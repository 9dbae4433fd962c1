"""How one chunk stands for one question: its rank under any options, its score at each stage."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jan_magics.rag.candidates import Candidate, gather
from jan_magics.rag.options import Options
from jan_magics.rag.search import Asked, rank
from jan_magics.rag.snapshot import Snapshot
from jan_magics.rag.vectors import FloatVector
from jan_magics.rag.where import read


@dataclass(frozen=True, slots=True)
class Stage:
    """What a stage says of a chunk: its score, its rank from 1 among all that the stage saw.

    `needed` is the score of the last one that got through, None where this one did, too.
    """

    stage: str
    score: float | None
    rank: int | None
    needed: float | None


class Standing:
    """How one chunk stands for one question, under any options. Every answer was searched."""

    def __init__(self, snapshot: Snapshot, asked: Asked, number: int) -> None:
        self.snapshot = snapshot
        self.asked = asked
        self.number = number

    def at(self, options: Options) -> tuple[Candidate | None, int | None]:
        """Return the chunk as a candidate and its rank; None where it is no candidate."""
        return _placed(self._ranked(options), self.number)

    def used(self, options: Options) -> int | None:
        """Return the rank of the chunk where it is used."""
        found, place = self.at(options)
        return place if found is not None and found.dropped_by is None else None

    def smallest_k(self, options: Options) -> tuple[int, int] | None:
        """Find the smallest k that lets the chunk in, and its rank then; None where none does.

        More rows mean more candidates, too.
        """
        total = self.snapshot.count()
        high = options.k
        while (place := self.used(replace(options, k=high))) is None and high < total:
            high = min(total, 2 * high)
        if place is None:
            return None
        low = options.k
        while low < high:
            middle = (low + high) // 2
            there = self.used(replace(options, k=middle))
            low, high, place = (middle + 1, high, place) if there is None else (low, middle, there)
        return high, place

    def cosine(self) -> float | None:
        """Return the exact cosine, also of a chunk that is no candidate."""
        query = self.asked.query
        if query is None:
            return None
        return self.snapshot.cosines(query, [self.number]).get(self.number)

    def stages(self) -> tuple[Stage, ...]:
        """Return what each stage says of the chunk, in their order."""
        options, query = self.asked.options, self.asked.query
        ranked = self._ranked(options)
        found, _ = _placed(ranked, self.number)
        stages: list[Stage] = []
        if options.mode != "keyword" and query is not None:
            stages.append(self._vector(query, found))
        if options.mode != "vector":
            stages.append(self._words(found))
        if options.mode == "hybrid":
            stages.append(self._fused())
        if options.rerank is not None:
            stages.append(self._judged(ranked))
        # Until here the pools were what had to be reached; behind them it is being used.
        last = {"fused" if options.mode == "hybrid" else stages[0].stage, stages[-1].stage}
        return tuple(_ended(each, found, ranked) if each.stage in last else each for each in stages)

    def _ranked(self, options: Options) -> Sequence[Candidate]:
        changed = replace(options, all=True)
        asked = replace(self.asked, options=changed, where=read(options.where))
        return rank(self.snapshot, asked).candidates

    def _vector(self, query: FloatVector, found: Candidate | None) -> Stage:
        asked, total = self.asked, self.snapshot.count()
        numbers, scores = self.snapshot.by_vector(query, total, asked.where)
        place = (found and found.vector_rank) or _rank(numbers, self.number)
        return Stage("vector", self.cosine(), place, _bar(scores, asked.options.pool, place))

    def _words(self, found: Candidate | None) -> Stage:
        asked, total = self.asked, self.snapshot.count()
        numbers, scores, others = self.snapshot.words(
            asked.question, total, asked.where, [self.number]
        )
        known = {**others, **dict(zip(numbers, scores, strict=True))}
        place = (found and found.bm25_rank) or _rank(numbers, self.number)
        bar = _bar(scores, asked.options.pool, place)
        return Stage("bm25", known.get(self.number), place, bar)

    def _fused(self) -> Stage:
        asked = self.asked
        pool = gather(self.snapshot, asked.question, asked.query, asked.options, asked.where)
        found, place = _placed(pool.candidates, self.number)
        return Stage("fused", found.fused if found else None, place, None)

    def _judged(self, ranked: Sequence[Candidate]) -> Stage:
        judged = [each for each in ranked if each.rerank is not None]
        found, place = _placed(judged, self.number)
        return Stage("rerank", found.rerank if found else None, place, None)


def _ended(stage: Stage, found: Candidate | None, ranked: Sequence[Candidate]) -> Stage:
    """Return a stage with the score that was enough to be used, or to be looked at again."""
    used = [each for each in ranked if each.dropped_by is None]
    seen = [each for each in ranked if each.rerank is not None] if stage.stage != "rerank" else []
    through = seen or used
    if found in through:
        return replace(stage, needed=None)
    scores = [score for each in through if (score := getattr(each, stage.stage)) is not None]
    return replace(stage, needed=min(scores, default=stage.needed))


def _bar(scores: Sequence[float], size: int, place: int | None) -> float | None:
    """Return the score of the last of so many; None where that is reached, or nobody is."""
    reached = place is not None and place <= size
    return None if reached or len(scores) < size else scores[size - 1]


def _placed(candidates: Sequence[Candidate], number: int) -> tuple[Candidate | None, int | None]:
    for place, each in enumerate(candidates, 1):
        if each.number == number:
            return each, place
    return None, None


def _rank(numbers: Sequence[int], number: int) -> int | None:
    return numbers.index(number) + 1 if number in numbers else None
