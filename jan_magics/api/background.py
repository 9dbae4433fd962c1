"""A turn that goes on while other cells run: `%%chat --background`."""

import contextvars
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from jan_magics.api.answer import Answer
from jan_magics.api.host import Host, Showing, display_of, stoppable
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import JanError, ThreadNotFound
from jan_magics.engine.advising import told_of
from jan_magics.engine.asking import Asking
from jan_magics.engine.naming import shown_title
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Progress
from jan_magics.notebook.bridge import GRACE, TICK, Job, Stopped
from jan_magics.notebook.identity import cell_id
from jan_magics.notebook.live import Display
from jan_magics.notebook.render import refusal
from jan_magics.notebook.streaming import PageTurn

ASKING: Final = "asking in the background"
NO_ANSWER: Final = "no answer yet · ask again: %chat retry"
NOT_SENT: Final = "it was waiting, and nothing was sent · run its cell again"


class Running:
    """A turn in the background. It streams into the cell that began it, and into those attached.

    `.stop()` ends it, `.wait()` returns its answer, `.answer` is there when it is over. Where a
    page has asked for it, `page` shows it.
    """

    def __init__(
        self, host: Host, asking: Asking, showing: Showing, page: PageTurn | None = None
    ) -> None:
        self._host = host
        self._showing = showing
        self._ended: list[Outcome] = []
        host.followers.append(self)
        self._displays = [self._opened(page or display_of(host, showing))]
        self._job: Job[Outcome, Progress] = host.begin(
            asking,
            self._ended.append,
            cell=page.cell if page else cell_id(host.shell) if host.shell else "",
        )
        stoppable(self._displays[0], self._job)
        self._prompt = asking.text
        self._answer: Answer | None = None
        self._failure: JanError | Stopped | None = None
        self._awaited = page is not None
        self._over = threading.Event()
        self._latest = Progress(note=ASKING)
        # The copied context lets what is displayed from there reach the cell that began it.
        follow = contextvars.copy_context().run
        threading.Thread(target=follow, args=(self._follow,), daemon=True).start()

    @property
    def done(self) -> bool:
        """Tell whether the turn is over."""
        return self._over.is_set()

    @property
    def answer(self) -> Answer:
        """Return the answer. Raises JanError while the turn goes on, or what it failed of."""
        if not self.done:
            raise JanError("the answer is not whole yet", "Wait for it: running.wait()")
        return self.wait()

    def wait(self, timeout: float | None = None) -> Answer:
        """Wait at most `timeout` seconds for the answer, also for one that was stopped.

        An interrupt stops the turn, as it does one in front.

        Raises:
            Stopped: when it was interrupted here, or stopped before a word was said.
            JanError: as the turn says, and when the time is over.
        """
        try:
            if not self.ends_in(timeout):
                raise JanError(
                    f"no whole answer after {timeout:g} s", "Wait longer: running.wait()"
                )
        except KeyboardInterrupt:
            self.stop()
            raise _stopped(self._host, self._ended, self._answer) from None
        self._awaited = True
        if self._answer is not None:
            return self._answer
        if isinstance(self._failure, JanError):
            raise self._failure
        raise _stopped(self._host, self._ended)

    def stop(self) -> None:
        """Stop the turn; what was said is kept and shown."""
        self._job.cancel()
        self.ends_in(GRACE)

    @property
    def dropped(self) -> str:
        """Return the prompt of a turn that was stopped before anything was sent, "" for others."""
        self.ends_in(GRACE)
        return "" if self._ended or not isinstance(self._failure, Stopped) else self._prompt

    def attach(self) -> None:
        """Show the turn in the running cell too, as after a page was loaded again."""
        display = self._opened(display_of(self._host, self._showing))
        stoppable(display, self._job)
        display.update(self._latest.text, self._latest.note)
        self._displays.append(display)

    def news(self) -> str:
        """Say that the turn is over, "" to who has waited for it."""
        if self._awaited:
            return ""
        how = "finished"
        if self._failure is not None:
            how = "stopped" if isinstance(self._failure, Stopped) else "failed"
        place = _place(self._host, self._ended[-1]) if self._ended else ""
        return f"a background turn {place}{how}"

    def __repr__(self) -> str:
        if self._host.stable():  # how far it is by now is another thing in every run
            return "<background turn>"
        state = "over" if self.done else f"{counted(len(self._latest.text), 'character')} so far"
        return f"<background turn: {state}>"

    def ends_in(self, timeout: float | None) -> bool:
        """Wait in short pieces, so that an interrupt is seen; None waits without an end."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self._over.wait(TICK):
            if until is not None and time.monotonic() >= until:
                return False
        return True

    def _opened(self, display: Display) -> Display:
        if not _settles(self._host):  # else the answer is the first thing to be shown
            display.open(ASKING)
        return display

    def _follow(self) -> None:
        failure: JanError | Stopped | None = None
        try:
            for progress in self._job.updates():
                self._latest = progress
                for display in self._displays:
                    display.update(progress.text, progress.note)
            self._job.result()
        except (JanError, Stopped) as raised:
            failure = raised
        try:
            self._end(failure)
        finally:
            self._over.set()

    def _end(self, failure: JanError | Stopped | None) -> None:
        outcome = self._ended[-1] if self._ended else None
        said = outcome is not None and (failure is None or bool(outcome.turn.answer.parts))
        for display in self._displays:
            if outcome is not None and said:
                self._host.show(display, outcome, self._showing)
            else:
                display.finish(refusal(self._lines(failure)))
        if outcome is not None and said and not isinstance(failure, JanError):
            self._answer = self._host.answer(outcome, shown=False)
        self._host.bridge.running.remove(self._job)
        self._failure = failure
        self._host.release(self)

    def _lines(self, failure: JanError | Stopped | None) -> list[str]:
        if isinstance(failure, JanError):
            return [f"{type(failure).__name__}: {failure.message}", failure.next_step]
        return [f"Stopped: {_stopped(self._host, self._ended)}"]


def _stopped(host: Host, ended: Sequence[Outcome], said: Answer | None = None) -> Stopped:
    """Return what tells that a turn was stopped, and what became of it."""
    if not ended:
        return Stopped(why=NOT_SENT)
    session, thread = host.session(), ended[-1].turn.thread
    if said is None:
        return Stopped(why=told_of(session, thread, NO_ANSWER))
    return Stopped(len(said.text), said, resume=told_of(session, thread, "%chat resume"))


def stop_all(host: Host) -> tuple[int, list[str]]:
    """Stop everything; returns how many turns that were sent, and the prompts of the others."""
    followers = tuple(host.followers)
    count = host.bridge.stop()
    dropped = [prompt for follower in followers if (prompt := follower.dropped)]
    return count - len(dropped), dropped


def settled(host: Host, running: Running) -> Running:
    """Wait where a cassette answers at once, so that cells show the same in every run."""
    if _settles(host):
        running.ends_in(None)
    return running


def _settles(host: Host) -> bool:
    playing = host.session().engine.deck.playing
    return playing is not None and not playing.paced


def _place(host: Host, ended: Outcome) -> str:
    """Name the thread as it is called by now."""
    thread = ended.turn.thread
    with suppress(ThreadNotFound):
        thread = host.session().engine.store.thread(thread.id)
    return f"in {shown_title(thread)} "
