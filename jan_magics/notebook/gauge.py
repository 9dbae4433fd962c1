"""How far a table is: one line of text, with a bar where HTML is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Final

from jan_magics.domain.counting import counted
from jan_magics.notebook.wording import worded

MINUTE: Final = 60
ENOUGH: Final = 3
"""Rows after which it can be told how long the others take."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """How many rows of how many are over, and how; `seconds` since the first request.

    `note` says what is waited for, `spent` what it has cost so far, None where that is not counted.
    """

    total: int
    over: int = 0
    failed: int = 0
    stored: int = 0
    seconds: float = 0.0
    note: str = ""
    spent: float | None = None

    def line(self) -> str:
        """Return it in one line."""
        pieces = (
            f"{self.over:,} of {counted(self.total, 'row')}",
            f"{self.failed:,} failed" if self.failed else "",
            f"{self.stored:,} stored" if self.stored else "",
            f"{self.spent:.4g} spent" if self.spent is not None else "",
            self.left(),
            self.note,
        )
        return " · ".join(filter(None, pieces))

    def left(self) -> str:
        """Return how long it will take, "" as long as nobody can know."""
        asked = self.over - self.stored
        if asked < ENOUGH or self.over >= self.total:
            return ""
        seconds = self.seconds / asked * (self.total - self.over)
        return f"{span(seconds)} left"

    def bundle(self, language: str = "") -> Mapping[str, object]:
        """Return it with a bar."""
        line, share = (
            worded(self.line(), language),
            f'max="{max(self.total, 1)}" value="{self.over}"',
        )
        bar = f'<progress {share} aria-label="rows">{self.over}/{self.total}</progress>'
        return {"text/plain": line, "text/html": f"<div>{bar} {escape(line)}</div>"}


def span(seconds: float) -> str:
    """Return a time as people say it.

    >>> span(3.2), span(75), span(7300)
    ('4 s', '2 min', '2 h 2 min')
    """
    if seconds < MINUTE:
        return f"{int(seconds) + 1} s"
    minutes = int(seconds // MINUTE) + 1
    hours, rest = divmod(minutes, MINUTE)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"
