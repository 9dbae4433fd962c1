"""Citations, grounding, questions and evaluations in the columns that were promised."""

from dataclasses import replace

import pandas as pd

from jan_magics.api.retrieval_tables import (
    citations_table,
    grounding_table,
    questions_table,
    report_table,
)
from jan_magics.domain.columns import COLUMNS
from jan_magics.domain.retrieval import Hit
from jan_magics.rag.citations import cite
from jan_magics.rag.evaluate import evaluate, settings_of
from jan_magics.rag.grounding import ground
from jan_magics.rag.judging import Question, Wanted
from jan_magics.rag.questions import known_items
from tests.rag.sources import HITS, NOTES, PLAN, RIVER, TEXTS, WordCounts


def typed(table: pd.DataFrame, name: str) -> list[str]:
    """The columns behind the settings, after their types were looked at."""
    columns = COLUMNS[name]
    own = table[list(columns)]
    kinds = {"str": "string"}
    assert [str(kind) for kind in own.dtypes] == [kinds.get(k, k) for k in columns.values()]
    return list(table.columns)


def test_citations() -> None:
    answer = "It froze early [1]. 桥也关闭了[2]，真的[7]。"
    table = citations_table(cite(answer, HITS))
    assert typed(table, "citations") == list(COLUMNS["citations"])
    assert table["n"].tolist() == [1, 2]
    for source, start, end, said in zip(
        table["source"], table["start"], table["end"], table["cited_text"], strict=True
    ):
        assert TEXTS[source][int(start) : int(end)] == said
    assert table.attrs["jan"]["unknown"] == [7]
    assert typed(citations_table(cite("", ())), "citations") == list(COLUMNS["citations"])


def test_citations_without_a_score_are_unknown() -> None:
    read = replace(RIVER, score=float("nan"))
    table = citations_table(cite("It froze [1].", [read]))
    assert table["score"].isna().tolist() == [True]


def test_grounding() -> None:
    found = ground("The river froze early. Cats are nice.", HITS, WordCounts(), threshold=0.5)
    table = grounding_table(found)
    assert typed(table, "grounding") == list(COLUMNS["grounding"])
    assert table["supported"].tolist() == [True, False]
    assert table.attrs["jan"] == {
        "table": "grounding", "threshold": 0.5, "embedder": "words", "unread": 0, "passed_over": 0,
    }  # fmt: skip
    alone = grounding_table(ground("The river froze.", (), WordCounts()))
    assert alone[["score", "overlap", "chunk"]].isna().all().all()


def test_questions() -> None:
    table = questions_table(known_items([NOTES, PLAN]))
    assert typed(table, "questions") == list(COLUMNS["questions"])
    assert table["text"].tolist() == ["The river froze early. Nobody crossed it.", HITS[1].text]


def test_evaluations() -> None:
    questions = [Question("q", (Wanted(NOTES.source, 9, 31), Wanted("none", 0, 9))), Question("?")]
    settings = settings_of({"mode": ["keyword"], "where": [None, {"page": 3}]})
    report = evaluate(questions, settings, lambda _: lambda _: HITS)
    table = report_table(report)
    assert typed(table, "evaluate") == ["mode", "where", *COLUMNS["evaluate"]]
    assert table["where"].isna().tolist() == [True, False]
    assert table["where"].iloc[1] == "{'page': 3}"
    assert table["n"].tolist() == [1, 1]
    assert table["recall"].tolist() == [0.5, 0.5]
    assert table["p_vs_first"].isna().tolist() == [True, False]
    assert table.attrs["jan"]["notes"] == ["1 question with no source: not counted"]
    rows = report_table(report, per_question=True)
    assert typed(rows, "per_question") == ["mode", "where", *COLUMNS["per_question"]]
    assert rows["found"].tolist() == ["notes/河流.md[9:31]", "", "notes/河流.md[9:31]", ""]
    assert rows["missed"].tolist()[0] == "none[0:9]"
    assert rows["first_rank"].isna().tolist() == [False, True, False, True]


def nothing(question: str) -> list[Hit]:
    """Find nothing."""
    return []


def test_an_evaluation_without_a_grid_has_its_measures_only() -> None:
    report = evaluate([Question("q", (Wanted(PLAN.source),))], settings_of(None), lambda _: nothing)
    assert list(report_table(report).columns) == list(COLUMNS["evaluate"])
    rows = report_table(report, per_question=True)
    assert list(rows.columns) == list(COLUMNS["per_question"])
    assert len(rows) == 1
