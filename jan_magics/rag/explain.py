"""Why a chunk lost: where it stood at each stage, and which knobs would let it in.

Nothing is estimated: every answer was searched with the knobs turned.
"""

from dataclasses import dataclass

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.protocols import Embedder
from jan_magics.rag.candidates import Candidate
from jan_magics.rag.knobs import Knob, knobs_of
from jan_magics.rag.options import Options, check
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.search import ask
from jan_magics.rag.standing import Stage, Standing
from jan_magics.rag.where import read


@dataclass(frozen=True, slots=True)
class Explained:
    """How a chunk stands with the options as they are, the knobs, and what each stage says of it.

    `lost_at` is `where` (the filter), `pool` (no stage saw it), what `dropped_by` of a hit says,
    or None where it is used, at `rank`.
    """

    lost_at: str | None
    rank: int | None
    candidate: Candidate | None
    knobs: tuple[Knob, ...]
    notes: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()


def explain(
    collection: RowCollection,
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
        (asked,) = ask(snapshot, [question], options, where, embedder)
        standing = Standing(snapshot, asked, number)
        outside = where is not None and number not in set(snapshot.passing(where))
        found, place = standing.at(asked.options)
        lost_at = "where" if outside else "pool" if found is None else found.dropped_by
        knobs = () if found and lost_at is None else tuple(knobs_of(standing, outside=outside))
        stages = standing.stages()
    rank_now = place if lost_at is None else None
    return Explained(lost_at, rank_now, found, knobs, asked.notes, stages)
