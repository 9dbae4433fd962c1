"""A request that a server has refused for its size: how the same question fits after all."""

from dataclasses import replace
from typing import Final

from jan_magics.context.plan import ContextPlan
from jan_magics.domain.errors import ContextOverflow
from jan_magics.engine.fitting import REFUSED, Fit

MOST: Final = 4.0
"""How many times our count a server's may be: more tells that it counts something else."""


def refitted(fit: Fit, refused: ContextOverflow, plan: ContextPlan) -> Fit | None:
    """Return how much is sent by what a server's refusal tells, None where that is nothing new.

    A server that counts more tokens than we do tells by how much.
    """
    known, budget = refused.window or plan.budget.window, plan.budget
    more = (refused.used or 0) / max(1, plan.tokens)
    if refused.planned is not None or known is None or more > MOST:
        return None
    if budget.window is not None and known >= budget.window and more <= 1:
        return None
    smaller = replace(
        budget,
        window=known,
        reserve_output=min(budget.reserve_output, known // 4),
        safety=budget.safety / max(1.0, more),
        source=REFUSED if refused.window else budget.source,
    )
    return replace(fit, budget=smaller)
