"""A table that is asked row by row, as values: what is asked, how, and what came of it so far."""

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from jan_magics.domain.messages import Message
from jan_magics.domain.models import AnswerSchema


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked for a row; `fault` says why nothing can be."""

    text: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class How:
    """How a table is asked: so many rows at a time, at most for this, also what was answered.

    `max_cost` is in the unit of the prices, None without a limit. `said`: the user has said how
    many, so that a server of this machine is sent as many as well.
    """

    concurrency: int = 4
    max_cost: float | None = None
    again: bool = False
    said: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """A row that is over; `error` "" where it went well, `stored`: it was answered before.

    `asked` False: nobody was asked, and `error` says why.
    """

    answer: Message | None = None
    error: str = ""
    data: Any = None
    stored: bool = False
    asked: bool = True


@dataclass(slots=True)
class Tally:
    """How far a table is. `rows` are those that are over, by their numbers from 0.

    `model` is who is asked, `schema` the form of the answers; `note` says what is waited for,
    `spent` is in the unit of the prices, None where no cost is limited. `before` counts stored
    rows that were answered below other messages. `away` are lines of rows that took something to
    another machine which perhaps should have stayed. `began` is the time of the first request.
    """

    total: int
    rows: dict[int, Done] = field(default_factory=dict)
    model: str = ""
    schema: AnswerSchema | None = None
    note: str = ""
    spent: float | None = None
    before: int = 0
    began: float = field(default_factory=perf_counter)
    failed: int = 0
    stored: int = 0
    unasked: int = 0
    away: list[str] = field(default_factory=list)

    def end(self, number: int, done: Done) -> None:
        """Note a row that is over."""
        self.rows[number], self.note = done, ""
        self.failed += bool(done.error) and done.asked
        self.unasked += not done.asked
        self.stored += done.stored

    @property
    def answered(self) -> int:
        """Return how many rows have an answer that was asked for now."""
        return len(self.rows) - self.failed - self.stored - self.unasked
