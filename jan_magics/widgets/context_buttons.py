"""What the four buttons of the context do, and whether they can: clear, restore, compact, undo."""

import contextvars
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from jan_magics.context.segments import Seen
from jan_magics.domain.errors import SettingError, ThreadError
from jan_magics.engine import marking
from jan_magics.engine.compacting import compact
from jan_magics.engine.order import What
from jan_magics.engine.reply import Progress
from jan_magics.engine.session import Session
from jan_magics.engine.views import View
from jan_magics.notebook.bridge import Bridge, Job
from jan_magics.widgets.comm import Message, follow


@dataclass(slots=True)
class ContextButtons:
    """The context of the thread that cells ask in; `went` is told when it has changed.

    `failure` is what became of a compaction that was begun here, None while all is well.
    """

    bridge: Bridge
    session: Callable[[], Session]
    went: Callable[[], None]
    failure: Message | None = None
    _job: Job[Any, Progress] | None = None

    def busy(self, view: View) -> What | Literal[""]:
        """Return what the thread is busy with, wherever that was begun; "" for nothing."""
        if self._job is not None:
            return "compacting"
        underway = self.session().order.of(view.thread.id) if view.thread else None
        return underway.what if underway and not underway.aside else ""

    def press(self, name: str) -> None:
        """Do what a button says; a compaction is only begun.

        Raises:
            ThreadError: where that would change nothing, or the thread is busy.
            SettingError: while a cassette is played.
        """
        if name == "stop":
            self._stop()
            return
        session = changeable(self.session())
        if what := self.busy(session.glance()):
            goes_on = "a compaction" if what == "compacting" else "an answer"
            raise ThreadError(f"{goes_on} goes on here", "Wait for it, or stop it: %chat stop")
        self.failure = None
        if name == "compact":
            self._begin(session)
        elif name == "clear":
            marking.clear(session)
        else:
            marking.restore(session, "compact" if name == "uncompact" else "clear")
        self.went()

    def _stop(self) -> None:
        """Stop a compaction, also one that was begun elsewhere."""
        thread = self.session().glance().thread
        underway = self.session().order.of(thread.id) if thread else None
        if self._job is not None:
            self._job.drop_soon()
        elif underway and underway.what == "compacting":
            underway.stop()

    def _begin(self, session: Session) -> None:
        job = self._job = self.bridge.start(lambda put: compact(session, None, put, dry_run=False))
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._follow, job), daemon=True).start()

    def _follow(self, job: Job[Any, Progress]) -> None:
        try:
            self.failure = follow(job, lambda _: None)
        finally:
            self.bridge.running.remove(job)
            self._job = None
        self.went()


def can_of(view: View, seen: Seen) -> dict[str, bool]:
    """Return which of the buttons would change something."""
    sent = any(message.id not in seen.statuses for message in view.path())
    return {
        "clear": sent or seen.summary is not None,
        "restore": seen.segment > 0,
        "compact": sent,
        "uncompact": seen.summary is not None,
    }


def changeable(session: Session) -> Session:
    """Return a session. Raises SettingError while a cassette is played."""
    if session.engine.playing is not None:
        raise SettingError("a cassette is being played here", "End it first: %chat replay --off")
    return session
