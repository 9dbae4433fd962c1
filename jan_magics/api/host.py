"""One engine with its bridge and its display: what `Chat` and the magics share."""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from jan_magics.api.answer import Answer, answer_of
from jan_magics.api.sessions import Sessions
from jan_magics.api.shown import shown_of
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import JanError, SchemaUnmet
from jan_magics.domain.messages import Message, Thread
from jan_magics.domain.overlays import CellLink
from jan_magics.engine.advising import told_of
from jan_magics.engine.asking import Asking
from jan_magics.engine.asks import Turn
from jan_magics.engine.assemble import Opening
from jan_magics.engine.naming import shown_title
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Progress
from jan_magics.engine.session import Over, Preview, Session
from jan_magics.notebook.approving import MainThread, PageDesk
from jan_magics.notebook.bridge import Bridge, Channel, Job, Stopped
from jan_magics.notebook.buttons import ATTRIBUTE, buttons_of
from jan_magics.notebook.identity import cell_id, execution_key, in_kernel
from jan_magics.notebook.live import CellDisplay, Display, Silent, TerminalDisplay
from jan_magics.notebook.onscreen import OnScreen
from jan_magics.notebook.render import Format, bundle, live_markdown
from jan_magics.notebook.streaming import PageDisplay, PageTurn

NOT_ASKED: Final = "the model was not asked, and the thread is as it was · run the cell again"
"""What became of a turn that was stopped while something was looked up for it."""


@dataclass(frozen=True, slots=True)
class Showing:
    """How a turn is shown. `show` None: live in a notebook or terminal, not in a script."""

    show: bool | None = None
    stream: bool = True
    format: Format = "markdown"


class Follower(Protocol):
    """A turn in the background, which other cells can show too."""

    @property
    def dropped(self) -> str:
        """Return the prompt of a turn that was stopped before it was sent, "" for others."""
        ...

    def attach(self) -> None:
        """Show it in the running cell."""
        ...

    def news(self) -> str:
        """Say in the next footer that it is over, "" where its user knows."""
        ...


@dataclass(slots=True)
class Host:
    """An engine that is opened at its first use; `shell` is None in a script.

    `followers` are the turns in the background.
    """

    opening: Opening
    shell: Any = None
    bridge: Bridge = field(default_factory=Bridge)
    sticky: Asking = field(default_factory=Asking)
    onscreen: OnScreen = field(default_factory=OnScreen)
    followers: list[Follower] = field(default_factory=list)
    sessions: Sessions = field(init=False)
    _calls: tuple[str, int] = ("", 0)

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.opening, self.bridge)

    def session(self) -> Session:
        """Return the session; the store is opened by its first use."""
        return self.sessions.current(self.sticky)

    def ask(self, asking: Asking, showing: Showing) -> Answer:
        """Make a turn and show it.

        Raises:
            Stopped: when it was interrupted; what was said is kept and shown.
            JanError: as the turn says; what was said is kept and shown.
        """
        session, display, ended = self.session(), display_of(self, showing), list[Outcome]()
        send = _sending(self, asking, ended.append)

        def update(progress: Progress) -> None:
            display.update(progress.text, progress.note)

        try:
            self.bridge.run(send, update, lambda job: stoppable(display, job))
        except BaseException as failure:
            said = ended[-1] if ended and ended[-1].turn.answer.parts else None
            if said is None:
                display.clear()
            else:
                self.show(display, said, showing)
            if isinstance(failure, Stopped) and (said is not None or not ended):
                raise _stopped(self, session, said) from None
            if isinstance(failure, SchemaUnmet) and said is not None:
                failure.answer = self.answer(said, shown=True)
            raise
        self.show(display, ended[-1], showing)
        return self.answer(ended[-1], shown=showing.show is not False, form=showing.format)

    def show(self, display: Display, outcome: Outcome, showing: Showing) -> None:
        """Show a turn that is over, and tell the cells of its thread where they stand."""
        stable = self.stable()
        shown = shown_of(outcome, showing.format, language_of(self))
        display.finish(bundle(shown, stable=stable))
        kept = outcome.turn.answer.id in outcome.turn.index
        if isinstance(display, CellDisplay | PageDisplay | PageTurn) and kept and not stable:
            # With one stable display an answer's cell is never touched again; a side turn's
            # answer is on no branch.
            self.onscreen.put(outcome.turn.thread.id, display, shown)
        self._tell_now(outcome.turn)

    def answer(self, outcome: Outcome, *, shown: bool, form: Format = "markdown") -> Answer:
        """Return the answer of a turn; `shown` = the running cell has shown it already."""
        view = shown_of(outcome, form, language_of(self))
        return answer_of(outcome, bundle(view, stable=self.stable()), self.here, shown=shown)

    def stable(self) -> bool:
        """Tell whether everything is shown once and the same in every run."""
        session = self.session()
        once = session.settings().get("display").value == "once"
        return once or session.engine.deck.playing is not None

    def streams(self) -> bool:
        """Tell whether answers are shown while they come."""
        playing = self.session().engine.deck.playing
        if self.session().settings().get("display").value == "once":
            return False
        return playing is None or playing.paced

    def tell(self, thread: Thread | None, path: Sequence[Message]) -> None:
        """Tell the cells of a thread whether what they show is still on its active path."""
        if thread is not None:
            self.onscreen.tell(thread.id, {message.id for message in path})

    def _tell_now(self, turn: Turn) -> None:
        """Tell the cells what is shown by now: a turn in the background may be looked at late."""
        with suppress(JanError):
            self.tell(turn.thread, self.session().engine.tree(turn.thread).path())

    def begin(
        self, asking: Asking, over: Over = lambda _: None, *, cell: str | None = None
    ) -> Job[Outcome, Progress]:
        """Begin a turn that is read piece by piece, in the thread that asks for it.

        With a `cell` it goes on in the background, and is asked about there.
        """
        return self.bridge.start(_sending(self, asking, over, cell))

    def end(self, job: Job[Outcome, Progress]) -> Answer:
        """Return the answer of a turn that was read to its end."""
        outcome = job.result()
        self._tell_now(outcome.turn)
        return self.answer(outcome, shown=False)

    def release(self, follower: Follower) -> None:
        """Let go of a turn in the background; the next footer says that it is over."""
        self.followers.remove(follower)
        self.session().telling.news.append(follower.news)

    def preview(self, asking: Asking) -> Preview:
        """Return what would be sent."""
        session = self.session()
        return self.bridge.call(lambda: session.preview(asking))

    def last_answer(self) -> Answer | None:
        """Return the newest turn's answer, also one that was stopped or failed."""
        outcome = self.session().last
        return None if outcome is None else self.answer(outcome, shown=True)

    def cell_call(self) -> CellLink | None:
        """Return which call of which cell this is, None where the front end does not say."""
        cell = cell_id(self.shell) if self.shell else ""
        here = self.here()
        self._calls = (here, self._calls[1] + 1 if self._calls[0] == here else 0)
        if not cell:
            return None
        return CellLink(self.opening.here().notebook, cell, self._calls[1], "")

    def here(self) -> str:
        """Return what tells this execution from every other one."""
        return execution_key(self.shell) if self.shell else ""

    def reconnect(self) -> None:
        """Let the next turn use the keys as they are now; threads and `use` stay as they are."""
        if session := self.sessions.opened:
            self.bridge.loop().call_soon_threadsafe(session.engine.reconnect)

    def reopen(self) -> None:
        """Close the engine; the next use opens it with the settings as they are then."""
        self.sticky = self.sessions.reopen() or self.sticky

    def close(self) -> None:
        """Close the engine and end its thread."""
        self.sessions.close()
        self.bridge.close()


