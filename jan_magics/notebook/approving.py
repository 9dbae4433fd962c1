"""Asking a person whether a tool may run: by a button, or by a line where somebody can type."""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from jan_magics.engine.tools import Verdict
from jan_magics.notebook.bridge import Channel
from jan_magics.notebook.buttons import PATIENCE, Kind, buttons_of
from jan_magics.notebook.identity import cell_id, in_kernel
from jan_magics.notebook.render import plain
from jan_magics.notebook.wording import worded_around

T = TypeVar("T")

LONGEST: Final = 4000
"""Characters of the arguments that a line shows; of longer ones it is said how many are not."""
LONGEST_PAGE: Final = 100_000
"""The same of a page, where they can be scrolled."""
_WORDS: Final[tuple[tuple[Verdict, tuple[str, ...]], ...]] = (
    ("yes", ("y", "yes", "j", "ja", "是", "好")),
    ("no", ("n", "no", "nein", "否", "不", "")),
    ("always", ("a", "always", "总是")),
)


@dataclass(frozen=True, slots=True)
class MainThread:
    """The thread that waits for a turn: it runs what it is handed, and asks who sits before it."""

    channel: Channel[Any]
    shell: Any
    language: str = ""
    main: bool = True

    async def run(self, work: Callable[[], T]) -> T:
        """Run something in the waiting thread."""
        return await self.channel.hand(work)

    def ask(self, name: str, arguments: str) -> Verdict:
        """Ask whether a call may run; "nobody" where nobody can answer."""
        return self._asked("call", name, arguments, question_about(name, arguments, self.language))

    def start(self, name: str, command: str) -> Verdict:
        """Ask whether an MCP server may be started; "nobody" where nobody can answer."""
        return self._asked("start", name, command, question_before(name, command, self.language))

    def _asked(self, kind: Kind, name: str, shown: str, line: str) -> Verdict:
        verdict: Verdict = "nobody"
        if buttons := buttons_of(self.shell):
            cell = cell_id(self.shell)
            verdict = buttons.ask(kind, plain(name), page_words(shown), cell)
        return ask_person(self.shell, line) if verdict == "nobody" else verdict


@dataclass(frozen=True, slots=True)
class PageDesk:
    """Whoever looks at a page while a turn goes on in the background, of the cell that began it.

    Nobody else can be asked: the line to type into belongs to the cell that runs.
    """

    shell: Any
    cell: str
    main: bool = False
    _stopped: threading.Event = field(default_factory=threading.Event)

    async def run(self, work: Callable[[], T]) -> T:
        """Run something in a thread of its own; that the turn is stopped ends its questions too."""
        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:
            self._stopped.set()
            raise

    def ask(self, name: str, arguments: str) -> Verdict:
        """Ask whether a call may run; "nobody" where no page shows it."""
        return self._asked("call", name, arguments)

    def start(self, name: str, command: str) -> Verdict:
        """Ask whether an MCP server may be started; "nobody" where no page shows it."""
        return self._asked("start", name, command)

    def _asked(self, kind: Kind, name: str, shown: str) -> Verdict:
        buttons = buttons_of(self.shell)
        if buttons is None:
            return "nobody"
        asked = (kind, plain(name), page_words(shown), self.cell)
        return buttons.ask(*asked, stopped=self._stopped)


def question_before(name: str, command: str, language: str = "") -> str:
    """Return the line that a person is asked by before an MCP server is started."""
    about = f"{plain(name)}: {plain(command)}"
    return worded_around("Start the MCP server {}? [y]es, [n]o: ", about, language)


def question_about(name: str, arguments: str, language: str = "") -> str:
    """Return the line that a person is asked by."""
    shown = _cut(plain(arguments), LONGEST)
    call = f"{plain(name)}({shown})"
    return worded_around("Run {}? [y]es, [n]o, [a]lways in this kernel: ", call, language)


def page_words(text: str) -> str:
    """Return a text of a model as a page shows it in a question."""
    return _cut(plain(text), LONGEST_PAGE)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[:longest]} … and {len(text) - longest} more characters"


def ask_person(shell: Any, question: str, patience: float = PATIENCE) -> Verdict:
    """Ask until there is a yes, a no or an always; "late" after `patience` seconds."""
    while can_type(shell):
        try:
            typed = _typed(question, patience)
            if typed is None:
                return "late"
        except (EOFError, OSError):
            break
        except RuntimeError as refused:  # a front end that has no line to type into
            if type(refused).__name__ != "StdinNotImplementedError":
                raise
            break
        for verdict, words in _WORDS:
            if typed in words:
                return verdict
    return "nobody"


def _typed(question: str, patience: float) -> str | None:
    """Return what a person types, None where nobody does in time.

    Nothing ends a waiting `input()` but an interrupt, which only the main thread gets.
    """
    if threading.current_thread() is not threading.main_thread():
        return input(question).strip().lower()
    late = threading.Event()

    def end() -> None:
        late.set()
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(patience, end)
    timer.daemon = True
    timer.start()
    try:
        return input(question).strip().lower()
    except KeyboardInterrupt:
        if late.is_set():
            return None
        raise
    finally:
        timer.cancel()


def can_type(shell: Any) -> bool:
    """Tell whether somebody may type here; a kernel finds it out when it asks."""
    if in_kernel(shell):
        return True
    return sys.stdin is not None and sys.stdin.isatty()
