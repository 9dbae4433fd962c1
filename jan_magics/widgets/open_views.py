"""The views that are open in a kernel: they follow what cells do, and end with their cell's run."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from jan_magics.domain.errors import JanError
from jan_magics.notebook.identity import cell_id, execution_key

ATTRIBUTE: Final = "jan_magics_views"
"""Where the open views of a kernel hang on its shell; they survive %reload_ext."""


@dataclass(slots=True)
class Opened:
    """An open view: how it is closed, by what a change is noticed, and how it is drawn anew.

    `hear` takes what a page says to views of a `kind`.
    """

    close: Callable[[], None]
    is_open: Callable[[], bool]
    mark: Callable[[], object]
    draw: Callable[[], None]
    kind: str = ""
    hear: Callable[[Mapping[str, Any]], None] | None = None
    cell: str = ""
    run: str = ""
    seen: object = None


@dataclass(slots=True)
class OpenViews:
    """All of them. Front ends that name no cells keep their views until the kernel ends."""

    shell: Any
    opened: list[Opened] = field(default_factory=list)

    def add(self, view: Opened) -> None:
        """Add a view of the running cell; those of its earlier runs are closed."""
        view.cell, view.run, view.seen = cell_id(self.shell), execution_key(self.shell), view.mark()
        self._close(view.cell, view.run)
        self.opened.append(view)

    def typed(self, text: str) -> None:
        """Let gauges follow a prompt that is being typed elsewhere."""
        for view in self.opened:
            if view.kind == "budget" and view.hear is not None and view.is_open():
                view.hear({"kind": "text", "text": text})

    def before_cell(self, info: Any) -> None:
        """Close what an earlier run of a cell has shown: its output is about to go."""
        self._close(getattr(info, "cell_id", None) or "", "")

    def after_cell(self, _: Any = None) -> None:
        """Draw what is no longer as it was: a cell, or another view, has changed the thread."""
        self.opened = [view for view in self.opened if view.is_open()]
        for view in tuple(self.opened):
            with suppress(JanError):  # who asks next is told
                mark = view.mark()
                if mark != view.seen:
                    view.seen = mark
                    view.draw()

    def _close(self, cell: str, run: str) -> None:
        if not cell:
            return
        for view in [each for each in self.opened if each.cell == cell and each.run != run]:
            self.opened.remove(view)
            view.close()


def views_of(shell: Any) -> OpenViews:
    """Return the open views of a kernel; from the first call on they follow its cells."""
    found: OpenViews | None = getattr(shell, ATTRIBUTE, None)
    if found is None:
        found = OpenViews(shell)
        setattr(shell, ATTRIBUTE, found)
    # Unloading the extension takes our callbacks away.
    for event, callback in (
        ("pre_run_cell", found.before_cell),
        ("post_run_cell", found.after_cell),
    ):
        if callback not in shell.events.callbacks[event]:
            shell.events.register(event, callback)
    return found
