"""Asking by a button in JupyterLab while a cell runs: over a comm that the page opens.

The page's own comm reaches the kernel while a cell runs, because the kernel never speaks on it:
JupyterLab sends it on a subshell, whose thread only notes the answer here. What is asked goes out
on a comm of its own, which the kernel opens for one question and closes when that is over.
"""

import hashlib
import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from jan_magics.domain.version import VERSION

if TYPE_CHECKING:
    from jan_magics.engine.tools import Verdict
    from jan_magics.notebook.streaming import Streams

Kind: TypeAlias = Literal["call", "start"]

HELLO: Final = "jan-magics.hello"
"""Opened by the kernel: pages learn that there is somebody to answer to, and what turns say."""
ANSWER: Final = "jan-magics.ctl"
"""Opened by the page; its answers come on it."""
ASK: Final = "jan-magics.ask"
"""Opened by the kernel for one question."""
PAGE: Final = "jan-magics.page"
"""Opened by the page for its requests; the kernel replies on it."""
PROTOCOL: Final = 1
"""Raised where pages and kernels of two versions would not understand each other."""
PATIENCE: Final = 600.0
"""Seconds that a person has to answer; after that it is no."""
JOINING: Final = 3.0
"""Seconds that a page which was loaded just now has to show a question before it has joined."""
SEEN: Final = 15.0
"""Seconds that a page has to show a question, also a busy one; after that nobody looks at it."""
CALLING: Final = 1.0
"""Seconds between two calls to pages that were loaded while a question is open."""
TICK: Final = 0.1
"""Seconds between two looks: a waiting lock does not always notice an interrupt."""
ATTRIBUTE: Final = "jan_magics_buttons"
"""Where the buttons of a kernel hang on its shell; they survive %reload_ext."""
_SAYS: Final[tuple["Verdict", ...]] = ("yes", "no", "always")


@dataclass(slots=True)
class Question:
    """A question that is open. An answer counts when it has the token and the digest."""

    token: str
    digest: str
    verdict: "Verdict" = "no"
    joined: threading.Event = field(default_factory=threading.Event)
    """A page has come since it was put."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Nobody waits for the answer any more."""
    seen: threading.Event = field(default_factory=threading.Event)
    said: threading.Event = field(default_factory=threading.Event)

    def take(self, data: Mapping[str, object]) -> bool:
        """Take a message of a page in; False where it is about something else, or forged."""
        token, digest = str(data.get("token")), str(data.get("digest"))
        if not _same(token, self.token) or not _same(digest, self.digest):
            return False
        self.seen.set()
        said = next((each for each in _SAYS if each == data.get("verdict")), None)
        if said is not None and not self.said.is_set():
            self.verdict = said
            self.said.set()
        return True