def _stopped(host: Host, session: Session, said: Outcome | None) -> Stopped:
    """Return what says what an interrupted turn left; None: it had not begun."""
    if said is None:
        return Stopped(why=NOT_ASKED)
    answer = host.answer(said, shown=True)
    resume = told_of(session, said.turn.thread, "%chat resume")
    return Stopped(len(answer.text), answer, resume=resume)


def display_of(host: Host, showing: Showing) -> Display:
    """Return where a turn is shown here."""
    if showing.show is False or host.shell is None:
        return Silent()
    live = showing.stream and showing.format == "markdown" and host.streams()
    if not in_kernel(host.shell):
        return TerminalDisplay(live=live)
    buttons = buttons_of(host.shell)
    if live and buttons is not None and buttons.following:
        return PageDisplay(buttons.streams(), cell_id(host.shell), language_of(host))
    return CellDisplay(live_markdown if live else None, language_of(host))


def language_of(host: Host) -> str:
    """Return the language of what is shown: as is set, else that of the page that looks.

    "" is English. Where everything is the same in every run, a page has no say.
    """
    buttons = getattr(host.shell, ATTRIBUTE, None)
    page: str = buttons.language if buttons is not None else ""
    if host.sessions.opened is None:
        return page
    with suppress(JanError):  # settings that cannot be read are told elsewhere
        chosen: str | None = host.session().settings().get("language").value
        return chosen or ("" if host.stable() else page)
    return page


def stoppable(display: Display, job: Job[Any, Any]) -> None:
    """Let pages that follow a display stop what is shown there."""
    if isinstance(display, PageDisplay | PageTurn):
        display.stream.stop = job.drop_soon


def described(host: Host) -> str:
    """Return in which thread a chat is and who answers there; opens and writes nothing."""
    session = host.sessions.opened
    sticky = session.sticky if session else host.sticky
    name = f" {sticky.thread!r}" if sticky.thread else ""
    what = [] if name else ["the notebook's own thread"]
    with suppress(JanError):
        view = session.glance() if session else None
        if view and view.thread:
            name, what = f" {shown_title(view.thread)!r}", [counted(len(view.path()), "message")]
        elif view:
            what = ["a new thread at the first prompt"]
    told = ", ".join((*what, *([sticky.model] if sticky.model else ())))
    return f"<Chat{name}{': ' if told else ''}{told}>"


def _sending(
    host: Host, asking: Asking, over: Over, cell: str | None = None
) -> Callable[[Channel[Progress]], Coroutine[Any, Any, Outcome]]:
    """Return what makes a turn; without a `cell` that began it, a thread waits for it."""
    session, language = host.session(), language_of(host)
    playing = session.engine.playing
    # Ids come in the order of asking; a tool that runs may ask something itself.
    alone = playing is not None and playing.missing != "live"

    async def send(put: Channel[Progress]) -> Outcome:
        waits = cell is None
        desk = MainThread(put, host.shell, language) if waits else PageDesk(host.shell, cell or "")
        async with session.order.alone(alone):
            return await session.send(asking, put, over, desk)

    return send
