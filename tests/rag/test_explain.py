"""Why a chunk lost: the knobs that are named really let it in, and the others do not."""

from dataclasses import replace
from typing import Any

import pytest

from jan_magics.api.hit_tables import explained_table
from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.retrieval import Document, Mode
from jan_magics.rag.explain import Explained, explain
from jan_magics.rag.knobs import TOGETHER, Knob
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from tests.rag.library import HASH, add, ask

QUESTION = "thread with two branches"
MANY = Document("many.txt", "".join(f"thread number{i} of the list\n" for i in range(90)))


@pytest.fixture
def full(library: RowCollection) -> RowCollection:
    add(library, MANY)
    return library


def chunk(collection: RowCollection, text: str) -> str:
    everything = ask(collection, text, Options(k=1, mode="keyword"))
    return everything.hits[0].chunk.id


def why(collection: RowCollection, identity: str, options: Options) -> Explained:
    return explain(collection, QUESTION, identity, options, HASH)


@pytest.mark.parametrize(
    ("options", "lost_at"),
    [
        (Options(k=1), "k"),
        (Options(k=1, mode="vector"), "k"),
        (Options(k=1, mode="keyword"), "k"),
        (Options(k=2, fusion="rrf"), "k"),
        (Options(k=2, threshold=0.9), "threshold"),
        (Options(k=2, where={"source": "zh.txt"}), "where"),
        (Options(k=2, rerank="mmr"), "recall"),
    ],
)
def test_each_knob_does_what_it_says(full: RowCollection, options: Options, lost_at: str) -> None:
    identity = chunk(full, "number77")
    told = why(full, identity, options)
    assert told.lost_at in (lost_at, "pool")
    rows = [(each.knob, str(each.needed)) for each in told.knobs]
    assert len(set(rows)) == len(rows)
    assert told.knobs
    for knob in told.knobs:
        changed = turned(options, knob)
        if knob.rank_then is None:
            assert knob.needed is None
            continue
        used = {hit.chunk.id: hit.rank for hit in ask(full, QUESTION, changed).hits}
        assert used.get(identity) == knob.rank_then
        if knob.knob == "k" and isinstance(knob.needed, int):
            fewer = ask(full, QUESTION, replace(options, k=knob.needed - 1))
            assert identity not in {hit.chunk.id for hit in fewer.hits}


def turned(options: Options, knob: Knob) -> Options:
    """The options with a knob turned, or with all of those that are turned together."""
    names = knob.knob.split(TOGETHER)
    values = knob.needed if isinstance(knob.needed, list) else [knob.needed]
    changes: Any = dict(zip(names, values, strict=True))
    return replace(options, **changes)


@pytest.mark.parametrize(
    ("options", "together"),
    [
        (Options(k=1, threshold=0.9), "k + threshold"),
        (Options(k=1, threshold=0.9, mode="vector"), "k + threshold"),
        (Options(k=1, where={"source": "zh.txt"}), "k + where"),
        (Options(k=1, threshold=0.9, where={"source": "zh.txt"}), "k + threshold + where"),
    ],
)
def test_knobs_that_help_only_together_are_told_together(
    full: RowCollection, options: Options, together: str
) -> None:
    identity = chunk(full, "number77")
    told = why(full, identity, options)
    alone = [each for each in told.knobs if TOGETHER not in each.knob]
    assert alone
    assert all(each.rank_then is None for each in alone)
    several = [each for each in told.knobs if TOGETHER in each.knob]
    assert together in [each.knob for each in several]
    for knob in several:
        used = {hit.chunk.id: hit.rank for hit in ask(full, QUESTION, turned(options, knob)).hits}
        assert used.get(identity) == knob.rank_then
        assert len(knob.knob.split(TOGETHER)) == len(together.split(TOGETHER))
    table = explained_table(told)
    row = table[table["knob"] == together].iloc[0]
    assert row["now"].startswith("1 + ")
    said = table.attrs["jan"]["said"]
    assert f"let in by k {row['needed'].partition(' ')[0]} + {together.split(TOGETHER)[1]} " in said


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
@pytest.mark.parametrize("question", [QUESTION, "如何重置密码"])
def test_each_stage_says_what_it_saw(full: RowCollection, mode: Mode, question: str) -> None:
    options = Options(k=2, mode=mode)
    everything = ask(full, question, replace(options, all=True)).hits
    for hit in (everything[0], everything[-1]):
        told = explain(full, question, hit.chunk.id, options, HASH)
        stages = {each.stage: each for each in told.stages}
        assert list(stages) == {
            "hybrid": ["vector", "bm25", "fused"], "vector": ["vector"], "keyword": ["bm25"],
        }[mode]  # fmt: skip
        last = told.stages[-1]
        assert last.score == hit.score
        assert (last.needed is None) == hit.used
        assert last.rank == hit.rank
        if not hit.used:
            assert last.needed == everything[1].score
        if "vector" in stages:
            assert stages["vector"].score == pytest.approx(hit.vector)
            assert hit.vector_rank in (stages["vector"].rank, None)


def test_a_chunk_that_no_stage_saw_is_told_how_far_away_it_is(full: RowCollection) -> None:
    identity = chunk(full, "密码")
    told = why(full, identity, Options(k=1))
    vector, words, fused = told.stages
    assert told.lost_at == "pool"
    assert vector.rank is not None
    assert vector.rank > 50
    assert vector.score is not None
    assert vector.needed is not None
    assert vector.score <= vector.needed
    assert (words.score, words.rank) == (None, None)
    assert (fused.score, fused.rank) == (None, None)
    assert fused.needed is not None
    rows = explained_table(told).set_index("knob")
    assert rows["now"]["stage: vector"] == f"{vector.score:.4g} (rank {vector.rank})"
    assert rows["now"].isna()["stage: bm25"]
    assert rows["rank_then"].isna()["stage: vector"]


def test_a_threshold_is_told_to_the_fourth_place(full: RowCollection) -> None:
    best = ask(full, QUESTION, Options(k=1, mode="vector")).hits[0]
    assert best.vector is not None
    options = Options(k=1, mode="vector", threshold=best.vector + 0.01)
    told = why(full, best.chunk.id, options)
    knob = {each.knob: each for each in told.knobs}["threshold"]
    assert told.lost_at == "threshold"
    assert best.vector - 0.0003 < float(str(knob.needed)) <= best.vector
    assert knob.rank_then == 1


def test_a_chunk_that_is_used_has_nothing_to_explain(full: RowCollection) -> None:
    best = ask(full, QUESTION, Options(k=1)).hits[0]
    told = why(full, best.chunk.id, Options(k=3))
    assert (told.lost_at, told.rank, told.knobs) == (None, 1, ())
    assert [each.needed for each in told.stages] == [None, None, None]
    assert explained_table(told).attrs["jan"]["said"] == "used, at rank 1"


def test_a_chunk_without_the_words_is_let_in_by_another_mode(full: RowCollection) -> None:
    identity = chunk(full, "密码")
    told = why(full, identity, Options(k=5, mode="keyword"))
    assert told.lost_at == "pool"
    assert {each.knob: each.needed for each in told.knobs}["k"] is None


def test_an_unknown_chunk(full: RowCollection) -> None:
    with pytest.raises(RetrievalError, match="'nothing'"):
        why(full, "nothing", Options())
