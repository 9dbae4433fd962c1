"""A mark on a function: that a model may call it, and how. `@jan.tool` makes nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType
from typing import Any, Final, Literal, TypeAlias, get_args

from jan_magics.domain.errors import SettingError

Approval: TypeAlias = Literal["ask", "auto", "never"]
ATTRIBUTE: Final = "__jan_tool__"


@dataclass(frozen=True, slots=True)
class Mark:
    """How a function is called; `name` None: as the function is called, `timeout` in seconds.

    `safe`: it only reads, so it runs unasked and beside others. `main`: in the main thread.
    """

    name: str | None = None
    safe: bool = False
    main: bool = False
    timeout: float | None = 60.0
    approval: Approval = "ask"


def mark(function: Callable[..., Any], known: Mark) -> None:
    """Mark a function as a tool. Raises SettingError for what no function can be called by."""
    if known.approval not in get_args(Approval):
        raise SettingError(
            f"approval is {known.approval!r}", f"It can be: {', '.join(get_args(Approval))}"
        )
    seconds = known.timeout
    if seconds is not None and (isinstance(seconds, bool) or not seconds > 0):
        raise SettingError(f"timeout is {seconds!r}", "It is a number of seconds; None: no limit.")
    setattr(function, ATTRIBUTE, known)


def mark_of(function: object) -> Mark | None:
    """Return a function's mark, None where it has none.

    Every variable of the user is looked at: no code of theirs may run for that.
    """
    plain = function.__func__ if isinstance(function, MethodType) else function
    try:
        found = object.__getattribute__(plain, "__dict__").get(ATTRIBUTE)
    except AttributeError:
        return None
    return found if isinstance(found, Mark) and not isinstance(plain, type) else None
