"""A mark on a function: that a model may call it, and how. `@jan.tool` makes nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from jan_magics.domain.errors import SettingError

Approval: TypeAlias = Literal["ask", "auto", "never"]
ATTRIBUTE: Final = "__jan_tool__"
FUNCTION: Final = "A tool is a function with types: def f(city: str): …"
LIMIT: Final = 60.0
"""Seconds that a call may take where nobody says another number."""


class _Unsaid(str):
    """A value that nobody gave: it is told apart from the same that somebody wrote."""

    __slots__ = ()


ASK: Final = cast("Approval", _Unsaid("ask"))
"""How calls are approved where nobody says it; a tool that only reads is not asked about then."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How a function is called; `name` None: as the function is called, `timeout` in seconds.

    `safe`: it only reads, so it runs unasked and beside others. `main`: in the main thread.
    """

    name: str | None = None
    safe: bool = False
    main: bool = False
    timeout: float | None = LIMIT
    approval: Approval = ASK

    @property
    def approved(self) -> Approval:
        """Return how calls are approved: as somebody said it, else by whether it only reads."""
        return "auto" if self.safe and isinstance(self.approval, _Unsaid) else self.approval


def mark(function: Callable[..., Any], known: Mark) -> None:
    """Mark a function as a tool. Raises SettingError for what no function can be called by."""
    if known.approval not in get_args(Approval):
        raise SettingError(
            f"approval is {known.approval!r}", f"It can be: {', '.join(get_args(Approval))}"
        )
    seconds = known.timeout
    if seconds is not None and (isinstance(seconds, bool) or not seconds > 0):
        raise SettingError(f"timeout is {seconds!r}", "It is a number of seconds; None: no limit.")
    if known.main and seconds not in (None, LIMIT):
        raise SettingError(
            f"timeout is {seconds!r}, and what runs in the main thread has no limit",
            "Leave timeout= out, or main=True: Ctrl-C ends it there.",
        )
    if not callable(function):
        raise SettingError(f"{function!r} is no function", FUNCTION)
    try:
        setattr(function, ATTRIBUTE, known)
    except (AttributeError, TypeError):
        name = getattr(function, "__name__", repr(function))
        raise SettingError(
            f"{name} cannot be marked: it is not written in Python",
            f"Call it in a function of your own: def my_{name}(…): return {name}(…)",
        ) from None


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
