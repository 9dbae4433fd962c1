"""A thread to read and to go on in: composer, versions, edits, and what is done to the context."""

import contextvars
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from jan_magics.engine.naming import shown_title
from jan_magics.engine.order import Order, Underway, What
from jan_magics.engine.records import model_of
from jan_magics.engine.reply import Progress
from jan_magics.engine.session import Session
from jan_magics.engine.views import View
from jan_magics.notebook.bridge import Bridge, Job
from jan_magics.notebook.hazards import legible
from jan_magics.widgets.busy import ANSWERING, Busy, goes_on, other_of
from jan_magics.widgets.comm import Message, Say, follow, told
from jan_magics.widgets.context_buttons import can_of
from jan_magics.widgets.marks import mark_of
from jan_magics.widgets.thread_acts import ACTS, Work
from jan_magics.widgets.thread_rows import WINDOW, rows_of
from jan_magics.widgets.view_desk import ViewDesk

TICK: Final = 0.1
"""Seconds between two looks at a turn that was begun elsewhere."""


@dataclass(slots=True)
class ThreadView:
    """The thread that cells ask in, whichever that is by now.

    `went` is told when another path is shown, or more of it. What takes time goes on on the
    engine's loop; a thread follows it, so that the kernel is free for the next click. What was
    begun elsewhere in the same thread is followed, too.
    """

    bridge: Bridge
    session: Callable[[], Session]
    went: Callable[[View], None]
    kind: str = "thread"
    busy: Busy | None = None
    _say: Say = field(default=lambda _: None)
    _order: Order | None = None
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
            "busy": busy.told() if busy else None,
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
            self._look_on()
            self._say(self.state())
            if self.busy and self.busy.growing.sent:
                self._say(self.busy.growing.whole())
        if self.busy and self.busy.desk:
            self.busy.desk.show()

    def closed(self) -> None:
        """Nobody looks any more: what is asked is refused."""
        if self._order:
            self._order.leave(self._hear)
        if self.busy and self.busy.other:
            self.busy = None
        if self.busy and self.busy.desk:
            self.busy.desk.close()

    def begin(self, what: What, work: Work, prompt: str = "", desk: ViewDesk | None = None) -> None:
        """Begin what takes time. Raises ThreadError while something else goes on here."""
        with self._turn:
            if self.busy is not None:
                raise goes_on(self.busy)
            job = self.bridge.start(work)
            self.busy = busy = Busy(what, job.drop_soon, prompt, desk=desk)
        self.show()
        _apart(lambda: self._follow(busy, job))

    def _follow(self, busy: Busy, job: Job[Any, Progress]) -> None:
        try:
            failure = follow(job, lambda progress: self._grow(busy, progress))
        finally:
            self.bridge.running.remove(job)
            self.busy = None
        told(self._say, self.show)
        if failure is not None:
            self._say(failure)
        told(self._say, lambda: self.went(self.session().view()))

    def _look_on(self) -> None:
        """Follow what goes on in this thread, unless that was begun here."""
        session = self.session()
        if session.order is not self._order:
            self._order = session.order
            self._order.follow(self._hear)
        thread = session.glance().thread
        underway = session.order.of(thread.id) if thread else None
        if self.busy and self.busy.other and self.busy.other is not underway:
            self.busy = None  # cells go on in another thread, or it is over
        if self.busy is None and underway and not (underway.aside or underway.over.is_set()):
            self.busy = busy = other_of(underway)
            busy.asked = busy.what == ANSWERING and busy.is_asked(session.glance())
            _apart(lambda: self._follow_other(busy, underway))

    def _hear(self, underway: Underway) -> None:
        """Look on where something begins; called on the loop, which must not wait for a page."""
        if self.busy is None and not (underway.aside or underway.over.is_set()):
            _apart(lambda: told(self._say, partial(self._joined_by, underway)))

    def _joined_by(self, underway: Underway) -> None:
        with self._turn:  # who begins something here has it until that is noted
            thread = self.session().glance().thread
            if self.busy is None and thread and thread.id == underway.thread:
                self.show()

    def _follow_other(self, busy: Busy, underway: Underway) -> None:
        def look() -> None:
            while self.busy is busy and not underway.over.wait(TICK):
                self._grow(busy, underway.progress)

        told(self._say, look)
        if self.busy is busy:
            self.busy = None
            told(self._say, self.show)

    def _grow(self, busy: Busy, progress: Progress) -> None:
        with self._turn:
            if busy.what == ANSWERING and not busy.asked and busy.is_asked(self.session().view()):
                busy.asked = True
                self._say(self.state())
            if message := busy.growing.update(progress.text, progress.note):
                self._say(message)


def _apart(work: Callable[[], None]) -> None:
    """Do something in a thread of its own, whose messages go where those of this one do."""
    run = contextvars.copy_context().run
    threading.Thread(target=run, args=(work,), daemon=True).start()


def _model_of(view: View) -> str:
    answers = (model_of(message) for message in reversed(view.path()))
    return next(filter(None, answers), "")
