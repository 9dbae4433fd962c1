"""What an empty table says: how it gets rows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from jan_magics.api.context import say
from jan_magics.api.host import language_of
from jan_magics.api.opening import current_host

T = TypeVar("T")

STEPS: Final[Mapping[str, str]] = MappingProxyType({
    "tools": "no tools yet · mark a function with @jan.tool, or add a server:"
             " %chat tools --mcp FILE",
    "threads": "no threads yet · ask something: %%chat",
    "budget": "nothing to count yet · ask something: %%chat",
    "plan": "nothing to send yet · ask something: %%chat",
})  # fmt: skip
"""What to do, by the verb whose table is empty."""


def told_if_empty(verb: str, result: T) -> T:
    """Return what a verb returns; of an empty table say what to do, as it shows nothing of it."""
    if verb in STEPS and getattr(result, "empty", None) is True:
        say(STEPS[verb], language_of(current_host()))
    return result