@dataclass(slots=True)
class Buttons:
    """The pages that look at a kernel, and the questions that are open.

    `greeting` is the comm by which pages were told of us: one that has just been opened may be
    about to join. `following` are the pages that show turns as they are sent there. `language` is
    that of the page that came last.
    """

    open_comm: Callable[..., Any]
    greeting: Any = None
    pages: list[Any] = field(default_factory=list)
    following: list[Any] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    language: str = ""
    _streams: "Streams | None" = None

    def join(self, comm: Any, message: object = None) -> None:
        """Take the comm of a page."""
        self.pages.append(comm)
        told = _told(message)
        if told.get("protocol") == PROTOCOL:
            self.following.append(comm)
        if isinstance(language := told.get("language"), str):
            self.language = language
        for question in tuple(self.questions):
            question.joined.set()
        comm.on_msg(self._hear)
        comm.on_close(lambda _: self._leave(comm))

    def ask(
        self, kind: Kind, name: str, shown: str, cell: str = "", *,
        patience: float = PATIENCE, stopped: threading.Event | None = None,
    ) -> "Verdict":  # fmt: skip
        """Ask whoever looks at a page; "nobody" where no page shows the question.

        In the main thread an interrupt takes the question away and goes on, elsewhere `stopped`
        does. `cell` is where it belongs.
        """
        if not self.pages and self.greeting is None:
            return "nobody"
        digest = digest_of(kind, name, shown)
        question = Question(secrets.token_urlsafe(24), digest)
        question.stopped = stopped or question.stopped
        self.questions.append(question)
        data = {"kind": kind, "name": name, "shown": shown, "token": question.token,
                "digest": digest, "cell": cell}  # fmt: skip
        comms: list[Any] = []
        try:
            if not self._shown(question, data, comms):
                return "nobody"
            if not self._answered(question, data, comms, patience):
                return "late"
            return question.verdict
        finally:
            self.questions.remove(question)
            for comm in comms:
                comm.close()

    def _shown(self, question: Question, data: Mapping[str, object], comms: list[Any]) -> bool:
        """Put a question to the pages, again to each that joins; False where none shows it.

        A page that is just being loaded may hear the question before the kernel hears of the page.
        """
        end = time.monotonic() + (SEEN if self.pages else JOINING)
        while True:
            question.joined.clear()
            comms.append(self.open_comm(target_name=ASK, data=dict(data)))
            while not question.joined.is_set():
                if question.seen.wait(TICK):
                    return True
                if time.monotonic() >= end or question.stopped.is_set():
                    return False
            end = max(end, time.monotonic() + SEEN)

    def _answered(
        self, question: Question, data: Mapping[str, object], comms: list[Any], patience: float
    ) -> bool:
        """Wait for the answer, and put the question to pages that are loaded meanwhile.

        Such a page does not know yet whose kernel this is: it is called, and joins.
        """
        end, call = time.monotonic() + patience, 0.0
        while not question.said.wait(TICK):
            now = time.monotonic()
            if now >= end or question.stopped.is_set():
                return False
            if question.joined.is_set():
                question.joined.clear()
                if self._streams is not None:
                    self._streams.again()  # nothing else will say that the turn goes on
                comms.append(self.open_comm(target_name=ASK, data=dict(data)))
            elif now >= call:
                call = now + CALLING
                self.say({"kind": "asking"})
        return True

    def streams(self) -> "Streams":
        """Return the turns that pages follow; what they need is loaded by the first."""
        if self._streams is None:
            from jan_magics.notebook.streaming import Streams

            self._streams = Streams(self.say, lambda: bool(self.following))
        return self._streams

    def say(self, event: Mapping[str, object]) -> None:
        """Tell every page something, from any thread; nothing comes back on that comm."""
        if self.greeting is not None:
            self.greeting.send(dict(event))

    def _hear(self, message: Mapping[str, Any]) -> None:
        """Note an answer, or stop a turn; this runs in a thread that may do nothing else."""
        data = _told(message)
        if self._streams is not None and isinstance(turn := data.get("stop"), str):
            self._streams.stop(turn)
        else:
            for question in tuple(self.questions):
                question.take(data)

    def _leave(self, comm: Any) -> None:
        for pages in (self.pages, self.following):
            if comm in pages:
                pages.remove(comm)


def buttons_of(shell: Any) -> Buttons | None:
    """Return the buttons of a kernel; at the first call pages are told that it takes answers.

    None where there is no kernel.
    """
    kernel = getattr(shell, "kernel", None)
    manager = getattr(kernel, "comm_manager", None)
    if manager is None:
        return None
    found = getattr(shell, ATTRIBUTE, None)
    if found is None:
        from comm import create_comm

        found = Buttons(create_comm)
        setattr(shell, ATTRIBUTE, found)
        manager.register_target(ANSWER, found.join)
        # Elsewhere nobody knows the word, and a runner of notebooks would complain of it.
        if "JPY_SESSION_NAME" in os.environ:
            greeting = {"protocol": PROTOCOL, "version": VERSION}
            found.greeting = create_comm(target_name=HELLO, data=greeting)
    buttons: Buttons = found
    return buttons


def digest_of(kind: str, name: str, shown: str) -> str:
    """Return what stands for a question, as whoever says yes has to repeat it."""
    return hashlib.sha256("\0".join((kind, name, shown)).encode("utf-8", "replace")).hexdigest()


def _told(message: object) -> Mapping[str, Any]:
    """Return what a message of a page says, {} for what cannot be read."""
    content = message.get("content") if isinstance(message, dict) else None
    data = content.get("data") if isinstance(content, dict) else None
    return data if isinstance(data, dict) else {}


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())
