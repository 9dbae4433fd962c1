"""A thread as a tree to walk in: choosing a message shows the path through it, for cells too."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jan_magics.engine.branches import go
from jan_magics.engine.session import Session
from jan_magics.engine.views import View
from jan_magics.widgets.comm import Message, Say
from jan_magics.widgets.marks import mark_of


@dataclass(slots=True)
class BranchPicker:
    """Every version of everything. `tree` turns a thread into what a page is told of it.

    `went` is told when another path is shown.
    """

    session: Callable[[], Session]
    tree: Callable[[View], Message]
    went: Callable[[View], None]
    kind: str = "tree"
    _say: Say = field(default=lambda _: None)

    def joined(self, say: Say) -> None:
        """Take the way to the page."""
        self._say = say

    def first(self) -> Message:
        """Return nothing: what was said is no part of a widget's state."""
        return {}

    def state(self) -> Message:
        """Return the whole tree."""
        return {"kind": "tree", **self.tree(self.session().view())}

    def mark(self) -> object:
        """Return what differs when the tree or its active path has changed."""
        return mark_of(self.session())

    def hear(self, message: Mapping[str, Any]) -> None:
        """Go to a message; the tree follows. Raises MessageNotFound, ThreadError."""
        if message.get("kind") == "go":
            self.went(go(self.session(), str(message.get("message"))))
        self._say(self.state())
