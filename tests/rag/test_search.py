"""What a search finds, what it says of it, and what it refuses."""

import random
import string

import numpy as np
import pytest

from jan_magics.domain.errors import EmbedderError, RetrievalError, SettingError
from jan_magics.domain.retrieval import Document, Index, Mode
from jan_magics.rag.embed_hash import HashEmbedder
from jan_magics.rag.options import Options
from jan_magics.rag.rerank import mmr
from jan_magics.rag.row_collection import RowCollection
from tests.rag.library import DOCUMENTS, HASH, add, ask, texts

MODES: tuple[Mode, ...] = ("hybrid", "vector", "keyword")
ENGINES: tuple[Index, ...] = ("numpy", "vec0")
CHUNKS = 8


def numbered(n: int) -> Document:
    return Document("many.txt", "".join(f"entry number{i} of the list\n" for i in range(n)))


@pytest.mark.parametrize("mode", MODES)
def test_the_best_is_first(library: RowCollection, mode: Mode) -> None:
    found = ask(library, "how much of the token budget is used?", Options(mode=mode))
    assert texts(found)[0].startswith("A token budget")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("k", [1, 3, 8, 50])
def test_r11_exactly_k_or_all_that_match(library: RowCollection, mode: Mode, k: int) -> None:
    found = ask(library, "thread", Options(k=k, mode=mode, all=True))
    matching = {"hybrid": CHUNKS, "vector": CHUNKS, "keyword": 3}[mode]
    assert len(texts(found)) == min(k, matching)
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
    assert all(hit.dropped_by == "k" for hit in found.hits if not hit.used)


def test_a_row_has_the_scores_of_every_stage(library: RowCollection) -> None:
    found = ask(library, "token budget", Options(k=1, all=True))
    best, *others = found.hits
    assert best.used
    assert best.vector_rank == best.bm25_rank == 1
    assert best.vector is not None
    assert best.distance == pytest.approx(1 - best.vector)
    assert best.fused == best.score == 1.0
    assert found.facts["fusion"] == "convex"
    assert all(hit.vector is not None for hit in others)
    assert {hit.bm25 for hit in others if hit.bm25_rank is None} == {None}


def test_losers_are_kept_only_when_they_are_asked_for(library: RowCollection) -> None:
    few = ask(library, "thread", Options(k=2))
    many = ask(library, "thread", Options(k=2, all=True))
    assert len(few.hits) == 2
    assert few.candidates == many.candidates == len(many.hits) == CHUNKS
    assert few.hits == many.hits[:2]


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_r1_r2_r4_the_threshold_is_a_cosine_in_every_mode(
    library: RowCollection, mode: Mode
) -> None:
    everything = ask(library, "active thread", Options(mode=mode, all=True))
    cosines = sorted(hit.vector or 0.0 for hit in everything.hits)
    for threshold in (*cosines, 0.0, 1.0, -1.0):
        found = ask(library, "active thread", Options(mode=mode, threshold=threshold, all=True))
        for hit in found.hits:
            assert hit.vector is not None
            assert (hit.dropped_by == "threshold") == (hit.vector < threshold)
        assert len(texts(found)) == min(5, sum(cosine >= threshold for cosine in cosines))


def test_r4_a_threshold_of_zero_is_one(library: RowCollection) -> None:
    opposite = ask(library, "fork", Options(mode="vector", threshold=0.0, all=True))
    assert {hit.dropped_by for hit in opposite.hits if (hit.vector or 0) < 0} <= {"threshold"}
    assert ask(library, "fork", Options(mode="vector")).facts["threshold"] is None


@pytest.mark.parametrize("mode", MODES)
def test_r1_the_score_falls_along_the_rank(library: RowCollection, mode: Mode) -> None:
    found = ask(library, "a thread with two branches", Options(k=50, mode=mode))
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    distances = [hit.distance for hit in found.hits if hit.distance is not None]
    if mode == "vector":
        assert distances == sorted(distances)


def test_a_threshold_needs_a_cosine(library: RowCollection) -> None:
    with pytest.raises(SettingError, match=r"0\.3"):
        ask(library, "thread", Options(mode="keyword", threshold=0.3))
    with pytest.raises(SettingError, match="hash"):
        ask(library, "thread", Options(threshold=0.3), None)


@pytest.mark.parametrize("k", [0, -1])
def test_s2_no_rows_and_fewer_are_refused(library: RowCollection, k: int) -> None:
    with pytest.raises(SettingError, match=repr(k)):
        ask(library, "thread", Options(k=k))


def test_nothing_to_ask_and_nothing_to_search(empty: RowCollection, library: RowCollection) -> None:
    with pytest.raises(RetrievalError, match="question is empty"):
        ask(library, "  ")
    for document in DOCUMENTS:
        empty.remove(document.source)
    with pytest.raises(RetrievalError, match=r"(?s)is empty.*%rag add"):
        ask(empty, "thread")


def test_without_the_embedder_words_are_searched_and_it_is_said(library: RowCollection) -> None:
    found = ask(library, "token budget", embedder=None)
    assert texts(found)[0].startswith("A token budget")
    assert found.facts["mode"] == "keyword"
    assert "words only" in found.notes[0]
    with pytest.raises(EmbedderError, match="hash"):
        ask(library, "token budget", Options(mode="vector"), None)


