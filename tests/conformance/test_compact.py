"""Compacting under the `jan` preset, and where we keep more than Jan does."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.context.budget import PRESETS, make_budget
from jan_magics.context.plan import ContextPlan
from jan_magics.context.prompts import CONVERSATION
from jan_magics.context.tokens import CharsTokenizer
from jan_magics.domain.errors import ContextOverflow, ServerFailed
from jan_magics.domain.messages import Message, TextPart, text_of
from jan_magics.engine.compaction import make_room
from jan_magics.engine.fitting import Fit
from tests.conformance.test_trim import EPOCH, kept, message_of
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas
from tests.engine.compacted import Summarising
from tests.engine.threads import Kernel


def run_compact(given: Any) -> object:
    """Plan what Jan compacts, and compact it where that is due; a summariser says what it must."""
    known = {**PRESETS["jan"], "window": max(0, given["max_context_tokens"])}
    known |= {"reserve_output": given["max_output_tokens"], "overflow": "compact"}
    budget = make_budget(None, "jan", exact=False, known=known)
    fit = Fit(budget, CharsTokenizer())
    failure = ServerFailed("as it was told to") if given["stub_raises"] else None
    model = Summarising(lambda _: failure or given["stub_summary"])
    try:
        plan = asyncio.run(planned(model, fit, tuple(map(told, given["messages"]))))
    except ContextOverflow as error:
        return {"error": f"{error.used} of {error.window}"}
    return outcome(plan, model)


async def planned(model: Summarising, fit: Fit, path: tuple[Message, ...]) -> ContextPlan:
    plan = await fit.plan(path, "")
    if not plan.due:
        return plan
    with TemporaryDirectory() as folder:
        engine = Kernel(Path(folder), "jsonl", provider=model).session.engine
        after, _ = await make_room(engine, model, None, fit, plan, lambda _: None)
        await engine.close()
    return after


def told(row: Mapping[str, Any]) -> Message:
    if "parts" in row:
        return message_of(row)
    letter, count = row["text_repeat"]
    text = letter * count + row["text_suffix"]
    return Message(row["id"], "t", row["role"], (TextPart(text),), EPOCH)


def outcome(plan: ContextPlan, model: Summarising) -> object:
    """Say what is sent in the words of the vectors."""
    summary, ids = plan.seen.summary, kept(plan)
    roles = [message.role for message in plan.measured.path if message.id in ids]
    requests = model.summaries
    asked = text_of(requests[0].messages[0]) if requests else None
    return {
        "message_ids": ["$summary", *ids] if summary else ids,
        "roles": ["system", *roles] if summary else roles,
        "summary_text": {"$endswith": f"\n{summary.text}"} if summary else None,
        "trimmed_count": plan.trimmed,
        "compacted_summary": summary.text if summary else None,
        "summariser_called": bool(requests),
        "excerpt": asked.removeprefix(f"{CONVERSATION['en']}\n\n") if asked else None,
        "summary_max_output_tokens": requests[0].options.max_tokens if requests else None,
    }


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType({"compact": run_compact})

OVERFLOW: Final = "a prompt that does not fit alone is an error with the numbers"
OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "compact/budget_nonpositive": Ours({"error": "14 of 0"}, OVERFLOW),
        "compact/excerpt_tail_kept": Ours({"error": "1723 of 350"}, OVERFLOW),
        "compact/excerpt_joins_parts_without_separator": Ours(
            {
                "message_ids": ["$summary", "m2"],
                "roles": ["system", "user"],
                "summary_text": {"$endswith": "\nr"},
                "trimmed_count": 0,
                "compacted_summary": "r",
                "summariser_called": True,
                "excerpt": f"user: one\ntwo{'.' * 188}\n[…]\n{'.' * 201}",
                "summary_max_output_tokens": 128,
            },
            "a turn is compacted whole; parts stay apart; of what is too long the middle is left"
            " out, and not the beginning, where the task stands; a summary is a tenth of the input",
        ),
        "compact/long_summary_evicted_even_with_slack": Ours(
            {
                "message_ids": ["m2"],
                "roles": ["user"],
                "summary_text": None,
                "trimmed_count": 2,
                "compacted_summary": None,
                "summariser_called": True,
                "excerpt": f"user: {'a' * 350}",
                "summary_max_output_tokens": 128,
            },
            "a summary that does not fit is not kept; after the system text the first message is a"
            " question",
        ),
    }
)


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_compact(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    assert OURS.keys() <= {param.values[0].id for param in of_areas(ADAPTERS)}
