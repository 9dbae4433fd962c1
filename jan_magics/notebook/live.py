"""One display for one turn: coalesced while the answer grows, then final and self-contained."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final, Protocol

from jan_magics.notebook.render import plain
from jan_magics.notebook.wording import worded

FASTEST: Final = 0.08
"""Seconds between two updates at least."""
BYTES_PER_SECOND: Final = 18_000
"""Every update sends the whole text again; front ends drop output above their limit."""
PATIENCE: Final = 0.2
"""Seconds before a note without any text is shown."""
OVERHEAD: Final = 900
"""Bytes of a Jupyter message around its text."""


class Display(Protocol):
    """Where a turn is shown."""

    def open(self, note: str) -> None:
        """Take a place in the running cell at once."""
        ...

    def update(self, text: str, note: str) -> None:
        """Show an answer that grows; may be called more often than it shows."""
        ...

    def finish(self, bundle: Mapping[str, object]) -> None:
        """Show the final form."""
        ...

    def clear(self, said: str = "no answer") -> None:
        """Take away what was shown: the turn has nothing to say."""
        ...


@dataclass(slots=True)
class Silent:
    """Shows nothing."""

    def open(self, note: str) -> None:
        """Show nothing."""

    def update(self, text: str, note: str) -> None:
        """Show nothing."""

    def finish(self, bundle: Mapping[str, object]) -> None:
        """Show nothing."""

    def clear(self, said: str = "no answer") -> None:
        """Show nothing."""


@dataclass(slots=True)
class CellDisplay:
    """A display of the running cell; `live` turns text and a note into a small bundle."""

    live: Callable[[str, str], Mapping[str, object]] | None
    language: str = ""
    _handle: Any = None
    _next: float = 0.0
    _begun: float = field(default_factory=perf_counter)

    def open(self, note: str) -> None:
        """Show a note at once, so that what comes later has its place."""
        note = worded(note, self.language)
        self._send(self.live("", note) if self.live else {"text/plain": note})

    def update(self, text: str, note: str) -> None:
        """Show the text so far, as often as the line to the front end allows."""
        now = perf_counter()
        # A turn that fails at once leaves nothing behind: a mere note waits a little.
        if self.live is None or now < self._next or (not text and now < self._begun + PATIENCE):
            return
        bundle = self.live(text, worded(note, self.language))
        self._send(bundle)
        size = OVERHEAD + sum(
            len(str(value).encode("utf-8", "replace")) for value in bundle.values()
        )
        self._next = now + max(FASTEST, size / BYTES_PER_SECOND)

    def finish(self, bundle: Mapping[str, object]) -> None:
        """Replace what was shown by the final bundle."""
        self._send(bundle)

    def clear(self, said: str = "no answer") -> None:
        """Say that nothing came; the error below says why."""
        if self._handle is not None:
            self._send({"text/plain": worded(said, self.language)})

    def _send(self, bundle: Mapping[str, object]) -> None:
        from IPython.display import display  # the notebook floor loads without a front end

        if self._handle is None:
            self._handle = display(dict(bundle), raw=True, display_id=True)
        else:
            self._handle.update(dict(bundle), raw=True)


@dataclass(slots=True)
class TerminalDisplay:
    """A terminal: words are written as they come, the footer last."""

    live: bool
    _written: int = field(default=0)

    def open(self, note: str) -> None:
        """Show nothing: a terminal keeps no place."""

    def update(self, text: str, note: str) -> None:
        """Write the words that are new."""
        if self.live:
            said = plain(text)  # a model must not steer the terminal
            sys.stdout.write(said[self._written :])
            sys.stdout.flush()
            self._written = len(said)

    def finish(self, bundle: Mapping[str, object]) -> None:
        """Write what is not there yet."""
        sys.stdout.write(str(bundle["text/plain"])[self._written :].rstrip() + "\n")
        sys.stdout.flush()

    def clear(self, said: str = "no answer") -> None:
        """End the line."""
        if self._written:
            sys.stdout.write("\n")
