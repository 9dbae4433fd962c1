"""What does not fit: by how much, and what would help, with the tokens that it would free."""

import math
from typing import Final

from jan_magics.context.budget import Budget
from jan_magics.domain.errors import ContextOverflow

LEAST: Final = 16
"""The fewest tokens that are worth being named, and the fewest of an answer."""
STRICT: Final = "Ask with --overflow trim or --no-history, or make room: %chat compact"
REMEDIES: Final = {
    "prompt": "shorten the prompt",
    "system": "shorten the instructions: -s TEXT",
    "marked": "drop what is marked: %chat mark ID drop",
    "tools": "offer fewer tools: --tools NAME",
    "retrieved": "retrieve less: -k N",
    "summary": "begin anew without the summary: %chat clear",
}


def refusal(
    budget: Budget, pieces: dict[str, int], full: int, model: str
) -> ContextOverflow | None:
    """Return why a request cannot be sent, None where it can.

    `pieces` are the tokens of what is never left out by itself, by the names of REMEDIES, `full`
    those of all of the history.
    """
    whole = sum(pieces.values())
    fixed = whole - pieces["marked"]
    strict = budget.overflow == "error" and full > budget.share(
        budget.trim_at, budget.input - fixed
    )
    if whole <= budget.input and not strict:
        return None
    alone = whole > budget.input
    used, remedy = (whole, _remedy(budget, pieces, whole)) if alone else (fixed + full, STRICT)
    return ContextOverflow(used, budget.input, model=model, planned=budget.window, remedy=remedy)


def _remedy(budget: Budget, pieces: dict[str, int], whole: int) -> str:
    """Say what would make it fit by itself; where nothing would, what has to go together."""
    over = whole - budget.input
    sizes = sorted(pieces.items(), key=lambda each: -each[1])
    alone = [name for name, size in sizes if size - over >= min(LEAST, size // 2)][:2]
    steps = [_step(name, pieces[name]) for name in alone]
    spare = (budget.window or 0) - math.ceil(whole / budget.safety)
    if LEAST <= spare < budget.reserve_output:
        steps.append(f"keep at most {spare} tokens for the answer: --max-tokens {spare}")
    if not steps:
        together = [_step(name, size) for name, size in sizes if size >= LEAST][:2]
        steps = [" and ".join(together)] if together else []
    if budget.chosen:
        steps.append("set a larger window: --window N")
    said = ", ".join((*steps, "or ask a model with a larger window: %chat models"))
    return said[:1].upper() + said[1:]


def _step(name: str, size: int) -> str:
    what, colon, how = REMEDIES[name].partition(":")
    return f"{what} ({size} tokens){colon}{how}"
