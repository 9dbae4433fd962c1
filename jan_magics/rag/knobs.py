"""The knobs of a search: which one alone, or else which together, would let a chunk in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Final

from jan_magics.domain.messages import Json
from jan_magics.domain.retrieval import Fusion
from jan_magics.rag.options import Options
from jan_magics.rag.standing import Standing

TOGETHER: Final = " + "
"""Between the names of knobs that are turned together."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A setting: what it is, what it must be so that the chunk is used, and its rank then.

    `needed` and `rank_then` are None where turning this knob alone does not let it in. Of several
    that must be turned together, `now` and `needed` are lists in the order of their names.
    """

    knob: str
    now: Json
    needed: Json
    rank_then: int | None


@dataclass(frozen=True, slots=True)
class _Turn:
    """A knob as it is, as it is tried, and what that makes of the options."""

    knob: str
    now: Json
    then: Json
    changes: Mapping[str, Any]


def knobs_of(standing: Standing, *, outside: bool) -> Iterator[Knob]:
    """Yield every knob that there is to turn; where none alone is enough, the fewest that are.

    `outside`: the filter does not let the chunk pass.
    """
    now = standing.asked.options
    turns = list(_turns(standing, outside=outside))
    alone = [_k(standing, now), *(_alone(standing, turn) for turn in turns)]
    if now.threshold is not None and all(turn.knob != "threshold" for turn in turns):
        alone.insert(1, Knob("threshold", now.threshold, None, None))
    modes = [knob for knob in alone if knob.knob == "mode"]
    # Of modes that do not help one row is enough to say so.
    helping = [knob for knob in modes if knob.rank_then is not None]
    yield from (knob for knob in alone if knob.knob != "mode")
    yield from helping or modes[:1]
    if all(knob.rank_then is None for knob in alone):
        yield from _together(standing, turns)


def _turns(standing: Standing, *, outside: bool) -> Iterator[_Turn]:
    """Yield what can be turned, besides k; a mode once for each other one."""
    now = standing.asked.options
    if (needed := _threshold(standing)) is not None:
        yield _Turn("threshold", now.threshold, needed, {"threshold": needed})
    if outside:
        yield _Turn("where", str(now.where), None, {"where": None})
    if now.rerank is not None:
        name = now.rerank if now.rerank == "mmr" else now.rerank.name
        yield _Turn("rerank", name, None, {"rerank": None})
    if now.mode == "hybrid":
        other: Fusion = "rrf" if now.fusion == "convex" else "convex"
        yield _Turn("fusion", now.fusion, other, {"fusion": other})
    for mode in ("hybrid", "vector", "keyword"):
        no_cosine = mode == "keyword" and now.threshold is not None
        if mode != now.mode and standing.asked.query is not None and not no_cosine:
            yield _Turn("mode", now.mode, mode, {"mode": mode})


def _threshold(standing: Standing) -> float | None:
    """Return the threshold that a chunk passes, None where it passes the one that there is."""
    now, cosine = standing.asked.options.threshold, standing.cosine()
    if now is None or cosine is None or cosine >= now:
        return None
    # Rounded down, so that what is shown is enough.
    return int(cosine * 1e4 - 1) / 1e4


def _k(standing: Standing, now: Options) -> Knob:
    found = standing.smallest_k(now)
    return Knob("k", now.k, *(found or (None, None)))


def _alone(standing: Standing, turn: _Turn) -> Knob:
    place = standing.used(replace(standing.asked.options, **turn.changes))
    return Knob(turn.knob, turn.now, turn.then if place is not None else None, place)


def _together(standing: Standing, turns: Sequence[_Turn]) -> Iterator[Knob]:
    """Yield the knobs that let the chunk in when they are turned together, as few as may be."""
    names = list(dict.fromkeys(("k", *(turn.knob for turn in turns))))
    for size in range(2, len(names) + 1):
        found = [
            knob
            for some in combinations(names, size)
            # Only hybrid fuses, and another mode is not hybrid any more.
            if not {"mode", "fusion"}.issubset(some)
            for chosen in product(*([t for t in turns if t.knob == n] for n in some if n != "k"))
            if (knob := _turned_together(standing, chosen, with_k="k" in some)) is not None
        ]
        if found:
            yield from found
            return


def _turned_together(standing: Standing, chosen: Sequence[_Turn], *, with_k: bool) -> Knob | None:
    now = options = standing.asked.options
    for turn in chosen:
        options = replace(options, **turn.changes)
    names, were = [turn.knob for turn in chosen], [turn.now for turn in chosen]
    needed, place = [turn.then for turn in chosen], None
    if with_k:
        if (found := standing.smallest_k(options)) is None:
            return None
        k, place = found
        names, were, needed = ["k", *names], [now.k, *were], [k, *needed]
    else:
        place = standing.used(options)
    return Knob(TOGETHER.join(names), were, needed, place) if place is not None else None
