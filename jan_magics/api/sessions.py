"""The sessions of one host: that of its threads, and one for each cassette that is played."""

from dataclasses import dataclass, field, replace
from threading import RLock

from jan_magics.engine.asking import Asking
from jan_magics.engine.assemble import Opening, open_session
from jan_magics.engine.session import Session
from jan_magics.notebook.bridge import Bridge


@dataclass(slots=True)
class Sessions:
    """What a host has opened. `opened` is in use, `aside` is what a replay has set aside."""

    opening: Opening
    bridge: Bridge
    opened: Session | None = None
    aside: list[Session] = field(default_factory=list)
    _lock: RLock = field(default_factory=RLock)

    def current(self, sticky: Asking) -> Session:
        """Return the session that is in use; the first use opens it, where `sticky` sticks.

        Whichever chat of a kernel has begun or ended a replay, all change over with it.
        """
        playing = self.opening.deck.playing
        with self._lock:  # a page may ask in a thread of its own while the first cell runs
            here = self.opened or self._open(sticky)
        if here.engine.playing is playing or self.bridge.running:  # a turn ends where it began
            return here
        return self._change_over(here)

    def reopen(self) -> Asking | None:
        """Close what is in use, and return what stuck there; the next use opens it anew."""
        session, self.opened = self.opened, None
        if session is None:
            return None
        self.bridge.call(session.engine.close)
        return session.sticky

    def close(self) -> None:
        """Close everything."""
        self.reopen()
        while self.aside:
            self.opened = self.aside.pop()
            self.reopen()

    def _open(self, sticky: Asking) -> Session:
        self.opened = opened = open_session(self.opening)
        opened.sticky = sticky
        return opened

    def _change_over(self, here: Session) -> Session:
        deck = self.opening.deck
        back = next((each for each in self.aside if each.engine.playing is deck.playing), None)
        if back:
            self.aside.remove(back)
            self.opened = back
        else:
            back = self._open(_sticky_elsewhere(here))
        if here.engine.playing is None or here.engine.playing in deck.earlier:
            self.aside.append(here)
        else:  # its cassette is over
            self.bridge.call(here.engine.close)
        return back


def _sticky_elsewhere(session: Session) -> Asking:
    """Return what sticks, as another store knows it: by a thread's title, not by its id."""
    sticky = session.sticky
    thread = session.threads.seen(sticky.thread) if sticky.thread else None
    return replace(sticky, thread=thread.title or None) if thread else sticky
