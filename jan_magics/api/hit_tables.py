"""Hits, sources, documents and collections as tables."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jan_magics.domain.messages import Json
from jan_magics.domain.retrieval import DocumentRow, Hit
from jan_magics.engine.given import Retrieved
from jan_magics.frames import frame
from jan_magics.rag.knobs import TOGETHER

if TYPE_CHECKING:
    import pandas as pd

    from jan_magics.rag.explain import Explained
    from jan_magics.rag.knobs import Knob
    from jan_magics.rag.search import Found
    from jan_magics.rag.standing import Stage


def hits_table(found: Sequence["Found"], *, several: bool) -> "pd.DataFrame":
    """Return a row a hit; with `several` questions, the question first.

    `attrs` say how it was searched; of several questions, in a list.
    """
    table = frame("hits", [hit_row(hit) for each in found for hit in each.hits])
    if several:
        asked = [each.question for each in found for _ in each.hits]
        table.insert(0, "question", asked)
    facts = [{**each.facts, "candidates": each.candidates} for each in found]
    table.attrs["jan"] |= {"searches": facts} if several else dict(*facts)
    table.attrs["jan"]["said"] = [line for each in found for line in _said(each)]
    return table


def hit_row(hit: Hit) -> dict[str, Any]:
    """Return a hit as a row of `hits`."""
    chunk = hit.chunk
    return {
        "rank": hit.rank, "score": hit.score, "used": hit.used, "dropped_by": hit.dropped_by,
        "source": hit.source, "headings": " › ".join(chunk.headings) or None, "page": chunk.page,
        "tokens": chunk.tokens, "vector": hit.vector, "vector_rank": hit.vector_rank,
        "bm25": hit.bm25, "bm25_rank": hit.bm25_rank, "fused": hit.fused, "rerank": hit.rerank,
        "metric": hit.metric, "distance": hit.distance, "chunk": chunk.id, "start": chunk.start,
        "end": chunk.end, "text": hit.text,
    }  # fmt: skip


def sources_table(given: Retrieved | None, cited: Iterable[int]) -> "pd.DataFrame":
    """Return what was sent with a prompt, by number; `cited` are the numbers in the answer."""
    numbers = frozenset(cited)
    hits = given.hits if given else ()
    table = frame("sources", (_source(hit, n, numbers) for n, hit in enumerate(hits, 1)))
    if given and given.facts:
        table.attrs["jan"] |= {**given.facts, "collection": given.name}
    return table


def documents_table(rows: Iterable[DocumentRow]) -> "pd.DataFrame":
    """Return a row a document: what became of it, or how it stands."""
    return frame("documents", map(asdict, rows))


def explained_table(explained: "Explained") -> "pd.DataFrame":
    """Return a row a knob, then a row a stage: the score and rank there, and the score needed.

    `attrs` say at which stage the chunk was lost, None where it is used.
    """
    rows = [
        {"knob": each.knob, "now": _written(each.now), "rank_then": each.rank_then,
         "needed": None if each.rank_then is None else _written(each.needed)}
        for each in explained.knobs
    ]  # fmt: skip
    table = frame("explain", [*rows, *map(_stage_row, explained.stages)])
    table.attrs["jan"] |= {
        "lost_at": explained.lost_at, "rank": explained.rank, "notes": list(explained.notes),
        "stages": list(map(asdict, explained.stages)), "said": _standing(explained),
    }  # fmt: skip
    return table


def _written(value: Json) -> str:
    """Return a value as it is typed; those of knobs that are turned together with + between."""
    if isinstance(value, list):
        return TOGETHER.join(map(_written, value))
    return value if isinstance(value, str) else "none" if value is None else json.dumps(value)


def _stage_row(stage: "Stage") -> dict[str, Any]:
    place = "" if stage.rank is None else f" (rank {stage.rank})"
    now = None if stage.score is None else f"{stage.score:.4g}{place}"
    needed = None if stage.needed is None else f"{stage.needed:.4g}"
    return {"knob": f"stage: {stage.stage}", "now": now, "needed": needed}


def _standing(explained: "Explained") -> str:
    """Say in a line where a chunk was lost, and what would let it in."""
    if explained.lost_at is None:
        return f"used, at rank {explained.rank}"
    enough = [each for each in explained.knobs if each.rank_then is not None]
    named = ", or ".join(map(_turned, enough))
    return f"lost at {explained.lost_at} · " + (f"let in by {named}" if named else "nothing helps")


def _turned(knob: "Knob") -> str:
    names = knob.knob.split(TOGETHER)
    values = knob.needed if isinstance(knob.needed, list) else [knob.needed]
    pairs = zip(names, values, strict=True)
    return TOGETHER.join(f"{name} {_written(value)}" for name, value in pairs)


def collections_table(rows: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """Return a row a collection."""
    return frame("collections", rows)


def _source(hit: Hit, n: int, cited: frozenset[int]) -> dict[str, Any]:
    return {**hit_row(hit), "n": n, "cited": n in cited}


def _said(found: "Found") -> Iterator[str]:
    """Yield what a search has to say beside its rows: how many were used, and what was not."""
    used = sum(hit.used for hit in found.hits)
    missed = found.candidates - used
    if missed:
        misses = "1 near miss" if missed == 1 else f"{missed:,} near misses"
        yield f"{used} used · {misses} (--all)"
    elif not used:
        yield "nothing was found: no chunk has these words, or passes the filter"
    yield from found.notes
