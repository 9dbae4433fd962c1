"""What a grid can try: flags of a turn, settings of the budget, parameters of a model."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from jan_magics.api.asking import BUDGET, CALLING, FLAGS, LOOKING, OPTIONS
from jan_magics.api.flags import OF_ONE_TURN
from jan_magics.domain.errors import SettingError
from jan_magics.engine.budgets import OF_BUDGET

FIXED: Final = frozenset({"thread", *OF_ONE_TURN}) - {"query"}
"""What is the same for all combinations: where is asked, and how one turn is made."""
KEYS: Final = frozenset(
    {*FLAGS, *BUDGET, *CALLING, *LOOKING, *OPTIONS, *OF_BUDGET} - FIXED - {"yes"}
)
NEAR: Final = 0.8
"""From how like it a name is taken for a slip of one that is known."""


def check_keys(names: Iterable[str]) -> None:
    """Raise SettingError for what cannot be tried, or looks like a slip of what can.

    Any other name is a parameter of the model: which there are is known to its server alone.
    """
    for name in names:
        if name in FIXED:
            raise SettingError(
                f"{name} is the same for a whole grid, and cannot be tried",
                f"Leave it out; what can be tried: {', '.join(sorted(KEYS))}",
            )
        near = [] if name in KEYS else get_close_matches(name, sorted(KEYS), 1, NEAR)
        if near:
            raise SettingError(f"a grid has no key {name!r}", f"Did you mean {near[0]!r}?")
        if len(name) == 1 and name not in KEYS:
            raise SettingError(
                f"a grid has no key {name!r}", "Write it in full, as in model=a:b,c:d"
            )
