"""Laws 4 and 10, and what a plan says and remembers."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.context.counting import count_message, count_system, count_tools
from jan_magics.context.plan import ContextPlan, Terms, plan_context
from jan_magics.context.rows import rows_of
from jan_magics.domain.errors import ContextOverflow
from jan_magics.domain.messages import Message
from jan_magics.domain.models import ToolSpec
from jan_magics.domain.overlays import Hidden, Mark, Overlay, TrimCut, Undone
from jan_magics.sanitize.cleaner import Cleaner
from jan_magics.sanitize.validate import validate
from tests.context.histories import EXAMPLES, Letters, histories, prefixes, say, talk, terms
from tests.sanitize.histories import VALIDATORS

History = tuple[tuple[Message, ...], tuple[Overlay, ...]]
budgets = st.builds(
    terms,
    st.sampled_from([None, 60, 120, 400, 10_000]),
    system=st.sampled_from(["", "be brief"]),
    profile=st.sampled_from(VALIDATORS),
    reserve_output=st.sampled_from([0, 20]),
    safety=st.sampled_from([1.0, 0.85]),
    trim_at=st.sampled_from([1.0, 0.8]),
    trim_to=st.sampled_from([1.0, 0.7, 0.2]),
    overflow=st.sampled_from(["trim", "compact", "error"]),
    strategy=st.sampled_from(["recent", "relevance"]),
)


def counted(plan: ContextPlan, tools: tuple[ToolSpec, ...] = ()) -> int:
    """Count what is sent anew."""
    said = sum(count_message(message, Letters()) for message in plan.messages)
    return said + count_system(plan.system, Letters()) + count_tools(tools, Letters())


def planned(
    path: tuple[Message, ...], records: tuple[Overlay, ...], given: Terms
) -> ContextPlan | None:
    """Plan, or check that the error says by how much it does not fit."""
    try:
        return plan_context(path, records, given)
    except ContextOverflow as error:
        overflow = error
    assert overflow.window == given.budget.input
    assert overflow.used is not None
    assert given.budget.overflow == "error" or overflow.used > given.budget.input
    return None


@given(histories(), budgets)
@settings(max_examples=EXAMPLES, deadline=None)
def test_a_plan_fits_and_keeps_what_must_stay(history: History, given: Terms) -> None:
    path, records = history
    plan = planned(path, records, given)
    if plan is None:
        return
    assert plan.tokens == counted(plan) <= given.budget.input
    assert plan.messages[-1].role == plan.messages[0].role == "user"
    assert path[-1].id in plan.sent
    # A pinned answer before all questions cannot be sent; everything else that is pinned is.
    first = next(n for n, message in enumerate(path) if message.id in plan.sent)
    assert {m.id for m in path[first:]} >= plan.sent
    asked = [m.id for m in path if m.role == "user" and m.id not in plan.seen.statuses]
    for identifier, action in plan.seen.marks.items():
        if action == "pin" and identifier in asked:
            assert identifier in plan.sent
    # Repairing what is planned changes nothing, and no message is sent in halves.
    assert tuple(given.clean(plan.messages)) == plan.messages
    assert isinstance(given.clean, Cleaner)
    assert validate(plan.messages, given.clean.profile) == ()
    whole = {message.id: message for message in plan.measured.messages}
    assert all(whole[message.id] == message for message in plan.messages)


@given(histories(), budgets)
@settings(max_examples=300, deadline=None)
def test_rows_name_every_message_and_add_up(history: History, given: Terms) -> None:
    path, records = history
    try:
        plan = plan_context(path, records, given)
    except ContextOverflow:
        return
    rows = rows_of(plan)
    assert [row.id for row in rows if row.id] == [message.id for message in path]
    assert sum(row.tokens for row in rows if row.sent) == plan.tokens
    assert {row.id for row in rows if row.id and row.sent and row.role != "system"} == plan.sent
    assert all(row.reason for row in rows if not row.sent)


@given(histories(), budgets, st.integers(0, 8))
@settings(max_examples=300, deadline=None)
def test_going_on_from_an_earlier_plan_gives_the_same_plan(
    history: History, given: Terms, back: int
) -> None:
    path, records = history
    beginnings = prefixes(path)
    before = beginnings[max(0, len(beginnings) - 1 - back)]
    try:
        earlier = plan_context(
            (*before[:-1], say("m99", "user", "aside and question")), records, given
        )
        fresh = plan_context(path, records, given)
    except ContextOverflow:
        return
    assert plan_context(path, records, given, earlier) == fresh


def test_trimming_falls_to_the_low_mark_and_stays_there() -> None:
    # A message takes 12 tokens, a turn 24.
    given = terms(240)
    plan = plan_context(talk(9), [], given)
    assert plan.trimmed == 0
    path = talk(11)
    plan = plan_context(path, [], given)
    # 70 % of the 228 left for history: six turns.
    assert [m.id for m in plan.messages] == [m.id for m in path[-13:]]
    assert (plan.trimmed, plan.cut) == (8, TrimCut("a3", "m:m", 240))
    # With the cut stored the next turns only add to it.
    records: list[Overlay] = [TrimCut("a3", "m:m", 240)]
    for turns in (12, 13, 14):
        later = plan_context(talk(turns), records, given)
        assert later.messages[: len(plan.messages) - 1] == plan.messages[:-1]
        assert later.cut is None
    assert plan_context(talk(15), records, given).cut == TrimCut("a7", "m:m", 240)
    # It was made for this model and window alone.
    assert plan_context(talk(11), records, terms(400)).trimmed == 0


def test_what_is_pinned_stays_with_its_turn() -> None:
    path = talk(11)
    plan = plan_context(path, [Mark("a1", "pin", "a8", "c")], terms(240))
    assert [m.id for m in plan.messages][:3] == ["q1", "a1", "q5"]
    reasons = {row.id: (row.action, row.reason) for row in rows_of(plan)}
    assert reasons["q1"] == ("pin", "its turn is pinned")
    assert reasons["a1"] == ("pin", "pinned")
    assert reasons["q0"] == ("drop", "trimmed")
    assert reasons["q10"] == ("keep", "prompt")


def test_a_mark_counts_on_paths_that_lead_to_where_it_was_made() -> None:
    path, mark = talk(11), Mark("q1", "pin", "a8", "c")
    assert "q1" not in plan_context(path[:15], [mark], terms(160)).sent
    assert "q1" in plan_context(path, [mark], terms(160)).sent
    assert "q1" not in plan_context(path, [mark, Undone("c")], terms(160)).sent


def test_too_much_that_must_stay_is_an_error_with_numbers() -> None:
    with pytest.raises(ContextOverflow, match="52 tokens of 50") as caught:
        plan_context([say("q0", "user", "x" * 50)], [], terms(60, reserve_output=10))
    assert (caught.value.used, caught.value.window) == (52, 50)
    pins = [Mark(f"q{n}", "pin", "a8", "c") for n in range(10)]
    with pytest.raises(ContextOverflow):
        plan_context(talk(11), pins, terms(200))
    with pytest.raises(ContextOverflow, match="252 tokens of 240"):
        plan_context(talk(11), [], terms(240, overflow="error"))


def test_a_hidden_first_question_leaves_no_answer_in_front() -> None:
    plan = plan_context(talk(3), [Hidden("q0")], terms(None))
    assert [m.id for m in plan.messages] == ["q1", "a1", "q2"]
    assert [row.reason for row in rows_of(plan)][:2] == ["hidden", "its question is hidden"]


def test_a_status_that_nobody_knows_is_shown_and_not_sent() -> None:
    odd = Message("m0", "t", "user", say("m0", "user", "old").parts, talk(1)[0].created_at,
                  extra={"status": "superseded"})  # fmt: skip
    plan = plan_context((odd, *talk(1)), [], terms(None))
    assert [m.id for m in plan.messages] == ["q0"]
    assert rows_of(plan)[0].reason == "status 'superseded'"


def test_the_relevant_strategy_keeps_rules_and_what_is_near_the_prompt() -> None:
    path = list(talk(12))
    path[4] = say("q2", "user", "never use pandas")
    path[6] = say("q3", "user", "the needle is in hay")
    path[-1] = say("q11", "user", "where is the needle?")
    plan = plan_context(path, [], terms(220, strategy="relevance"))
    reasons = {row.id: row.reason for row in rows_of(plan)}
    assert reasons["q2"] == "states a rule"
    assert reasons["q3"].startswith("near the prompt")
    assert reasons["q1"] == "trimmed"
    assert {"q9", "q10"} <= plan.sent
    assert "q3" not in plan_context(path, [], terms(220)).sent


def test_the_relevant_strategy_fills_its_room_with_what_is_new() -> None:
    """What is near the prompt is kept beside the newest turns, not in their place."""
    given, records = terms(600, strategy="relevance"), list[Overlay]()
    before: tuple[Message, ...] = ()
    extended = 0
    for turns in range(20, 120):
        path = list(talk(turns))
        path[2] = say("q1", "user", "绝对不要删除重要文件")
        path[4] = say("q2", "user", "the pump has 4.5 bar")
        path[-1] = say(path[-1].id, "user", "how is the pump?")
        plan = plan_context(path, records, given)
        assert {"q1", "q2", path[-3].id, path[-5].id} <= plan.sent
        assert plan.tokens >= 0.6 * given.budget.input
        records += [plan.cut] if plan.cut else []
        extended += plan.messages[: len(before) - 1] == before[:-1]
        before = plan.messages
    assert extended >= 0.8 * 100


def test_what_is_near_the_prompt_finds_room_beside_two_long_new_turns() -> None:
    path = list(talk(8, 60))
    path[0] = say("q0", "user", "never open valve 3")
    path[2] = say("q1", "user", "the pump has 4.5 bar")
    path[1], path[3] = say("a0", "assistant", "yes"), say("a1", "assistant", "yes")
    path[-1] = say("q7", "user", "how is the pump?")
    plan = plan_context(path, [], terms(500, strategy="relevance", trim_to=0.52))
    assert {"q0", "q1", "q5", "q6"} <= plan.sent


def test_a_long_chat_at_the_ceiling_keeps_its_prefix() -> None:
    """Only when trimming falls does a request not begin with the one before it."""
    given, records = terms(2000, trim_to=0.7), list[Overlay]()
    before: tuple[Message, ...] = ()
    extended = 0
    for turns in range(1, 301):
        plan = plan_context(talk(turns), records, given)
        extended += plan.messages[: len(before)] == before
        before = plan.messages
        records += [plan.cut] if plan.cut else []
        assert plan.tokens <= 2000
    assert extended >= 0.95 * 300


def test_the_relevant_strategy_beats_the_recent_one_at_needles() -> None:
    dice = random.Random(7)  # noqa: S311
    words = ["".join(dice.choices("abcdefghij", k=6)) for _ in range(400)]
    found = {"recent": 0, "relevance": 0}
    for _ in range(40):
        path = list(talk(40))
        for n in range(0, 78, 2):
            path[n] = say(f"q{n // 2}", "user", " ".join(dice.choices(words, k=6)))
        place = dice.randrange(0, 39)
        needle = " ".join(dice.choices(words, k=4))
        path[2 * place] = say(f"q{place}", "user", f"the code of {needle} is 4711")
        path[-1] = say("q39", "user", f"what is the code of {needle}?")
        for strategy in found:
            plan = plan_context(path, [], terms(800, strategy=strategy))
            found[strategy] += f"q{place}" in plan.sent
    assert found["relevance"] >= 38
    assert found["recent"] <= 20
