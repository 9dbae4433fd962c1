"""What a view of a thread is busy with: its own turn, or one that was begun elsewhere."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from jan_magics.domain.errors import ThreadError
from jan_magics.engine.order import Underway, What
from jan_magics.engine.views import View
from jan_magics.notebook.hazards import legible
from jan_magics.widgets.comm import Message
from jan_magics.widgets.growing import Growing
from jan_magics.widgets.view_desk import ViewDesk

ANSWERING: Final[What] = "answering"
COMPACTING: Final[What] = "compacting"


@dataclass(slots=True)
class Busy:
    """What goes on just now; `prompt` is shown until the question is `asked`: on the path.

    `stop` ends it, None where a click would be heard only when it is over. `other` was begun in a
    cell or another view.
    """

    what: What
    stop: Callable[[], None] | None
    prompt: str = ""
    asked: bool = False
    growing: Growing = field(default_factory=Growing)
    desk: ViewDesk | None = None
    other: Underway | None = None

    def told(self) -> Message:
        """Return what a page is told of it."""
        prompt = "" if self.asked else legible(self.prompt)
        return {"what": self.what, "prompt": prompt, "stop": self.stop is not None}

    def is_asked(self, view: View) -> bool:
        """Tell whether the rows show the question: that of a new thread comes to its path later."""
        on_path = {each.id for each in view.path() if each.role == "user" or not self.prompt}
        if on_path & view.live:
            return True
        # Another answer is on no path before it is whole, but its question is.
        return not self.prompt and any(
            each in view.index and view.index[each].role == "assistant" for each in view.live
        )


def other_of(underway: Underway) -> Busy:
    """Return what a view is busy with that looks on."""
    return Busy(underway.what, None if underway.front else underway.stop, other=underway)


def goes_on(busy: Busy) -> ThreadError:
    """Return what refuses a change meanwhile."""
    return ThreadError(f"{busy.what} goes on", "Wait for it, or stop it.")
