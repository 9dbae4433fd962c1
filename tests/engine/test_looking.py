"""A plan that is looked at: also of what cannot be sent, and of what is compacted before."""

import asyncio

import pytest

from jan_magics.context.rows import rows_of
from jan_magics.domain.errors import ContextOverflow, SettingError
from jan_magics.domain.messages import text_of
from jan_magics.engine import marking
from jan_magics.engine.asking import Asking
from jan_magics.engine.session import Preview
from tests.engine.compacted import WORDS, Talk, question


def look(talk: Talk, text: str = "hello", **asking: object) -> Preview:
    given = talk.kernel.asking(text, **asking)
    return asyncio.run(talk.session.preview(given))


def ids(talk: Talk) -> list[str]:
    return [message.id for message in talk.session.view().path()]


def test_what_a_compaction_takes_before_is_known_and_is_what_it_takes(talk: Talk) -> None:
    n = 1
    while not look(talk, question(n)).first:
        talk.ask(question(n))
        n += 1
    shown = look(talk, question(n))
    assert shown.first
    assert shown.plan.due
    talk.ask(question(n))
    assert len(talk.model.summaries) == 1
    path = talk.session.view().path()
    assert tuple(m.id for m in path[: len(shown.first.messages)]) == shown.first.covers
    assert look(talk).first is None


def test_what_would_be_refused_can_be_looked_at(talk: Talk) -> None:
    talk.session.sticky = Asking(overflow="trim")
    talk.chat(1, 8)
    shown = look(talk, overflow="error")
    assert shown.plan.refused
    assert "--overflow trim" in shown.plan.refused.next_step
    # All of it is shown, as nothing is left out by itself.
    assert len(shown.plan.messages) == 17
    assert shown.plan.tokens == shown.plan.refused.used
    with pytest.raises(ContextOverflow):
        talk.ask("hello", overflow="error")
    long = look(talk, WORDS * 20)
    assert long.plan.refused
    assert long.plan.refused.next_step.startswith("Shorten the prompt (")


def test_a_mark_that_cannot_be_is_refused_by_its_message(talk: Talk) -> None:
    talk.session.sticky = Asking(overflow="trim")
    talk.chat(1, 12)
    plan = look(talk).plan
    stored = talk.stored()
    with pytest.raises(SettingError, match="cannot be kept: what is marked takes") as caught:
        marking.mark(talk.session, ids(talk), "pin", plan)
    assert ids(talk)[0][:8] in caught.value.message
    assert talk.stored() == stored
    marking.mark(talk.session, ids(talk)[:1], "pin", plan)
    # One that was made before is seen in the plan, and can be dropped.
    marking.mark(talk.session, ids(talk), "pin")
    plan = look(talk).plan
    assert plan.refused
    assert plan.refused.next_step.startswith("Drop what is marked (")
    marking.mark(talk.session, ids(talk)[2:], "drop", plan)
    assert look(talk).plan.refused is None


def test_instructions_that_do_not_fit_are_named(talk: Talk) -> None:
    shown = look(talk, "hello", window=350, system="rule " * 400)
    assert shown.plan.refused
    assert shown.plan.refused.next_step.startswith("Shorten the instructions (")
    tiny = look(talk, "hello", window=1)
    assert tiny.plan.refused
    assert tiny.plan.refused.next_step == (
        "Set a larger window: --window N, or ask a model with a larger window: %chat models"
    )
    talk.ask(question(1))
    marking.mark(talk.session, ids(talk), "pin")
    both = look(talk, "hello", window=350, system="rule " * 300)
    assert both.plan.refused
    assert both.plan.refused.next_step.startswith("Shorten the instructions (")
    marking.mark(talk.session, ids(talk), "drop")
    spare = look(talk, "word " * 60, window=400, options={"max_tokens": 350})
    assert spare.plan.refused
    assert "tokens for the answer: --max-tokens" in spare.plan.refused.next_step


def test_an_old_question_that_is_sent_with_the_prompt_is_not_the_prompt(talk: Talk) -> None:
    talk.chat(1, 2)
    old, answer = ids(talk)[-2:]
    marking.mark(talk.session, [answer], "drop")
    plan = look(talk).plan
    reasons = {row.id: (row.action, row.reason) for row in rows_of(plan)}
    assert reasons[old] == ("keep", "sent with the prompt")
    assert reasons[plan.measured.path[-1].id] == ("keep", "prompt")
    marking.apply(talk.session, plan, {old: "drop"})
    after = look(talk).plan
    assert old not in after.sent
    assert [text_of(each) for each in after.messages][-1] == "hello"


def test_a_row_that_was_not_edited_is_not_blamed(talk: Talk) -> None:
    talk.chat(1, 3)
    asked, answer = ids(talk)[:2]
    plan = look(talk).plan
    wanted = {row.id: row.action for row in rows_of(plan) if row.id} | {asked: "drop"}
    with pytest.raises(SettingError) as caught:
        marking.apply(talk.session, plan, wanted)
    assert caught.value.message.startswith(f"row {asked[:8]} cannot be 'drop' alone: row")
    assert answer[:8] in caught.value.next_step
    marking.apply(talk.session, plan, wanted | {answer: "drop"})
    assert asked not in look(talk).plan.sent
