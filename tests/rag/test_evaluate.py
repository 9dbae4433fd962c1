"""Evaluation: a row a setting and a row a question, over any function that searches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from jan_magics.domain.errors import EmbedderError, RetrievalError, SettingError
from jan_magics.domain.retrieval import Document, Hit
from jan_magics.rag.evaluate import Search, Setting, evaluate, settings_of
from jan_magics.rag.judging import Judged, Question, Wanted, judge, read_questions
from jan_magics.rag.options import Options
from jan_magics.rag.remembered import Remembered
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.search import search
from tests.rag.library import DOCUMENTS, HASH
from tests.rag.sources import BRIDGE, HITS, MAY, NOTES, PLAN, RIVER, WordCounts, hit

WHERE_IT_FROZE = Question("freeze", (Wanted(NOTES.source, 9, 31),))
ABOUT_THE_BRIDGE = Question("桥", (Wanted(NOTES.source, 59, 67), Wanted(PLAN.source)))


def places(document: Document, text: str) -> Wanted:
    start = document.text.index(text)
    return Wanted(document.source, start, start + len(text))


def test_questions_are_read_from_rows() -> None:
    rows: list[Mapping[str, object]] = [
        {"question": "a ", "source": "x", "start": 1.0, "end": 4.0, "text": "…"},
        {"question": "b", "source": "x", "start": float("nan"), "end": float("nan")},
        {"question": "a", "source": "y", "start": "2", "end": "3"},
        {"question": "a", "source": "x", "start": 1, "end": 4},
        {"question": "c", "source": float("nan")},
        {"question": None, "source": "z"},
    ]
    assert read_questions(rows) == (
        Question("a", (Wanted("x", 1, 4), Wanted("y", 2, 3))),
        Question("b", (Wanted("x"),)),
        Question("c"),
        Question("", (Wanted("z"),)),
    )


def test_rows_that_are_no_questions_are_refused() -> None:
    with pytest.raises(SettingError, match="row 1 of the questions has no 'source'"):
        read_questions([{"question": "a"}])
    with pytest.raises(SettingError, match="row 2 of the questions has no place from 9 to 3"):
        read_questions([
            {"question": "a", "source": "x"},
            {"question": "a", "source": "x", "start": 9, "end": 3},
        ])  # fmt: skip


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [(9, 31, True), (0, 400, True), (9, 12, True), (0, 18, True), (0, 12, False), (51, 60, False)],
)
def test_a_chunk_finds_a_place_that_it_shares_half_with(start: int, end: int, found: bool) -> None:
    assert RIVER.chunk.start == 9
    assert Wanted(NOTES.source, start, end).found_by(RIVER) is found
    assert not Wanted(PLAN.source, start, end).found_by(RIVER)


def test_a_question_is_judged() -> None:
    wanted = (places(NOTES, "那座桥也关闭了。"), places(PLAN, "in May"), Wanted("none", 0, 9))
    found = judge(Question("q", wanted), HITS, 3, seconds=0.5)
    assert found.recall == found.precision == pytest.approx(2 / 3)
    assert (found.mrr, found.first_rank) == (0.5, 2)
    assert found.found == (str(wanted[0]), str(wanted[1]))
    assert found.missed == ("none[0:9]",)
    assert found.span_recall == pytest.approx(14 / 23)
    assert found.tokens == 27
    assert (found.question, found.seconds) == ("q", 0.5)
    assert judge(Question("q", wanted), HITS, 1).recall == 0


def test_r12_a_place_that_several_chunks_hold_counts_once() -> None:
    twice = (RIVER, replace(RIVER, chunk=replace(RIVER.chunk, id="again")), BRIDGE)
    question = Question("q", (places(NOTES, "The river froze early."), places(NOTES, "那座桥")))
    found = judge(question, twice, 3)
    assert (found.recall, found.ndcg, found.mrr) == (1, 1, 1)
    assert found.precision == pytest.approx(2 / 3)


def test_r12_a_source_that_is_wanted_whole_counts_once() -> None:
    found = judge(Question("q", (Wanted(PLAN.source),)), HITS, 3)
    assert found.ndcg == pytest.approx(1 / np.log2(3))
    assert (found.first_rank, found.recall) == (2, 1)
    assert (found.span_recall, found.iou) == (None, None)


def test_rows_that_are_not_used_do_not_count() -> None:
    dropped = replace(MAY, dropped_by="threshold")
    found = judge(Question("q", (Wanted(PLAN.source),)), [dropped], 3)
    assert (found.recall, found.first_rank, found.tokens) == (0, None, 0)


def asked(collection: RowCollection) -> Callable[[Setting], Search]:
    def searching(setting: Setting) -> Search:
        options = Options(**dict(setting))  # type: ignore[arg-type]
        return lambda text: search(collection, [text], options, HASH)[0].hits

    return searching


QUESTIONS = (
    Question("token budget of the window", (places(DOCUMENTS[1], "A token budget says"),)),
    Question("rename a thread", (places(DOCUMENTS[0], "Rename a thread to find it"),)),
    Question("如何重置密码", (places(DOCUMENTS[2], "如何重置密码，请看"),)),
    Question("oldest turns", (places(DOCUMENTS[1], "Trimming drops the oldest"),)),
    Question("no one knows"),
)


def test_a_row_a_setting(library: RowCollection) -> None:
    settings = settings_of({"mode": ["hybrid", "keyword"], "k": [1, 3]})
    report = evaluate(QUESTIONS, settings, asked(library))
    assert [row.setting for row in report.settings] == [
        {"mode": "hybrid", "k": 1}, {"mode": "hybrid", "k": 3},
        {"mode": "keyword", "k": 1}, {"mode": "keyword", "k": 3},
    ]  # fmt: skip
    for row in report.settings:
        assert (row.n, row.recall, row.mrr, row.ndcg) == (4, 1, 1, 1)
        assert row.precision == pytest.approx(1 / row.setting["k"])  # type: ignore[operator]
        assert (row.ndcg_low, row.ndcg_high) == (1, 1)
        assert row.span_recall == 1
        assert row.ms is not None
        assert row.tokens is not None
        assert row.ms > 0 < row.tokens
    assert [row.p_vs_first for row in report.settings] == [None, 1, 1, 1]
    assert report.notes == ("1 question with no source: not counted",)


def test_a_row_a_question(library: RowCollection) -> None:
    report = evaluate(QUESTIONS, settings_of(None), asked(library), k=2)
    judged = [each for _, each in report.questions]
    assert [each.question for each in judged] == [question.text for question in QUESTIONS]
    assert judged[0].found == ("guide/budget.md[0:19]",)
    assert (judged[-1].recall, judged[-1].first_rank, judged[-1].ndcg) == (None, None, None)


def listed(*hits: Hit) -> Search:
    return lambda _: hits


def test_settings_are_compared_with_the_first() -> None:
    questions = [replace(WHERE_IT_FROZE, text=f"q{n}") for n in range(8)]
    searches = {"good": listed(RIVER), "bad": listed(MAY, RIVER), "none": listed()}
    report = evaluate(
        questions, settings_of({"way": list(searches)}), lambda way: searches[str(way["way"])]
    )
    good, bad, none = report.settings
    assert (good.ndcg, none.ndcg) == (1, 0)
    assert bad.ndcg == pytest.approx(1 / np.log2(3))
    assert (good.p_vs_first, bad.p_vs_first, none.p_vs_first) == (None, 2 / 256, 2 / 256)
    assert none.recall == none.span_precision == none.tokens == 0


def test_r13_what_cannot_be_judged_is_counted_and_said() -> None:
    questions = [WHERE_IT_FROZE, ABOUT_THE_BRIDGE, Question("?"), Question("", (Wanted("x"),))]
    (row,) = evaluate(questions, settings_of(None), lambda _: listed(RIVER, MAY)).settings
    assert (row.n, row.recall) == (2, 0.75)
    assert row.span_recall == 1
    notes = evaluate(questions, settings_of(None), lambda _: listed()).notes
    assert notes == (
        "1 question with no source: not counted",
        "1 question with no text: not counted",
        "1 question with no characters: not in span_recall, span_precision, iou",
    )
    (empty,) = evaluate([Question("?")], settings_of(None), lambda _: listed()).settings
    assert (empty.n, empty.recall, empty.ndcg_low, empty.ms) == (0, None, None, None)


def test_r6_a_fusion_that_loses_is_said() -> None:
    searches = {"hybrid": listed(MAY, RIVER), "keyword": listed(RIVER), "vector": listed(MAY)}
    report = evaluate(
        [WHERE_IT_FROZE], settings_of({"mode": list(searches)}),
        lambda setting: searches[str(setting["mode"])],
    )  # fmt: skip
    assert report.notes == ("hybrid loses against keyword: nDCG 0.631 < 1.000",)


def test_what_makes_no_sense_is_refused(library: RowCollection) -> None:
    with pytest.raises(SettingError, match="there are no questions"):
        evaluate([], settings_of(None), asked(library))
    for k in (0, "5", True, 1.5, None):
        with pytest.raises(SettingError, match=r"is no number of rows\nAsk for one or more"):
            evaluate(QUESTIONS, [{"k": k}], lambda _: listed())
    wrong: tuple[Any, ...] = ("hybrid", [])
    for values in wrong:
        with pytest.raises(SettingError, match="the grid has no list of values for 'mode'"):
            settings_of({"mode": values})


def test_a_search_that_fails_fails_the_evaluation() -> None:
    def broken(text: str) -> Sequence[Hit]:
        raise RetrievalError(f"cannot search {text!r}", "Try again")

    with pytest.raises(RetrievalError, match="cannot search 'freeze'"):
        evaluate([WHERE_IT_FROZE], settings_of(None), lambda _: broken)


def test_the_same_questions_give_the_same_report() -> None:
    questions = [replace(WHERE_IT_FROZE, text=f"q{n}") for n in range(30)]

    def some(text: str) -> Sequence[Hit]:
        return (RIVER,) if int(text[1:]) % 3 else (MAY, RIVER)

    def run() -> list[Judged | tuple[object, ...]]:
        report = evaluate(questions, settings_of({"k": [1, 2]}), lambda _: some)
        return [(row.ndcg, row.ndcg_low, row.ndcg_high, row.p_vs_first) for row in report.settings]

    assert run() == run()


@dataclass(frozen=True)
class Counting(WordCounts):
    """Counts words, and the texts that it was asked for; once broken it gives one vector."""

    asked: list[tuple[str, ...]] = field(default_factory=list)
    broken: bool = False

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.asked.append(tuple(texts))
        return super().embed(texts[:1] if self.broken else texts, query=query)


def test_a_grid_embeds_nothing_twice() -> None:
    inner = Counting()
    embedder = Remembered(inner)
    assert embedder.embed([]).shape == (0, 512)
    first = embedder.embed(["a b", "中文", "a b"])
    again = embedder.embed(["中文", "new"])
    embedder.embed(["a b"], query=True)
    assert inner.asked == [("a b", "中文"), ("new",), ("a b",)]
    assert np.array_equal(first, inner.embed(["a b", "中文", "a b"]))
    assert np.array_equal(first[1], again[0])
    assert embedder.fingerprint == inner.fingerprint
    assert embedder.reads("中文")
    with pytest.raises(EmbedderError, match="gave 1 vectors for 2 texts"):
        Remembered(Counting(broken=True)).embed(["a", "b"])


def test_hits_of_the_library_are_as_they_are_cited() -> None:
    assert hit(NOTES, RIVER.text) == replace(RIVER, chunk=replace(RIVER.chunk, headings=()))
