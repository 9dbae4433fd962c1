"""Why a chunk lost: the knobs that are named really let it in, and the others do not."""

from dataclasses import replace
from typing import Any

import pytest

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.retrieval import Document
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.explain import Explained, explain
from jan_magics.rag.options import Options
from tests.rag.library import HASH, add, ask

QUESTION = "thread with two branches"
MANY = Document("many.txt", "".join(f"thread number{i} of the list\n" for i in range(90)))


@pytest.fixture
def full(library: SqliteCollection) -> SqliteCollection:
    add(library, MANY)
    return library


def chunk(collection: SqliteCollection, text: str) -> str:
    everything = ask(collection, text, Options(k=1, mode="keyword"))
    return everything.hits[0].chunk.id


def why(collection: SqliteCollection, identity: str, options: Options) -> Explained:
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
def test_each_knob_does_what_it_says(
    full: SqliteCollection, options: Options, lost_at: str
) -> None:
    identity = chunk(full, "number77")
    told = why(full, identity, options)
    assert told.lost_at in (lost_at, "pool")
    rows = [(each.knob, str(each.needed)) for each in told.knobs]
    assert len(set(rows)) == len(rows)
    assert told.knobs
    for knob in told.knobs:
        turned: Any = {knob.knob: knob.needed}
        changed = replace(options, **turned)
        if knob.rank_then is None:
            assert knob.needed is None
            continue
        used = {hit.chunk.id: hit.rank for hit in ask(full, QUESTION, changed).hits}
        assert used.get(identity) == knob.rank_then
        if knob.knob == "k" and isinstance(knob.needed, int):
            fewer = ask(full, QUESTION, replace(options, k=knob.needed - 1))
            assert identity not in {hit.chunk.id for hit in fewer.hits}


def test_a_threshold_is_told_to_the_fourth_place(full: SqliteCollection) -> None:
    best = ask(full, QUESTION, Options(k=1, mode="vector")).hits[0]
    assert best.vector is not None
    options = Options(k=1, mode="vector", threshold=best.vector + 0.01)
    told = why(full, best.chunk.id, options)
    knob = {each.knob: each for each in told.knobs}["threshold"]
    assert told.lost_at == "threshold"
    assert best.vector - 0.0003 < float(str(knob.needed)) <= best.vector
    assert knob.rank_then == 1


def test_a_chunk_that_is_used_has_nothing_to_explain(full: SqliteCollection) -> None:
    best = ask(full, QUESTION, Options(k=1)).hits[0]
    told = why(full, best.chunk.id, Options(k=3))
    assert (told.lost_at, told.rank, told.knobs) == (None, 1, ())


def test_a_chunk_without_the_words_is_let_in_by_another_mode(full: SqliteCollection) -> None:
    identity = chunk(full, "密码")
    told = why(full, identity, Options(k=5, mode="keyword"))
    assert told.lost_at == "pool"
    assert {each.knob: each.needed for each in told.knobs}["k"] is None


def test_an_unknown_chunk(full: SqliteCollection) -> None:
    with pytest.raises(RetrievalError, match="'nothing'"):
        why(full, "nothing", Options())