def test_e2_vectors_of_another_embedder_are_never_compared(library: RowCollection) -> None:
    other = HashEmbedder(256, "2")
    assert other.fingerprint.dim == HASH.fingerprint.dim
    assert ask(library, "token budget", embedder=other).facts["mode"] == "keyword"
    with pytest.raises(EmbedderError):
        ask(library, "token budget", Options(mode="vector"), other)


def test_e7_a_question_without_a_vector_is_an_error_or_words(library: RowCollection) -> None:
    with pytest.raises(EmbedderError, match=r"'\?!'"):
        ask(library, "?!", Options(mode="vector"))
    found = ask(library, "?!")
    assert (found.hits, found.facts["mode"]) == ((), "keyword")


def test_e7_a_text_without_a_vector_is_listed_and_never_a_neighbour(
    empty: RowCollection,
) -> None:
    rows = add(empty, Document("odd.txt", "!!!\nwords here\n"))
    assert "no vector for 1 chunk:" in (rows[0].reason or "")
    for engine in ENGINES:
        found = ask(empty, "words", Options(mode="vector", index=engine))
        assert texts(found) == ["words here"]


@pytest.mark.parametrize("engine", ENGINES)
def test_s2_any_number_of_rows(empty: RowCollection, engine: Index) -> None:
    add(empty, numbered(4200))
    found = ask(empty, "number7 list", Options(k=4150, mode="vector", index=engine))
    assert found.facts["index"] in (engine, "pgvector")
    assert len(found.hits) == 4150


def test_s4_filters_come_before_the_cut(empty: RowCollection) -> None:
    few = Document("few.txt", "something else\nnothing of the kind\n")
    add(empty, numbered(300), few)
    for mode in ("hybrid", "vector"):
        for engine in ENGINES:
            options = Options(k=2, mode=mode, where='source = "few.txt"', index=engine)
            found = ask(empty, "entry number7 of the list", options)
            assert {hit.source for hit in found.hits} == {"few.txt"}
            assert len(found.hits) == 2
    found = ask(empty, "something list", Options(k=1, mode="keyword", where={"source": "few.txt"}))
    assert texts(found) == ["something else"]


@pytest.mark.parametrize("question", ["密", "密码", "过拟合", "机器学习", "🎉", "重置密码"])
def test_r8_chinese_of_any_length(library: RowCollection, question: str) -> None:
    found = ask(library, question, Options(mode="keyword"))
    assert question in texts(found)[0]


def test_r8_words_in_one_run_with_chinese(empty: RowCollection) -> None:
    add(empty, Document("mixed.txt", "用Python写爬虫\n用Rust写编译器\n"))
    assert texts(ask(empty, "python", Options(mode="keyword"))) == ["用Python写爬虫"]
    assert texts(ask(empty, "Rust编译", Options(mode="keyword", k=1))) == ["用Rust写编译器"]


def test_r7_any_text_is_a_question(library: RowCollection) -> None:
    rng = random.Random(7)  # noqa: S311
    signs = string.punctuation + string.ascii_letters + " \t\n\0'\"“”*()^:-+密码🎉é"
    for _ in range(2000):
        question = "".join(rng.choices(signs, k=rng.randint(1, 12)))
        if question.strip():
            assert len(ask(library, question, Options(mode="keyword")).hits) <= 5
    for question in ("AND", "thread NEAR(a b)", "body : x", '"', "a OR", "NOT thread", "{x}"):
        assert ask(library, question, Options(mode="keyword")).facts["mode"] == "keyword"


def test_words_in_quotes_stand_together(library: RowCollection) -> None:
    assert texts(ask(library, '"active path"', Options(mode="keyword"))) == [
        "The active path of a thread is the one that is shown."
    ]
    assert ask(library, '"path active"', Options(mode="keyword")).hits == ()


def test_r5_a_fused_rank_is_a_share_of_the_best_possible(library: RowCollection) -> None:
    found = ask(library, "token budget", Options(fusion="rrf"))
    assert found.hits[0].score == pytest.approx(1.0)
    assert found.hits[0].metric == "rrf"
    assert "weight" not in found.facts


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_weight_at_its_end_is_one_side_alone(library: RowCollection, weight: float) -> None:
    found = ask(library, "thread branches", Options(weight=weight, k=3))
    side = ask(library, "thread branches", Options(mode="vector" if weight else "keyword", k=3))
    assert texts(found) == texts(side)


def test_r10_mmr_by_hand() -> None:
    rows = np.array([[1, 0], [1, 0], [0, 1], [0.6, 0.8]], np.float32)
    relevance = [0.9, 0.89, 0.5, 0.7]
    assert [place for place, _ in mmr(relevance, rows, 1.0)] == [0, 1, 3, 2]
    # Behind the first, its double has 0.5·0.89 − 0.5·1, the third 0.25 − 0, the last 0.35 − 0.3.
    order = mmr(relevance, rows, 0.5)
    assert [place for place, _ in order] == [0, 2, 3, 1]
    assert [round(value, 3) for _, value in order] == [0.45, 0.25, -0.05, -0.055]


def test_r10_mmr_puts_variety_first(empty: RowCollection) -> None:
    add(empty, Document("a.txt", "apple cherry\napple cherry !\nbanana date\n"))
    plain = texts(ask(empty, "apple banana", Options(mode="vector", k=3)))
    various = ask(empty, "apple banana", Options(mode="vector", k=3, rerank="mmr"))
    assert sorted(plain) == sorted(texts(various))
    assert "banana date" in texts(various)[:2]
    assert {hit.metric for hit in various.hits} == {"mmr"}
