"""Plans, budgets and grids as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from jan_magics.context.plan import ContextPlan
from jan_magics.context.rows import rows_of
from jan_magics.context.summary import summary_text
from jan_magics.context.trim import turn_tokens
from jan_magics.domain.errors import ContextOverflow, ProviderError
from jan_magics.domain.messages import text_of
from jan_magics.engine.compacting import Compacted
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.session import Preview
from jan_magics.engine.views import View
from jan_magics.frames import frame, grid_frame
from jan_magics.sanitize.cleaner import Cleaner
from jan_magics.sanitize.pipeline import clean

if TYPE_CHECKING:
    import pandas as pd

COMPACTED_FIRST: Final = "goes into a summary before this is sent"


def plan_table(shown: Preview, prompt: str, view: View) -> "pd.DataFrame":
    """Return a row a message; the prompt that is not stored yet has no id, and none where empty.

    `attrs["jan"]` says how many messages are compacted before, and why it cannot be sent.
    """
    plan = shown.plan
    first = {message.id for message in shown.first.messages} if shown.first else set[str]()
    rows = (
        row | {"reason": COMPACTED_FIRST} if row["id"] in first else row
        for row in _plan_rows(plan, prompt, view)
    )
    table = frame("plan", rows)
    table.attrs["jan"] |= {"prompt": prompt, "tools": plan.costs.tools}
    table.attrs["jan"]["ids"] = tuple(table.id.dropna())
    table.attrs["jan"] |= {"compacted_first": len(first), "refused": _refused(plan)}
    return table


def _refused(plan: ContextPlan) -> str | None:
    return plan.refused.message if plan.refused else None


def sent_plan_table(plan: ContextPlan) -> "pd.DataFrame":
    """Return the plan of a turn that was made; its question is stored by now."""
    return frame("plan", ({"n": n, **row} for n, row in enumerate(_rows(plan), 1)))


def repairs_table(plan: ContextPlan | None) -> "pd.DataFrame":
    """Return what cleaning changed in the messages of a request, in the order of the rules."""
    if plan is None or not isinstance(plan.terms.clean, Cleaner):
        return frame("repairs", ())
    sent = plan.sent
    path = [message for message in plan.measured.path if message.id in sent]
    return frame("repairs", map(asdict, clean(path, plan.terms.clean.profile).repairs))


def budget_table(plan: ContextPlan) -> "pd.DataFrame":
    """Return the pieces of the window in tokens; without a limit nothing is reserved or free."""
    budget, costs = plan.budget, plan.costs
    pinned = sum(
        turn_tokens(plan.measured, turn) for turn in plan.turns[:-1] if _pinned(plan, turn)
    )
    fixed = costs.system + costs.summary + costs.tools + costs.prompt + costs.retrieved
    limit = budget.window
    sizes: dict[str, int | None] = {
        "system": costs.system,
        "pinned": pinned,
        "summary": costs.summary,
        "history": plan.tokens - fixed - pinned,
        "retrieved": costs.retrieved,
        "prompt": costs.prompt,
        "tools": costs.tools,
        "reserve": None if limit is None else budget.reserve_output,
        "safety": None if limit is None else budget.safety_tokens,
        "free": None if limit is None else budget.input - plan.tokens,
    }
    counted = {"reserve", "safety"}
    rows = (
        {
            "piece": piece,
            "tokens": size,
            "share": size / limit if limit and size is not None else None,
            "exact": plan.exact or piece in counted or not size,
        }
        for piece, size in sizes.items()
    )
    table = frame("budget", rows)
    table.attrs["jan"] |= {
        "window": limit, "from": budget.source, "tokenizer": plan.measured.tokenizer.name,
        "overflow": budget.overflow,
    }  # fmt: skip
    return table


def budget_line(plan: ContextPlan) -> str:
    """Say how large the window is and who told it, how tokens are counted, what overflow does."""
    budget = plan.budget
    window = "no limit" if budget.window is None else f"{budget.window:,} tokens"
    name = plan.measured.tokenizer.name
    # Where the model's family is not known, the estimate knows only the kinds of text.
    family = name.lstrip("≈").replace("unknown", "the kind of text")
    counted = f"counted by {name}" if plan.exact else f"estimated by {family}"
    return f"window: {window} ({budget.source}) · {counted} · overflow: {budget.overflow}"


def dry_run_table(made: Compacted) -> "pd.DataFrame":
    """Return what the model sees now, and what it would see after a compaction."""
    tokenizer, stretch = made.tokenizer, made.stretch
    old = summary_text(stretch.old) if stretch.old else None
    new = summary_text(made.summary)
    covered = {message.id for message in stretch.messages}
    rows: list[dict[str, Any]] = [
        {
            "role": "system",
            "now": old,
            "then": new,
            "tokens_now": tokenizer.count(old) if old else 0,
            "tokens_then": tokenizer.count(new),
        }
    ]
    for message in made.view.path():
        text = text_of(message)
        tokens = tokenizer.count(text)
        gone = message.id in covered
        then = {} if gone else {"then": text}
        rows.append(
            {"id": message.id, "role": message.role, "now": text, "tokens_now": tokens}
            | {"tokens_then": 0 if gone else tokens, **then}
        )
    return frame("compact", ({"n": n, **row} for n, row in enumerate(rows, 1)))


def grid_row(
    outcome: Outcome | None, failure: ProviderError | None, needle: str | None
) -> dict[str, Any]:
    """Return what came of a grid's turn; one that did not fit or failed is a row too."""
    if outcome is None or outcome.turn.plan is None:
        overflow = failure if isinstance(failure, ContextOverflow) else None
        # What was refused here was never sent.
        used = overflow.used if overflow and overflow.planned is None else None
        known = {"sent_tokens": used, "finish": "error"}
        return known | {"answer": failure.message if failure else None}
    turn, plan = outcome.turn, outcome.turn.plan
    assert plan is not None  # noqa: S101 - for the type checker; checked above
    text = text_of(turn.answer)
    covered = sum(status == "compressed" for status in plan.seen.statuses.values())
    return {
        "sent_tokens": plan.tokens,
        "kept": len(plan.sent),
        "dropped": plan.trimmed,
        "summarised": covered,
        "recalled": None if needle is None else _folded(needle) in _folded(text),
        "seconds": turn.timings.total,
        "finish": turn.finish,
        "answer": text,
        "message": turn.answer.id,
    }


def grid_table(
    keys: Sequence[str], rows: Sequence[Mapping[str, Any]], said: Sequence[str]
) -> "pd.DataFrame":
    """Return a row a combination, its settings first; `attrs` have what is to be told of them."""
    table = grid_frame(keys, rows)
    table.attrs["jan"] |= {"said": list(said)}
    return table


def _plan_rows(plan: ContextPlan, prompt: str, view: View) -> Iterator[dict[str, Any]]:
    n = 0
    for row in _rows(plan):
        new = row["id"] is not None and row["id"] not in view.index
        if new and not prompt:
            continue
        n += 1
        yield {"n": n, **row, "id": None if new else row["id"]}


def _rows(plan: ContextPlan) -> Iterator[dict[str, Any]]:
    total = 0
    for row in rows_of(plan):
        total += row.tokens if row.sent else 0
        yield {
            "id": row.id,
            "role": row.role,
            "action": row.action,
            "tokens": row.tokens,
            "cumulative": total,
            "exact": plan.exact,
            "reason": row.reason,
            "text": row.text,
        }


def _pinned(plan: ContextPlan, turn: int) -> bool:
    message = plan.measured.messages[plan.measured.turns[turn]]
    return message.id in plan.seen.pinned


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
