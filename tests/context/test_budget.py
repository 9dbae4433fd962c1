"""The arithmetic of the window."""

import pytest

from jan_magics.context.budget import NO_LIMIT, PRESETS, Budget, make_budget
from jan_magics.context.plan import plan_context
from jan_magics.domain.errors import SettingError
from tests.context.histories import talk, terms


def test_what_may_be_sent() -> None:
    budget = make_budget(8192, "the server", exact=False, known={})
    assert (budget.reserve_output, budget.safety) == (2048, 0.85)
    assert budget.input == 5222
    assert budget.safety_tokens == 922
    assert budget.input + budget.safety_tokens + budget.reserve_output == 8192
    assert make_budget(8192, "the server", exact=True, known={}).input == 6144


def test_the_reserve_is_at_most_a_quarter_unless_it_is_set() -> None:
    assert make_budget(2000, "", exact=True, known={}).reserve_output == 500
    assert make_budget(2000, "", exact=True, known={"reserve_output": 900}).reserve_output == 900


def test_the_marks_are_shares_of_history() -> None:
    budget = Budget(window=1000, reserve_output=0, safety=1.0)
    assert [budget.share(mark, 500) for mark in (budget.warn, budget.trim_to)] == [300, 350]
    assert budget.compacts_at(500, 500) == 400
    # Chatbox means a share of the whole window.
    chatbox = make_budget(1000, "", exact=True, known=PRESETS["chatbox"])
    assert chatbox.compacts_at(500, 200) == 400


def test_presets_are_those_that_were_promised() -> None:
    devflow = make_budget(None, "", exact=False, known=PRESETS["devflow"])
    assert (devflow.window, devflow.reserve_output, devflow.safety) == (128_000, 8192, 0.85)
    assert devflow.input == 101_836
    assert (devflow.compact_at, devflow.protect, devflow.overflow) == (0.6, 10, "compact")
    assert devflow.keep == 0
    jan = make_budget(8192, "", exact=False, known=PRESETS["jan"])
    assert (jan.window, jan.input) == (None, NO_LIMIT)


def test_a_flag_of_zero_is_no_limit() -> None:
    budget = make_budget(4096, "the server", exact=False, known={"window": 0, "source": "--window"})
    assert (budget.window, budget.safety_tokens, budget.source) == (None, 0, "--window")


@pytest.mark.parametrize(("turns", "due"), [(4, False), (9, True)])
def test_a_compaction_is_due_at_its_mark(turns: int, due: bool) -> None:
    # History has 228 tokens; 80 % of them are 182, a turn takes 24.
    assert plan_context(talk(turns), [], terms(240, overflow="compact")).due is due
    assert plan_context(talk(turns), [], terms(240, overflow="trim")).due is False


def test_marks_that_contradict_each_other_are_refused() -> None:
    lower = make_budget(1000, "x", exact=True, known={"trim_at": 0.5, "compact_at": 0.1})
    assert (lower.trim_to, lower.compact_to) == (0.5, 0.1)
    for known in ({"trim_at": 0.5, "trim_to": 0.9}, {"compact_to": 0.9}):
        with pytest.raises(SettingError, match="cannot be fallen to") as caught:
            make_budget(1000, "x", exact=True, known=known)
        assert "%config JanMagics." in caught.value.next_step
