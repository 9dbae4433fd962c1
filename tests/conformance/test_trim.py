"""Trimming under the `jan` preset, and where we keep more than Jan does."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.context.budget import PRESETS, make_budget
from jan_magics.context.plan import ContextPlan, Terms, plan_context
from jan_magics.context.tokens import CharsTokenizer
from jan_magics.domain.errors import ContextOverflow
from jan_magics.domain.messages import Message, TextPart
from jan_magics.sanitize.roles import alternate
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def message_of(row: Mapping[str, Any]) -> Message:
    parts = tuple(TextPart(part["text"]) for part in row["parts"])
    return Message(row["id"], "t", row["role"], parts, EPOCH, metadata=row.get("metadata", {}))


def run_trim(given: Any) -> object:
    """Plan what Jan trims; its cost of the system text is made of a text of that many tokens."""
    messages = [message_of(row) for row in given["messages"]]
    known = {**PRESETS["jan"], "window": max(0, given["max_context_tokens"])}
    known["reserve_output"] = given["max_output_tokens"]
    budget = make_budget(None, "jan", exact=False, known=known)
    costs = given["system_prompt_tokens"]
    system = "s" * int((costs - 4) * 3.5) if costs else ""
    terms = Terms(budget, CharsTokenizer(), alternate, system=system)
    try:
        plan = plan_context(messages, [], terms)
    except ContextOverflow as error:
        return {"error": f"{error.used} of {error.window}"}
    return {"kept_ids": kept(plan), "trimmed_count": plan.trimmed}


def kept(plan: ContextPlan) -> list[str]:
    sent = plan.sent | {message.id for _, message in plan.measured.system}
    return [message.id for message in plan.measured.path if message.id in sent]


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType({"trim": run_trim})

QUESTION_FIRST: Final = "after the system text the first message is a question"
OVERFLOW: Final = "a prompt that does not fit alone is an error with the numbers"
OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "trim/budget_zero_empty_list": Ours(
            {"kept_ids": [], "trimmed_count": 0}, "of nothing nothing is trimmed"
        ),
        "trim/keeps_newest_two": Ours({"kept_ids": ["m4"], "trimmed_count": 4}, QUESTION_FIRST),
        "trim/one_below_boundary": Ours(
            {"kept_ids": ["m2", "m3"], "trimmed_count": 2}, QUESTION_FIRST
        ),
        "trim/newest_oversize_drops_rest": Ours({"error": "1433 of 50"}, OVERFLOW),
        "trim/single_oversize_kept": Ours({"error": "1433 of 50"}, OVERFLOW),
        "trim/system_role_message_can_be_dropped": Ours(
            {"error": "28 of 20"}, "system text is never left out"
        ),
    }
)


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_trim(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    assert OURS.keys() <= {param.values[0].id for param in of_areas(ADAPTERS)}
