"""A thread to read and to go on in: composer, versions, edits, and what is done to the context."""

import contextvars
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from jan_magics.domain.errors import SettingError, ThreadError
from jan_magics.domain.legacy import words_of
from jan_magics.engine import marking
from jan_magics.engine.asking import Asking
from jan_magics.engine.branches import edit_answer, go
from jan_magics.engine.compacting import compact
from jan_magics.engine.ids import full_id
from jan_magics.engine.naming import shown_title
from jan_magics.engine.records import model_of
from jan_magics.engine.reply import Progress
from jan_magics.engine.session import Session
from jan_magics.engine.views import View
from jan_magics.notebook.bridge import Bridge, Channel, Job
from jan_magics.notebook.hazards import legible
from jan_magics.widgets.comm import Message, Say, follow, told
from jan_magics.widgets.context_buttons import can_of, changeable
from jan_magics.widgets.growing import Growing
from jan_magics.widgets.marks import mark_of
from jan_magics.widgets.thread_rows import rows_of
from jan_magics.widgets.view_desk import ViewDesk

Act: TypeAlias = Callable[["ThreadView", Mapping[str, Any]], None]
Work: TypeAlias = Callable[[Channel[Progress]], Any]

ANSWERING: Final = "answering"
COMPACTING: Final = "compacting"
WINDOW: Final = 30
"""Rows that a page gets at a time."""


@dataclass(slots=True)
class Busy:
    """What a view does just now; `prompt` is shown until the question is `asked`: on the path."""

    what: str
    job: Job[Any, Progress]
    prompt: str = ""
    asked: bool = False
    growing: Growing = field(default_factory=Growing)
    desk: ViewDesk | None = None


@dataclass(slots=True)
class ThreadView:
    """The thread that cells ask in, whichever that is by now.

    `went` is told when another path is shown, or more of it. What takes time goes on on the
    engine's loop; a thread follows it, so that the kernel is free for the next click.
    """

    bridge: Bridge
    session: Callable[[], Session]
    went: Callable[[View], None]
    kind: str = "thread"
    busy: Busy | None = None
    _say: Say = field(default=lambda _: None)
    _turn: threading.RLock = field(default_factory=threading.RLock)
    """Who tells how an answer grows: each delta goes on where what was told before it ended."""

    def joined(self, say: Say) -> None:
        """Take the way to the page."""
        self._say = say

    def mark(self) -> object:
        """Return what differs when the thread has changed."""
        return mark_of(self.session())

    def first(self) -> Message:
        """Return nothing: what was said is no part of a widget's state."""
        return {}

    def state(self) -> Message:
        """Return the end of the thread, and what can be done."""
        view, busy = self.session().view(), self.busy
        # An answer that grows stands below the rows, and in none of them.
        growing = view.live if busy and busy.asked else frozenset[str]()
        rows = rows_of(view, growing - {m.id for m in view.path() if m.role == "user"})
        total = len(rows.stretches)
        start = max(0, total - WINDOW)
        return {
            "kind": "thread",
            "title": legible(shown_title(view.thread)) if view.thread else "",
            "model": legible(_model_of(view)),
            "total": total,
            "from": start,
            "rows": rows.cut(start, total),
            "can": can_of(view, rows.seen),
            "busy": {"what": busy.what, "prompt": "" if busy.asked else legible(busy.prompt)}
            if busy
            else None,
        }

    def hear(self, message: Mapping[str, Any]) -> None:
        """Do what a page asks for. Raises JanError where that cannot be."""
        act = ACTS.get(str(message.get("kind")))
        if act is not None:
            act(self, message)

    def tell(self, message: Message) -> None:
        """Tell the page something."""
        self._say(message)

    def show(self) -> None:
        """Tell the page everything."""
        with self._turn:
            self._say(self.state())
            if self.busy and self.busy.growing.sent:
                self._say(self.busy.growing.whole())
        if self.busy and self.busy.desk:
            self.busy.desk.show()

    def closed(self) -> None:
        """Nobody looks any more: what is asked is refused."""
        if self.busy and self.busy.desk:
            self.busy.desk.close()

    def begin(self, what: str, work: Work, prompt: str = "", desk: ViewDesk | None = None) -> None:
        """Begin what takes time. Raises ThreadError while something else goes on here."""
        if self.busy is not None:
            raise ThreadError(f"{self.busy.what} goes on", "Wait for it, or stop it.")
        self.busy = busy = Busy(what, self.bridge.start(work), prompt, desk=desk)
        self.show()
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._follow, busy), daemon=True).start()

    def _follow(self, busy: Busy) -> None:
        try:
            failure = follow(busy.job, lambda progress: self._grow(busy, progress))
        finally:
            self.bridge.running.remove(busy.job)
            self.busy = None
        told(self._say, self.show)
        if failure is not None:
            self._say(failure)
        told(self._say, lambda: self.went(self.session().view()))

    def _grow(self, busy: Busy, progress: Progress) -> None:
        with self._turn:
            if busy.what == ANSWERING and not busy.asked and _is_asked(busy, self.session().view()):
                busy.asked = True
                self._say(self.state())
            if message := busy.growing.update(progress.text, progress.note):
                self._say(message)


