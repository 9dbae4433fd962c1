"""Asking in the page of a view whether a tool may run: its click is heard while nothing runs."""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from jan_magics.engine.tools import Verdict
from jan_magics.notebook.approving import page_words
from jan_magics.notebook.buttons import PATIENCE, TICK, Kind, Question, digest_of
from jan_magics.notebook.render import plain
from jan_magics.widgets.comm import Message, Say

T = TypeVar("T")


@dataclass(slots=True)
class ViewDesk:
    """Whoever looks at a view, as a turn that was begun there knows them.

    A view that is closed, and a turn that is stopped, mean no.
    """

    say: Say
    main: bool = False
    open: bool = True
    _asked: tuple[Question, Message] | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """Run something in a thread of its own; that the turn ends ends its question too."""
        try:
            return await asyncio.to_thread(work)
        finally:
            self.refuse()

    def ask(self, name: str, arguments: str) -> Verdict:
        """Ask whether a call may run."""
        return self._ask("call", name, arguments)

    def start(self, name: str, command: str) -> Verdict:
        """Ask whether an MCP server may be started."""
        return self._ask("start", name, command)

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take an answer of the page; one to another question is none."""
        if self._asked is not None:
            self._asked[0].take(message)

    def show(self) -> None:
        """Tell a page that has just come what is asked."""
        if self._asked is not None:
            self.say(self._asked[1])

    def refuse(self) -> None:
        """Say no to what is asked."""
        if self._asked is not None:
            self._asked[0].said.set()

    def close(self) -> None:
        """Say no to this and to all that comes: nobody looks any more."""
        self.open = False
        self.refuse()

    def _ask(self, kind: Kind, name: str, shown: str) -> Verdict:
        if not self.open:
            return "nobody"
        name, shown = plain(name), page_words(shown)
        question = Question(secrets.token_urlsafe(24), digest_of(kind, name, shown))
        told = {"kind": "asking", "what": kind, "name": name, "shown": shown,
                "token": question.token, "digest": question.digest}  # fmt: skip
        self._asked = question, told
        self.show()
        try:
            end = time.monotonic() + PATIENCE
            while not question.said.wait(TICK):
                if time.monotonic() >= end:
                    return "late"
            return question.verdict
        finally:
            self._asked = None
            self.say({"kind": "asked", "token": question.token})
