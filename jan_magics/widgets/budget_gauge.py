"""The context window as a bar: what fills it, also while a prompt is typed, and where that ends."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jan_magics.context.plan import ContextPlan
from jan_magics.engine.asking import Asking
from jan_magics.engine.session import Preview, Session
from jan_magics.notebook.bridge import Bridge
from jan_magics.widgets.comm import Message, Say, go_on
from jan_magics.widgets.marks import mark_of


@dataclass(slots=True)
class BudgetGauge:
    """The budget of the next turn. `told` turns a plan into what a page is told of it.

    `opened` is the plan that is there already. Previews are made on the engine's loop, one at a
    time: of several texts that were typed meanwhile only the last is looked at.
    """

    bridge: Bridge
    session: Callable[[], Session]
    told: Callable[[Preview], Message]
    opened: Preview
    kind: str = "budget"
    _say: Say = field(default=lambda _: None)
    _text: str = ""
    _wanted: int = 0
    _looking: bool = False

    def joined(self, say: Say) -> None:
        """Take the way to the page."""
        self._say = say

    def first(self) -> Message:
        """Return the budget without a prompt, as it was when the view was opened."""
        return self._message(self.opened, 0)

    def mark(self) -> object:
        """Return what differs when something else would be sent."""
        return mark_of(self.session())

    def hear(self, message: Mapping[str, Any]) -> None:
        """Look at a text that is being typed, or look again; the budget follows."""
        if message.get("kind") == "text":
            text = str(message.get("text") or "")
            self._text = text if text.strip() else ""
        self._wanted += 1
        go_on(self.bridge.loop(), self._look(), self._say)

    async def _look(self) -> None:
        if self._looking:
            return  # that one goes on with the newest text
        self._looking = True
        try:
            done = -1
            while done != self._wanted:
                done = self._wanted
                shown = await self.session().preview(Asking(self._text))
                self._say(self._message(shown, done))
        finally:
            self._looking = False

    def _message(self, shown: Preview, n: int) -> Message:
        return {"kind": "budget", "n": n, **self.told(shown)}


def marks_of(plan: ContextPlan) -> list[Message]:
    """Return the places on the bar, in tokens that are sent, where something begins to happen."""
    budget, history = plan.budget, plan.costs.history
    if budget.window is None:
        return []
    others = budget.input - history
    marks = [("warn", others + budget.share(budget.warn, history))]
    if budget.overflow == "compact":
        marks.append(("compact", others + budget.compacts_at(history, others)))
    elif budget.overflow == "trim":
        marks.append(("trim", others + budget.share(budget.trim_at, history)))
    else:
        marks.append(("error", budget.input))
    return [{"name": name, "tokens": min(max(0, at), budget.window)} for name, at in marks]
