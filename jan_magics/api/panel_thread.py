"""What the panel shows of the thread that cells ask in: its tree, its budget, its buttons."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, Final

from jan_magics.api.live_budget import told_of
from jan_magics.api.panel import LONGEST, panel_of
from jan_magics.api.tree import Row, tree_of
from jan_magics.context.segments import look
from jan_magics.domain.errors import SettingError
from jan_magics.engine.asking import Asking
from jan_magics.engine.branches import go
from jan_magics.engine.naming import shown_title
from jan_magics.notebook.buttons import Buttons
from jan_magics.notebook.columns import clip
from jan_magics.notebook.hazards import legible
from jan_magics.widgets.context_buttons import can_of, changeable
from jan_magics.widgets.line import Request, number, text
from jan_magics.widgets.open_views import views_of

ROWS: Final = 200
"""Messages of a tree that are told at a time, unless a page wants more."""
PRESSED: Final = ("clear", "restore", "compact", "uncompact", "stop")


def tree(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Return the tree of the thread, of a long one what is around the end of its path."""
    view = panel_of(buttons).host.session().glance()
    rows = tree_of(view).rows
    start, end = _around(rows, number(request, "limit", ROWS))
    return {
        "thread": legible(clip(shown_title(view.thread), LONGEST)) if view.thread else "",
        "messages": len(view.index),
        "branches": view.index.leaves if len(view.index) else 0,
        "pending": view.pending,
        "before": start,
        "after": len(rows) - end,
        "rows": [asdict(row) for row in rows[start:end]],
    }


def branch(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Show the path through a message; cells go on there."""
    panel = panel_of(buttons)
    go(changeable(panel.host.session()), text(request, "message"))
    panel.changed()
    return {}


def budget(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Return what the next prompt would be sent with, and what can be done about it.

    `prompt` is what is being typed into a cell.
    """
    panel = panel_of(buttons)
    prompt = str(request.get("prompt") or "")
    view = panel.host.session().glance()
    failure = panel.context.failure
    return {
        **told_of(panel.host.preview(Asking(prompt if prompt.strip() else ""))),
        "can": can_of(view, look(view.path(), view.records)),
        "busy": panel.context.busy(view),
        "failed": {"said": failure["message"], "next": failure["next"]} if failure else None,
    }


def typed(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Let the gauges in the notebook follow what is being typed into a cell."""
    views_of(panel_of(buttons).host.shell).typed(str(request.get("prompt") or ""))
    return {}


def context(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Clear, restore, compact or undo that; or stop a compaction. Raises as the verbs do."""
    what = text(request, "press")
    if what not in PRESSED:
        raise SettingError(
            f"a page pressed {what!r}", "Upgrade jan-magics in the kernel's environment."
        )
    panel_of(buttons).context.press(what)
    return {}


def _around(rows: Sequence[Row], limit: int) -> tuple[int, int]:
    """Return where a window of a tree begins and ends; the end of the active path is in it."""
    head = max((n for n, row in enumerate(rows) if row.active), default=0)
    start = max(0, min(len(rows) - limit, head - limit // 2))
    return start, min(len(rows), start + limit)


ACTIONS: Final[Mapping[str, Any]] = MappingProxyType({
    "tree": tree, "branch": branch, "budget": budget, "typed": typed, "context": context,
})  # fmt: skip
