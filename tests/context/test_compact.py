"""What is compacted, and what is made of a summariser's answer."""

from dataclasses import replace

import pytest

from jan_magics.context.compact import (
    Stretch,
    excerpt,
    is_garbage,
    is_worth,
    made_of,
    packed,
    readable,
    stretch_of,
    tail_of,
    too_little,
)
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


def test_what_is_to_be_kept_stays_out_with_its_question() -> None:
    found = stretch(6, 2, Mark("a1", "keep", "a4", "k"))
    assert [message.id for message in found.messages] == ["q0", "a0", "q2", "a2", "q3", "a3"]


def test_a_compaction_that_begins_by_itself_protects_the_tail() -> None:
    path = talk(10, 40)
    seen = look(path, [])
    # The prompt, two turns for four messages, and no room for more.
    assert tail_of(path, seen, LETTERS, target=0, protect=4) == 3
    assert tail_of(path, seen, LETTERS, target=6 * 42, protect=4) == 4


def test_a_summary_that_frees_too_little_is_seen() -> None:
    found = stretch(5, 2)
    worth = int(found.tokens - 0.2 * found.history)
    assert is_worth(found, worth)
    assert not is_worth(found, worth + 1)
    assert too_little(found, 250) == (
        "compacting 6 messages would free 2 of 378 tokens, less than 20%"
    )


GARBAGE = [
    "", "  \n", "na " * 30, "\0\ufffd" * 40 + "<|im_end|>", "<|im_end|>\n<|im_start|>assistant",
    "好的" * 40, "The pump is sold." * 30, "\x01\x02 kg" * 9, "[/INST]",
]  # fmt: skip


@pytest.mark.parametrize("garbage", GARBAGE)
def test_what_says_nothing_is_no_summary(garbage: str) -> None:
    assert is_garbage(garbage)
    with pytest.raises(ThreadError, match="of no use"):
        made_of(stretch(5, 2), garbage, "s", LETTERS, 8000)


SAID = [
    "水泵已经卖掉了。", "👨\u200d👩\u200d👧 ok 👍", "| a | b |\n|---|---|\n| 1 | 2 |",
    "Done.<|im_end|>",
    "1. Pumps\n- P-1 is sold.\n- P-2 is sold.\n- P-3 is sold.\n- P-4 is sold.\n- P-5 is open.",
]  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_a_short_or_even_summary_is_one(text: str) -> None:
    made = made_of(stretch(5, 2), text, "s", LETTERS, 8000)
    assert made.text == text.removesuffix("<|im_end|>")


def test_the_ledger_does_not_use_up_what_a_summary_frees() -> None:
    facts = " ".join(f"table_{n:02} has {n} rows." for n in range(40))
    path = (say("q0", "user", facts), *talk(6, 60)[2:])
    found = stretch_of(path, look(path, []), LETTERS, 2)
    assert found
    made = made_of(found, "told", "s", LETTERS, 8000)
    assert is_worth(found, LETTERS.count(summary_text(made)))
    assert "table_39" in made.ledger["identifiers"]
    # What was in it before is not given up for that.
    old = Summary("a0", "told", {"paths": ("out/a.csv", "out/b.csv")}, ("q0", "a0"), "o")
    later = stretch(4, 2, old, size=2)
    assert made_of(later, "more", "s", LETTERS, 8000).ledger == old.ledger


def test_long_histories_are_divided_between_units() -> None:
    texts = readable(talk(6, 40))
    runs = packed(texts, LETTERS.count, 120)
    assert "\n\n".join(runs) == "\n\n".join(texts)
    assert max(map(len, runs)) <= 120
    # A text that is too long by itself is not lost.
    assert packed(["x" * 500], LETTERS.count, 100) == ["x" * 500]


def test_a_tool_call_is_read_with_its_results() -> None:
    call, result = ToolCallPart("1", "read", "{}"), ToolResultPart("1", "read", "rows")
    path = (
        say("q0", "user", "?"), say("a0", "assistant", "", call),
        replace(say("a1", "assistant", ""), parts=(result,)), say("a2", "assistant", "Done."),
    )  # fmt: skip
    assert readable(path) == [
        "user: ?", "assistant: \n[calls read({})]\n\nassistant: [read returns rows]"
        "\n\nassistant: Done.",
    ]  # fmt: skip


def test_a_summariser_is_shown_tools_in_short() -> None:
    call = ToolCallPart("1", "read", '{"path": "a.csv"}')
    result = ToolResultPart("1", "read", "row " * 400)
    shown = excerpt([say("a0", "assistant", "Reading.", call, result, TextPart("Done."))])
    assert shown.startswith(
        'assistant: Reading.\n[calls read({"path": "a.csv"})]\n[read returns row '
    )
    assert shown.endswith("…]\nDone.")
    assert len(shown) < 750


def test_a_summary_is_sent_in_its_own_language() -> None:
    assert summary_text(Summary("m", "told", {"paths": ("a", "b")}, (), "c")) == (
        "## Summary of the conversation so far\n\ntold\n\n"
        "### Copied from it word for word\n- paths: a; b"
    )
    assert summary_text(Summary("m", "用户要清洗数据", {}, (), "c")).startswith("## 此前对话的摘要")
    chinese = summary_text(Summary("m", "用户要清洗数据", {"paths": ("数据/a.csv",)}, (), "c"))
    assert chinese.endswith("### 原文摘录\n- 路径: 数据/a.csv")
