"""The panel of JupyterLab at a kernel: what it watches there, and its list of threads."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from jan_magics.api.host import Host
from jan_magics.api.live import telling
from jan_magics.api.opening import current_host
from jan_magics.domain.errors import JanError
from jan_magics.domain.protocols import ThreadRow
from jan_magics.engine.branches import begin
from jan_magics.engine.naming import shown_title
from jan_magics.engine.order import Underway
from jan_magics.engine.session import Session
from jan_magics.engine.undoing import bring_back, delete_thread, rename_thread
from jan_magics.notebook.buttons import Buttons
from jan_magics.notebook.columns import clip
from jan_magics.notebook.hazards import legible
from jan_magics.widgets.context_buttons import ContextButtons
from jan_magics.widgets.line import Request, number, text
from jan_magics.widgets.marks import mark_of
from jan_magics.widgets.open_views import Opened, views_of
from jan_magics.widgets.score_view import ScoreView

ATTRIBUTE: Final = "jan_magics_panel"
"""Where the panel of a kernel hangs on its shell."""
ROWS: Final = 50
"""Threads that are told at a time, unless a page wants more."""
LONGEST: Final = 300
"""Characters of a title, or of a line of text, that are told."""


@dataclass(slots=True)
class Panel:
    """What the panels of all pages know of this kernel. `found` are the newest searches."""

    host: Host
    buttons: Buttons
    context: ContextButtons = field(init=False)
    found: dict[str, ScoreView] = field(default_factory=dict)
    _opened: Opened = field(init=False)

    def __post_init__(self) -> None:
        self.context = ContextButtons(self.host.bridge, self.host.session, self.changed)
        self._opened = Opened(
            lambda: None, lambda: bool(self.buttons.following), self._mark, self._say
        )

    def watch(self) -> None:
        """Follow what cells do from now on; where no page looks any more, that ends by itself."""
        self.host.session().order.follow(self._hear)
        views = views_of(self.host.shell)
        if not any(each is self._opened for each in views.opened):
            self._opened.seen = self._mark()
            views.opened.append(self._opened)

    def changed(self) -> None:
        """Tell cells, views and panels that a page has changed something."""
        self._opened.seen = None  # also what no mark tells, as the end of a compaction
        telling(self.host)(self.host.session().glance())

    def _hear(self, underway: Underway) -> None:
        """Tell panels that the thread of the cells is busy, or no longer; called on the loop."""
        if underway.aside or not self.buttons.following:
            return
        with suppress(JanError):  # the turn itself is told
            thread = self.host.session().glance().thread
            if thread and thread.id == underway.thread:
                what = "" if underway.over.is_set() else underway.what
                self.buttons.say({"kind": "busy", "what": what})

    def _say(self) -> None:
        self.buttons.say({"kind": "changed"})

    def _mark(self) -> object:
        session = self.host.session()
        rows = session.engine.store.threads()
        listed = [(row.thread.id, row.thread.title, row.thread.updated_at) for row in rows]
        return mark_of(session), listed, _collections(session)


def panel_of(buttons: Buttons) -> Panel:
    """Return the panel of this kernel; from the first call on it follows the cells."""
    host = current_host()
    held = vars(host.shell)
    if ATTRIBUTE not in held:
        held[ATTRIBUTE] = Panel(host, buttons)
    panel: Panel = held[ATTRIBUTE]
    panel.watch()
    return panel


def threads(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Return the threads, the newest first; of `words` those that have them, titles first."""
    session = panel_of(buttons).host.session()
    rows = session.engine.store.threads()
    words, limit = str(request.get("words") or "").strip(), number(request, "limit", ROWS)
    found = list(_matching(session, rows, words)) if words else [(row, "") for row in rows]
    current = session.glance().thread
    return {
        "rows": [_row(row, snippet) for row, snippet in found[:limit]],
        "total": len(found),
        "current": current.id if current else None,
    }


def use(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Let cells go on in a thread, as `%chat use` does."""
    panel = panel_of(buttons)
    session = panel.host.session()
    thread = session.engine.store.thread(text(request, "thread"))
    session.sticky = replace(session.sticky, thread=thread.id)
    panel.changed()
    return {}


def new(buttons: Buttons, _: Request) -> Mapping[str, object]:
    """Begin a thread, and let cells go on there."""
    panel = panel_of(buttons)
    thread = begin(panel.host.session(), None)
    panel.changed()
    return {"thread": thread.id}


def rename(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Give a thread another title."""
    panel = panel_of(buttons)
    rename_thread(panel.host.session(), text(request, "thread"), text(request, "title"))
    panel.changed()
    return {}


def delete(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Move a thread to the bin."""
    panel = panel_of(buttons)
    thread = delete_thread(panel.host.session(), text(request, "thread"))
    panel.changed()
    return {"title": legible(clip(shown_title(thread), LONGEST))}


def undelete(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Take a thread out of the bin."""
    panel = panel_of(buttons)
    bring_back(panel.host.session(), text(request, "thread"))
    panel.changed()
    return {}


def _matching(
    session: Session, rows: Sequence[ThreadRow], words: str
) -> Iterator[tuple[ThreadRow, str]]:
    """Yield the threads whose titles have some words, then those whose messages do, and where."""
    snippets: dict[str, str] = {}
    for hit in session.engine.search.find(words):
        snippets.setdefault(hit.thread.id, hit.snippet)
    titled = [row for row in rows if words.casefold() in shown_title(row.thread).casefold()]
    for row in titled:
        yield row, snippets.pop(row.thread.id, "")
    known = {row.thread.id: row for row in rows}
    for identifier, snippet in snippets.items():
        if identifier in known:
            yield known[identifier], snippet


def _row(row: ThreadRow, snippet: str) -> dict[str, object]:
    return {
        "id": row.thread.id,
        "title": legible(clip(shown_title(row.thread), LONGEST)),
        "messages": row.messages,
        "branches": row.branches,
        "updated": row.thread.updated_at.isoformat(),
        "fault": legible(row.fault or ""),
        "snippet": legible(clip(" ".join(snippet.split()), LONGEST)),
    }


def _collections(session: Session) -> list[tuple[str, int, int]]:
    """Return what differs when a collection was written to: its files, without their indexes."""
    found = []
    for each in (session.engine.folder / "collections").glob("*"):
        if not each.name.endswith("-shm"):
            with suppress(OSError):  # SQLite has just taken it away
                stat = each.stat()
                found.append((each.name, stat.st_size, stat.st_mtime_ns))
    return sorted(found)


ACTIONS: Final[Mapping[str, Any]] = MappingProxyType({
    "threads": threads, "use": use, "new": new, "rename": rename, "delete": delete,
    "undelete": undelete,
})  # fmt: skip
