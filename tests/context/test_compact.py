"""What is compacted, and what is made of a summariser's answer."""

import pytest

from jan_magics.context.compact import (
    Stretch,
    excerpt,
    is_garbage,
    made_of,
    split,
    stretch_of,
    tail_of,
)
from jan_magics.context.ledger import entries_of, ledger_of, merged
from jan_magics.context.segments import look
from jan_magics.context.summary import summary_text
from jan_magics.domain.errors import ThreadError
from jan_magics.domain.messages import TextPart, ToolCallPart, ToolResultPart
from jan_magics.domain.overlays import Mark, Overlay, Summary
from tests.context.histories import Letters, say, talk

LETTERS = Letters()


def stretch(turns: int, tail: int, *records: Overlay, size: int = 40) -> Stretch:
    path = talk(turns, size)
    found = stretch_of(path, look(path, records), LETTERS, tail)
    assert found is not None
    return found


def test_the_tail_stays_word_for_word() -> None:
    found = stretch(5, 2)
    assert [message.id for message in found.messages] == ["q0", "a0", "q1", "a1", "q2", "a2"]
    assert (found.upto, found.tokens, found.history) == ("a2", 6 * 42, 9 * 42)
    assert [m.id for m in stretch(2, 0).messages] == ["q0", "a0", "q1"]
    path = talk(2)
    assert stretch_of(path, look(path, []), LETTERS, 2) is None


def test_the_old_summary_goes_into_the_next() -> None:
    old = Summary("a1", "told", {"paths": ("a.csv",)}, ("q0", "a0", "q1", "a1"), "s")
    found = stretch(6, 2, old)
    assert [message.id for message in found.messages] == ["q2", "a2", "q3", "a3"]
    assert found.covers == (*old.covers, "q2", "a2", "q3", "a3")
    made = made_of(found, "told more", "s2", LETTERS, 8000)
    assert made.covers == found.covers
    assert made.ledger["paths"] == ("a.csv",)


def test_pins_stay_out_and_marks_go_in() -> None:
    found = stretch(6, 3, Mark("a0", "pin", "a4", "p"), Mark("a3", "summarise", "a4", "m"))
    assert [message.id for message in found.messages] == ["q1", "a1", "q2", "a2", "a3"]
    assert found.upto == "a3"


def test_a_compaction_that_begins_by_itself_protects_the_tail() -> None:
    path = talk(10, 40)
    seen = look(path, [])
    # The prompt, two turns for four messages, and no room for more.
    assert tail_of(path, seen, LETTERS, target=0, protect=4) == 3
    assert tail_of(path, seen, LETTERS, target=6 * 42, protect=4) == 4


def test_a_summary_that_frees_too_little_is_refused() -> None:
    found = stretch(5, 2)
    with pytest.raises(ThreadError, match="less than 20%"):
        made_of(found, "x" * 240, "s", LETTERS, 8000)
    for garbage in ("", "  \n", "na " * 30):
        assert is_garbage(garbage)
        with pytest.raises(ThreadError, match="of no use"):
            made_of(found, garbage, "s", LETTERS, 8000)


def test_long_histories_are_divided_between_messages() -> None:
    path = talk(6, 40)
    runs = split(path, LETTERS, 120)
    assert [message for run in runs for message in run] == list(path)
    assert max(sum(len(excerpt([m])) + 4 for m in run) for run in runs) <= 120
    # A message that is too long by itself is not lost.
    assert split([say("q0", "user", "x" * 500)], LETTERS, 100) == [(say("q0", "user", "x" * 500),)]


def test_a_summariser_is_shown_tools_in_short() -> None:
    call = ToolCallPart("1", "read", '{"path": "a.csv"}')
    result = ToolResultPart("1", "read", "row " * 400)
    shown = excerpt([say("a0", "assistant", "Reading.", call, result, TextPart("Done."))])
    assert shown.startswith(
        'assistant: Reading.\n[calls read({"path": "a.csv"})]\n[read returns row '
    )
    assert shown.endswith("…]\nDone.")
    assert len(shown) < 750


ENTRIES = {
    "urls": ("see https://example.org/a_b?x=1, please", "https://example.org/a_b?x=1"),
    "paths": ("results are in ./out/run_7/table.csv.", "./out/run_7/table.csv"),
    "numbers": ("the sample weighs 42.5 kg today", "the sample weighs 42.5 kg"),
    "identifiers": ("call fit_model with maxIter", "fit_model"),
    "prohibitions": ("Fine. Never delete the raw data! Go on.", "Never delete the raw data!"),
    "decisions": ("We decided to use polars. Next?", "We decided to use polars."),
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_the_ledger_copies_word_for_word(kind: str) -> None:
    text, wanted = ENTRIES[kind]
    assert wanted in entries_of(text)[kind]


@pytest.mark.parametrize(
    ("kind", "text", "wanted"),
    [
        ("prohibitions", "先清洗数据。不要删除原始数据!然后画图。", "不要删除原始数据!"),
        ("decisions", "我们决定采用 3.2 版。", "我们决定采用 3.2 版。"),
        ("paths", "文件在 数据/结果.csv 里", "数据/结果.csv"),
        ("numbers", "样品重 42 公斤", "样品重 42 公斤"),
    ],
)
def test_the_ledger_reads_chinese(kind: str, text: str, wanted: str) -> None:
    assert wanted in entries_of(text)[kind]


def test_a_models_own_talk_is_no_rule() -> None:
    said = ledger_of([say("a0", "assistant", "You should never do that. See a/b.csv")])
    assert "prohibitions" not in said
    assert said["paths"] == ("a/b.csv",)


def test_the_ledger_keeps_rules_before_names_and_new_before_old() -> None:
    old = {"prohibitions": ("never a", "never b"), "identifiers": ("x_1", "x_2")}
    new = {"identifiers": ("x_3", "x_1")}
    assert merged(old, new, LETTERS, 1000)["identifiers"] == ("x_1", "x_2", "x_3")
    assert merged(old, new, LETTERS, 22) == {
        "prohibitions": ("never a", "never b"),
        "identifiers": ("x_3",),
    }
    assert sum(LETTERS.count(e) for es in merged(old, new, LETTERS, 10).values() for e in es) <= 10


def test_a_summary_is_sent_in_its_own_language() -> None:
    assert summary_text(Summary("m", "told", {"paths": ("a", "b")}, (), "c")) == (
        "## Summary of the conversation so far\n\ntold\n\n"
        "### Copied from it word for word\n- paths: a; b"
    )
    assert summary_text(Summary("m", "用户要清洗数据", {}, (), "c")).startswith("## 此前对话的摘要")
