"""Asking a person whether a tool may run: a line to type into, where there is somebody to type."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from jan_magics.engine.tools import Verdict
from jan_magics.notebook.bridge import Channel
from jan_magics.notebook.identity import in_kernel
from jan_magics.notebook.render import plain

T = TypeVar("T")

LONGEST: Final = 4000
"""Characters of the arguments that are shown; of longer ones it is said how many are not."""
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

    async def run(self, work: Callable[[], T]) -> T:
        """Run something in the waiting thread."""
        return await self.channel.hand(work)

    def ask(self, name: str, arguments: str) -> Verdict:
        """Ask whether a call may run; "nobody" where nobody can type."""
        return ask_person(self.shell, question_about(name, arguments))

    def start(self, name: str, command: str) -> Verdict:
        """Ask whether an MCP server may be started; "nobody" where nobody can type."""
        return ask_person(self.shell, question_before(name, command))


def question_before(name: str, command: str) -> str:
    """Return the line that a person is asked by before an MCP server is started."""
    return f"Start the MCP server {plain(name)}: {plain(command)}? [y]es, [n]o: "


def question_about(name: str, arguments: str) -> str:
    """Return the line that a person is asked by."""
    shown = plain(arguments)
    if len(shown) > LONGEST:
        shown = f"{shown[:LONGEST]} … and {len(shown) - LONGEST} more characters"
    return f"Run {plain(name)}({shown})? [y]es, [n]o, [a]lways in this kernel: "


def ask_person(shell: Any, question: str) -> Verdict:
    """Ask until there is a yes, a no or an always."""
    while can_type(shell):
        try:
            typed = input(question).strip().lower()
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


def can_type(shell: Any) -> bool:
    """Tell whether somebody may type here; a kernel finds it out when it asks."""
    if in_kernel(shell):
        return True
    return sys.stdin is not None and sys.stdin.isatty()
