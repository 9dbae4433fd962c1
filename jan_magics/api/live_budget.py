"""The budget as a view, which follows a prompt while it is typed."""

import math
from typing import Any

from jan_magics.api.context_tables import budget_line, budget_table
from jan_magics.api.host import Host
from jan_magics.api.live import live
from jan_magics.api.preview import notices
from jan_magics.engine.session import Preview
from jan_magics.widgets.budget_gauge import BudgetGauge, marks_of


def live_budget(host: Host, shown: Preview) -> Any:
    """Return the budget of a plan as a view, else its table, with what must be said beside it."""
    return live(
        host,
        budget_table(shown.plan),
        lambda: BudgetGauge(host.bridge, host.session, told_of, shown),
        (budget_line(shown.plan), *notices(shown)),
    )


def told_of(shown: Preview) -> dict[str, Any]:
    """Return what a page is told of a plan; sizes in tokens, None where nothing limits them."""
    plan = shown.plan
    rows = budget_table(plan).to_dict("records")
    return {
        "window": plan.budget.window,
        "pieces": [
            {
                "piece": row["piece"],
                "tokens": _known(row["tokens"]),
                "share": _known(row["share"]),
                "exact": bool(row["exact"]),
            }
            for row in rows
        ],
        "marks": marks_of(plan),
        "model": str(shown.choice.model),
        "line": budget_line(plan),
        "notices": list(notices(shown)),
    }


def _known(value: Any) -> Any:
    return value if isinstance(value, int | float) and math.isfinite(value) else None