def _is_asked(busy: Busy, view: View) -> bool:
    """Tell whether the rows show the question: that of a new thread comes to its path later."""
    asked = any(each.role == "user" and each.id in view.live for each in view.path())
    return asked if busy.prompt else bool(view.live)


def _model_of(view: View) -> str:
    answers = (model_of(message) for message in reversed(view.path()))
    return next(filter(None, answers), "")


def _ready(view: ThreadView, _: Mapping[str, Any]) -> None:
    view.show()


def _earlier(view: ThreadView, message: Mapping[str, Any]) -> None:
    """Tell the rows before a place."""
    before = int(message.get("before") or 0)
    start = max(0, before - WINDOW)
    rows = rows_of(view.session().view()).cut(start, before)
    view.tell({"kind": "earlier", "from": start, "rows": rows})


def _open(view: ThreadView, message: Mapping[str, Any]) -> None:
    """Tell the messages of a folded stretch, a window at a time."""
    first, start = str(message.get("message")), max(0, int(message.get("from") or 0))
    rows, total = rows_of(view.session().view()).inside(first, start, start + WINDOW)
    view.tell({"kind": "opened", "message": first, "from": start, "total": total, "rows": rows})


def _source(view: ThreadView, message: Mapping[str, Any]) -> None:
    """Tell the words of a message as they were written, to be edited or copied."""
    index = view.session().view().index
    found = index[full_id(index, message.get("message"))]
    view.tell({"kind": "source", "message": found.id, "text": words_of(found)})


def _send(view: ThreadView, message: Mapping[str, Any]) -> None:
    text = str(message.get("text") or "")
    if not text.strip():
        raise SettingError("the prompt is empty", "Write something first.")
    _ask(view, Asking(text))


def _retry(view: ThreadView, message: Mapping[str, Any]) -> None:
    _ask(view, Asking(aim="retry", at=str(message.get("message"))))


def _resume(view: ThreadView, message: Mapping[str, Any]) -> None:
    """Go on with an answer that was cut."""
    _ask(view, Asking(aim="resume", at=str(message.get("message"))))


def _verdict(view: ThreadView, message: Mapping[str, Any]) -> None:
    """Take the answer to a question about a tool call."""
    if view.busy and view.busy.desk:
        view.busy.desk.hear(message)


def _edit(view: ThreadView, message: Mapping[str, Any]) -> None:
    """Put a version beside a message; of a question it is asked, of an answer it is kept."""
    identifier, text = str(message.get("message")), str(message.get("text") or "")
    if not text.strip():
        raise SettingError("the new text is empty", "Write something, or leave it as it is.")
    session = changeable(view.session())
    if session.view().index[identifier].role == "user":
        _ask(view, Asking(text, aim="edit", at=identifier))
    else:
        edit_answer(session, identifier, text)
        _changed(view)


def _version(view: ThreadView, message: Mapping[str, Any]) -> None:
    """Go to the version before or behind the one that is shown."""
    session, step = changeable(view.session()), -1 if message.get("step") == -1 else 1
    index = session.view().index
    siblings = index.siblings(str(message.get("message")))
    at = index.version(str(message.get("message")))[0] - 1 + step
    if 0 <= at < len(siblings):
        go(session, siblings[at].id)
    _changed(view)


def _stop(view: ThreadView, _: Mapping[str, Any]) -> None:
    if busy := view.busy:
        busy.job.loop.call_soon_threadsafe(busy.job.drop)
    else:
        view.show()


def _clear(view: ThreadView, _: Mapping[str, Any]) -> None:
    marking.clear(changeable(view.session()))
    _changed(view)


def _restore(view: ThreadView, _: Mapping[str, Any]) -> None:
    marking.restore(changeable(view.session()), "clear")
    _changed(view)


def _uncompact(view: ThreadView, _: Mapping[str, Any]) -> None:
    marking.restore(changeable(view.session()), "compact")
    _changed(view)


def _compact(view: ThreadView, _: Mapping[str, Any]) -> None:
    session = changeable(view.session())
    view.begin(COMPACTING, lambda put: compact(session, None, put, dry_run=False))


def _ask(view: ThreadView, asking: Asking) -> None:
    session, desk = changeable(view.session()), ViewDesk(view.tell)
    view.begin(ANSWERING, lambda put: session.send(asking, put, desk=desk), asking.text, desk)


def _changed(view: ThreadView) -> None:
    view.show()
    view.went(view.session().view())


ACTS: Final[Mapping[str, Act]] = MappingProxyType({
    "ready": _ready, "earlier": _earlier, "open": _open, "source": _source, "send": _send,
    "retry": _retry, "resume": _resume, "verdict": _verdict, "edit": _edit, "version": _version,
    "stop": _stop, "clear": _clear, "restore": _restore, "compact": _compact,
    "uncompact": _uncompact,
})  # fmt: skip
"""What a page may ask for, by the kind of its message."""
