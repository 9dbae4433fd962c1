"""Why a chunk lost: which knob would let it in, how far it must be turned, and where it then is.

Nothing is estimated: every answer was searched with the knob turned.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.messages import Json
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Fusion
from jan_magics.rag.candidates import Candidate
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.options import Options, check
from jan_magics.rag.search import Asked, ask, rank
from jan_magics.rag.snapshot import Snapshot
from jan_magics.rag.where import read

Look: TypeAlias = Callable[[Options], Candidate | None]
"""Returns how a chunk stands when it is searched with these options; None is no candidate."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A setting: what it is, what it must be so that the chunk is used, and its rank then.

    `needed` and `rank_then` are None where turning this knob alone does not let it in.
    """

    knob: str
    now: Json
    needed: Json
    rank_then: int | None


@dataclass(frozen=True, slots=True)
class Explained:
    """How a chunk stands with the options as they are, and the knobs.

    `lost_at` is `where` (the filter), `pool` (no stage saw it), what `dropped_by` of a hit says,
    or None where it is used, at `rank`.
    """

    lost_at: str | None
    rank: int | None
    candidate: Candidate | None
    knobs: tuple[Knob, ...]
    notes: tuple[str, ...] = ()


def explain(
    collection: SqliteCollection,
    question: str,
    chunk_id: str,
    options: Options,
    embedder: Embedder | None,
) -> Explained:
    """Tell why a chunk is not among the rows of a question.

    Raises:
        RetrievalError: when there is no such chunk; else as `search` does.
    """
    check(options)
    where = read(options.where)
    with collection.snapshot(options.index) as snapshot:
        number = snapshot.number(chunk_id)
        if number is None:
            raise RetrievalError(
                f"no chunk {chunk_id!r} in this collection",
                "Take an id from the column `chunk`: %rag search --all TEXT",
            )
        (asked,) = ask(snapshot.fingerprint, [question], options, where, embedder)
        standing = _Standing(snapshot, asked, number)
        outside = where is not None and number not in set(snapshot.passing(where))
        found, place = standing.at(asked.options)
        lost_at = "where" if outside else "pool" if found is None else found.dropped_by
        knobs = () if found and lost_at is None else tuple(standing.knobs(outside=outside))
    rank_now = place if lost_at is None else None
    return Explained(lost_at, rank_now, found, knobs, asked.notes)


class _Standing:
    """How one chunk stands for one question, under any options."""

    def __init__(self, snapshot: Snapshot, asked: Asked, number: int) -> None:
        self._snapshot = snapshot
        self._asked = asked
        self._number = number

    def at(self, options: Options) -> tuple[Candidate | None, int | None]:
        """Return the chunk as a candidate and its rank; None where it is no candidate."""
        changed = replace(options, all=True)
        asked = replace(self._asked, options=changed, where=read(options.where))
        for place, each in enumerate(rank(self._snapshot, asked).candidates, 1):
            if each.number == self._number:
                return each, place
        return None, None

    def used(self, options: Options) -> int | None:
        """Return the rank of the chunk where it is used."""
        found, place = self.at(options)
        return place if found is not None and found.dropped_by is None else None

    def knobs(self, *, outside: bool) -> Iterator[Knob]:
        """Yield every knob that there is to turn."""
        now = self._asked.options
        yield self._k(now)
        if now.threshold is not None:
            yield self._threshold(now)
        if outside:
            yield self._turned("where", str(now.where), None, replace(now, where=None))
        if now.rerank is not None:
            name = now.rerank if now.rerank == "mmr" else now.rerank.name
            yield self._turned("rerank", name, None, replace(now, rerank=None))
        if now.mode == "hybrid":
            other: Fusion = "rrf" if now.fusion == "convex" else "convex"
            changed = replace(now, fusion=other)
            yield self._turned("fusion", now.fusion, other, changed)
        yield from self._modes(now)

    def _modes(self, now: Options) -> Iterator[Knob]:
        """Yield the other modes that let the chunk in; where none does, one row says so."""
        found = []
        for mode in ("hybrid", "vector", "keyword"):
            no_cosine = mode == "keyword" and now.threshold is not None
            if mode != now.mode and self._asked.query is not None and not no_cosine:
                found.append(self._turned("mode", now.mode, mode, replace(now, mode=mode)))
        helping = [knob for knob in found if knob.rank_then is not None]
        yield from helping or found[:1]

    def _turned(self, knob: str, now: Json, needed: Json, options: Options) -> Knob:
        place = self.used(options)
        return Knob(knob, now, needed if place is not None else None, place)

    def _k(self, now: Options) -> Knob:
        """Find the smallest k that lets the chunk in; more rows mean more candidates, too."""
        total = self._snapshot.count()
        high = now.k
        while (place := self.used(replace(now, k=high))) is None and high < total:
            high = min(total, 2 * high)
        if place is None:
            return Knob("k", now.k, None, None)
        low = now.k
        while low < high:
            middle = (low + high) // 2
            if self.used(replace(now, k=middle)) is None:
                low = middle + 1
            else:
                high = middle
        return Knob("k", now.k, high, self.used(replace(now, k=high)))

    def _threshold(self, now: Options) -> Knob:
        found, _ = self.at(now)
        if found is None or found.vector is None:
            return Knob("threshold", now.threshold, None, None)
        # Rounded down, so that what is shown is enough.
        needed = int(found.vector * 1e4 - 1) / 1e4
        if now.threshold is not None and needed >= now.threshold:
            return Knob("threshold", now.threshold, None, None)
        return self._turned("threshold", now.threshold, needed, replace(now, threshold=needed))
