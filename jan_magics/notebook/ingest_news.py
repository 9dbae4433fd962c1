"""How far documents are on their way into a collection, for pages that follow a kernel."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

from jan_magics.notebook.buttons import buttons_of

FASTEST: Final = 0.1
"""Seconds between two messages; what is counted between them is not told."""


@dataclass(slots=True)
class IngestNews:
    """What is told of one ingestion; `say` None: nobody follows."""

    say: Callable[[Mapping[str, object]], None] | None
    collection: str
    _next: float = 0.0
    _told: bool = False

    def tell(self, what: str, done: int, total: int | None) -> None:
        """Tell what is done, and of how many; may be called more often than it tells."""
        now = perf_counter()
        if self.say is not None and now >= self._next:
            self._next, self._told = now + FASTEST, True
            self._send(what, done, total, over=False)

    def over(self) -> None:
        """Tell that nothing more comes."""
        if self._told:
            self._send("documents", 0, None, over=True)

    def _send(self, what: str, done: int, total: int | None, *, over: bool) -> None:
        if self.say is not None:
            self.say({
                "kind": "ingest", "collection": self.collection, "what": what, "done": done,
                "total": total, "over": over,
            })  # fmt: skip


def ingest_news(shell: Any, collection: str) -> IngestNews:
    """Return what tells the pages of a kernel, if there are any."""
    buttons = buttons_of(shell)
    return IngestNews(buttons.say if buttons and buttons.following else None, collection)
