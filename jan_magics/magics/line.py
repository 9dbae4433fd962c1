"""What a verb says when it has nothing else to return, and how a turn was stopped."""

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from jan_magics.notebook.bridge import Stopped

T = TypeVar("T")


class Line(str):
    """A line for people: a cell that ends with it shows it as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def for_reader(result: T) -> T | Line:
    """Return a line in the language of who reads it, anything else as it is."""
    if not isinstance(result, Line):
        return result
    from jan_magics.api.host import language_of
    from jan_magics.api.opening import current_host
    from jan_magics.notebook.wording import worded

    return Line(worded(result, language_of(current_host())))


def stopped_for_reader(interrupt: KeyboardInterrupt, why: str) -> "Stopped":
    """Return what reports an interrupt, in the language of who reads it.

    It may have come before there was anything to stop: then `why` says what became of that.
    """
    from jan_magics.api.host import language_of
    from jan_magics.api.opening import current_host
    from jan_magics.notebook.bridge import Stopped

    stopped = interrupt if isinstance(interrupt, Stopped) else Stopped(why=why)
    stopped.language = language_of(current_host())
    return stopped
