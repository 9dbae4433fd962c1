"""The context window from Python: what is returned, and what is refused with the next step."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

import jan_magics as jan
from jan_magics.domain.errors import ContextOverflow, JanError, SettingError, ThreadError


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[jan.Chat]:
    with jan.Chat("t", model="offline:echo", data_folder=str(tmp_path)) as opened:
        yield opened


def test_an_empty_thread_has_a_plan_and_a_budget(chat: jan.Chat) -> None:
    assert list(chat.plan().index) == []
    assert chat.plan("你好 🦊").text.tolist() == ["你好 🦊"]
    assert chat.plan("x").id.isna().all()
    budget = chat.budget().set_index("piece").tokens
    assert budget.sum() == 8192
    assert budget["reserve"] == 2048


REFUSED: tuple[tuple[Callable[[jan.Chat], Any], type[JanError], str], ...] = (
    (lambda chat: chat.clear(), ThreadError, "nothing to clear"),
    (lambda chat: chat.compact(), ThreadError, "nothing was asked here yet"),
    (lambda chat: chat.mark([], "pin"), SettingError, "names no messages"),
    (lambda chat: chat.mark([cast(str, 3)], "pin"), SettingError, "[3] names no messages"),
    (lambda chat: chat.apply(pd.DataFrame()), SettingError, "no column action, id"),
    (lambda chat: chat.send("x", window=-1), SettingError, "window is -1"),
    (lambda chat: chat.send("x", overflow="shrink"), SettingError, "overflow is 'shrink'"),
    (lambda chat: chat.grid("x"), SettingError, "no settings to try"),
    (lambda chat: chat.grid("x", model=["offline:echo", "nope:m"]), SettingError, "'nope'"),
    (lambda chat: chat.clear(off=True), ThreadError, "no cleared context"),
    (lambda chat: chat.compact(off=True), ThreadError, "no summary to take back"),
    (lambda chat: chat.send("x" * 1000, window=50), ContextOverflow, "window of 50"),
)


@pytest.mark.parametrize(("call", "kind", "said"), REFUSED, ids=[said for *_, said in REFUSED])
def test_what_cannot_be_is_refused_with_the_next_step(
    chat: jan.Chat, call: Callable[[jan.Chat], Any], kind: type[JanError], said: str
) -> None:
    with pytest.raises(kind) as caught:
        call(chat)
    assert said in caught.value.message
    assert caught.value.next_step
    assert list(jan.threads().index) == [] or chat.messages().empty


def test_a_grid_row_that_fails_is_a_row(chat: jan.Chat) -> None:
    chat.send("one", show=False)
    found = chat.grid("two", needle="TWO", fail=[None, "before"], temperature=0.5)
    assert found.columns.tolist()[:2] == ["fail", "temperature"]
    assert found.finish.tolist() == ["stop", "error"]
    assert found.recalled.tolist()[0] is True
    assert found.answer[1]
    assert len(chat.messages()) == 2


def test_what_is_sent_says_where_every_span_came_from(chat: jan.Chat) -> None:
    chat.use(window=700, system="be brief")
    for n in range(9):
        chat.send(
            f"{n} what is the answer to the question of questions, and of all of them?", show=False
        )
    chat.compact(keep=3)
    answer = chat.send("next", show=False)
    assert answer.sent["system_from"] == ["instructions", "a summary of 12 messages"]
    assert answer.sent["system"].startswith("be brief\n\n## Summary")
    stored = set(chat.messages().id)
    assert {message["from"] for message in answer.sent["messages"]} <= stored
    plan = answer.plan
    assert plan.action.value_counts().to_dict() == {"summarise": 12, "keep": 9}
    assert plan.reason.tolist()[:2] == ["instructions", "summary of 12 messages"]
    sent = plan[plan.action == "keep"]
    assert sent.tokens.sum() == sent.cumulative.iloc[-1]


def test_an_answer_by_hand_has_no_plan(chat: jan.Chat) -> None:
    answer = chat.send("one", show=False)
    edited = chat.edit(answer.message, "by hand")
    with pytest.raises(ThreadError, match="nothing was sent"):
        _ = edited.plan


def test_a_side_turn_sees_the_history_and_leaves_the_thread(chat: jan.Chat) -> None:
    chat.send("one", show=False)
    found = chat.grid("two", window=[0])
    assert found.kept.tolist() == [3]
    assert chat.send("three", show=False).sent["messages"][-2]["text"] == "one"


def test_repairs_are_told_and_not_stored(chat: jan.Chat) -> None:
    chat.send("a\x00b 你好", show=False)
    answer = chat.send("and now?", show=False)
    assert set(answer.repairs.rule) == {"characters"}
    assert "\ufffd" in answer.repairs.after[0]
    assert "\x00" not in answer.sent["messages"][0]["text"]
    assert chat.messages().text[0] == "a\x00b 你好"
    assert chat.send("clean", history=False, show=False).repairs.empty


def test_what_was_taken_off_comes_back_by_undo(chat: jan.Chat) -> None:
    chat.use(window=700)
    for n in range(9):
        text = f"{n} what is the answer to the question of questions, and of all of them?"
        chat.send(text, show=False)
    chat.compact(keep=2)
    chat.compact(off=True)
    assert set(chat.messages().status) == {"active"}
    chat.undo()
    assert set(chat.messages().status) == {"active", "compressed"}
    chat.undo()
    assert set(chat.messages().status) == {"active"}
    chat.clear()
    chat.clear(off=True)
    assert set(chat.messages().status) == {"active"}
    chat.undo()
    assert set(chat.messages().status) == {"archived_segment"}


def test_a_summary_is_cleared_too(chat: jan.Chat) -> None:
    chat.use(window=700)
    for n in range(9):
        text = f"{n} what is the answer to the question of questions, and of all of them?"
        chat.send(text, show=False)
    chat.compact(keep=0)
    chat.clear()
    assert chat.send("next", show=False).sent["system"] == ""


@pytest.mark.parametrize("name", ["safety", "strategy", "keep", "trim_to"])
def test_a_setting_is_no_parameter(chat: jan.Chat, name: str) -> None:
    with pytest.raises(SettingError, match=f"{name} is a setting"):
        chat.send("x", **cast(Any, {name: 1}))


def test_a_grid_tries_settings_of_the_budget(chat: jan.Chat) -> None:
    for n in range(12):
        chat.send(
            f"{n} 数据 " + "what is the answer to the question of questions? " * 2, show=False
        )
    found = chat.grid("and now?", window=[700], trim_to=[0.2, 0.9], strategy="recent")
    assert found.columns.tolist()[:3] == ["window", "trim_to", "strategy"]
    assert found.kept[0] < found.kept[1]
    kept = chat.grid("x", tokenizer=["chars/3.5", "estimate"])
    assert kept.sent_tokens[0] != kept.sent_tokens[1]
    with pytest.raises(SettingError, match="strategy from the grid is 'newest'"):
        chat.grid("x", strategy=["recent", "newest"])
    with pytest.raises(SettingError, match="trim_to from the grid"):
        chat.grid("x", trim_to=[7])


@pytest.mark.parametrize(("column", "value"), [("text", "another 文字"), ("role", "assistant")])
def test_only_the_actions_of_a_plan_can_be_changed(chat: jan.Chat, column: str, value: str) -> None:
    chat.send("one", show=False)
    chat.send("two", show=False)
    plan = chat.plan("three")
    plan.loc[0, column] = value
    with pytest.raises(SettingError, match=f"the {column} of row") as caught:
        chat.apply(plan)
    assert "chat.edit(" in caught.value.next_step
    assert chat.messages().text[0] == "one"


def test_nothing_to_compact_says_what_is_sent_and_the_way_back(chat: jan.Chat) -> None:
    for n in range(3):
        chat.send(f"{n} what is the answer to the question of questions?", show=False)
    with pytest.raises(ThreadError, match="what is sent is 3 turns, and the last 4 stay"):
        chat.compact(keep=4)
    chat.clear()
    with pytest.raises(ThreadError, match="no message here is sent word for word") as caught:
        chat.compact()
    assert caught.value.next_step == "Back: %chat clear --off"


def test_what_does_not_fit_names_what_would_help(chat: jan.Chat) -> None:
    chat.send("一 " + "word " * 200, show=False)
    with pytest.raises(ContextOverflow) as alone:
        chat.send("x " * 400, window=200, show=False)
    assert alone.value.next_step == (
        "Shorten the prompt (373 tokens), set a larger window: --window N,"
        " or ask a model with a larger window: %chat models"
    )
    with pytest.raises(ContextOverflow) as strict:
        chat.send("x", window=200, overflow="error", show=False)
    assert strict.value.next_step == (
        "Ask with --overflow trim or --no-history, or make room: %chat compact"
    )
    chat.mark(chat.messages().id[0], "pin")
    with pytest.raises(ContextOverflow, match="does not fit") as pinned:
        chat.send("x", window=200, show=False)
    assert pinned.value.next_step.startswith("Drop what is marked (")
    assert "%chat mark ID drop" in pinned.value.next_step


def test_a_blank_action_names_its_row(chat: jan.Chat) -> None:
    chat.send("one", show=False)
    plan = chat.plan("two")
    plan.loc[0, "action"] = None
    with pytest.raises(SettingError, match="in row 1"):
        chat.apply(plan)


def test_small_requests_teach_nothing_of_large_ones(chat: jan.Chat) -> None:
    before = chat.plan("word " * 2000).tokens.iloc[-1]
    for _ in range(8):
        chat.send("hi", show=False)
    assert chat.plan("word " * 2000).tokens.iloc[-1] == before


EDITS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "another text": (lambda plan: plan.assign(text="x"), "the text of row"),
    "taken out": (lambda plan: plan[plan.n > 2], "was taken out of the table (2 in all)"),
    "added": (
        lambda plan: pd.concat([plan, plan.tail(1).assign(n=99)]),
        "row 99 is not in the plan",
    ),
    "twice": (
        lambda plan: pd.concat([plan, plan.head(1).assign(action="drop")]),
        "is there twice, as 'keep' and as 'drop'",
    ),
    "the prompt's text": (
        lambda plan: plan.assign(text=[*plan.text[:-1], "x"]),
        "(prompt) was changed; here only `action` can be",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_that_would_be_passed_over_is_refused(chat: jan.Chat, edit: str) -> None:
    for n in range(3):
        chat.send(f"{n}", show=False)
    plan = chat.plan("next")
    change, why = EDITS[edit]
    edited = change(plan)
    edited.attrs = plan.attrs
    with pytest.raises(SettingError, match=re.escape(why)):
        chat.apply(edited)
    assert set(chat.messages().status) == {"active"}
    assert chat.apply(plan.iloc[::-1]) is chat


def test_a_plan_says_that_a_compaction_comes_first(
    chat: jan.Chat, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in range(6):
        chat.send(f"{n} " + "word " * 60, show=False)
    chat.use(overflow="compact", window=700)
    plan = chat.plan("next")
    count = plan.attrs["jan"]["compacted_first"]
    assert count
    assert (plan.reason == "goes into a summary before this is sent").sum() == count
    assert f"a compaction of {count} messages comes before this is sent" in capsys.readouterr().out
    assert "but      a compaction" in str(chat.send("next", dry_run=True))
    chat.use(overflow="error")
    assert chat.budget("next").set_index("piece").tokens["free"] < 0
    assert "this would not be sent: the request does not fit" in capsys.readouterr().out
