"""A turn before and after it is made: what is asked, and what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from jan_magics.context.plan import ContextPlan
from jan_magics.domain.messages import FinishReason, Json, Message, Thread
from jan_magics.domain.models import (
    AnswerSchema,
    ChatOptions,
    ChatRequest,
    ModelRef,
    Purpose,
    Timings,
    Usage,
)
from jan_magics.domain.overlays import Overlay
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.attached import Attached
from jan_magics.engine.fitting import Fit
from jan_magics.engine.given import Finding, Retrieved
from jan_magics.engine.spots import HEAD, Spot
from jan_magics.engine.toolbox import Bench, Toolbox

Keeping: TypeAlias = Callable[[Message, Message], None]
"""Keeps a question and its answer."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A turn to be made at a spot of a thread; `overlays` are written with the question.

    `aside` is sent, unstored, before the question: what differs from turn to turn would otherwise
    spoil the prefix cache of all that follows it. `notes` are lines for the footer.
    `history` False: it is not reminded of the thread. `side`: it does not move the thread's head.
    `fit` says how much is sent. `partial` is the answer that is to go on. `bench` holds the tools.
    `given` is what was retrieved with the prompt, and is sent unstored before it;
    `finding` knows what tools find. `attached` goes with the question; None: with what it has.
    `schema` is the form of the answer, `held`: its server holds it to that. `anyway`: it is sent
    also when a key stands in it. A row of a table has the digest `row` of what is asked there;
    `keeping` keeps a side turn, None: the thread at once. `told` is what it is asked with,
    `at_once` how many turns the user wants to be under way at a time, 0: as the server is used.
    """

    thread: Thread
    index: TreeIndex
    text: str
    model: ModelRef
    system: str = ""
    aside: str = ""
    options: ChatOptions = field(default_factory=ChatOptions)
    history: bool = True
    side: bool = False
    spot: Spot = HEAD
    overlays: tuple[Overlay, ...] = ()
    fit: Fit = field(default_factory=Fit)
    partial: Message | None = None
    notes: tuple[str, ...] = ()
    bench: Bench = field(default_factory=lambda: Bench(Toolbox()))
    given: Retrieved | None = None
    finding: Finding | None = None
    attached: Attached | None = None
    schema: AnswerSchema | None = None
    held: bool = False
    anyway: bool = False
    purpose: Purpose = "turn"
    row: str | None = None
    keeping: Keeping | None = None
    told: Mapping[str, Json] = field(default_factory=dict)
    at_once: int = 0

    @property
    def kept_in(self) -> Thread | None:
        """Return the thread that the turn is written to, None for a side turn."""
        return None if self.side else self.thread

    def known(self) -> Retrieved | None:
        """Return what was given with the prompt, else what tools have found so far."""
        return self.given if self.given or self.finding is None else self.finding.given()


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished turn, with the exact request that was sent and the tree as it is now.

    `plan` is what the request was made of, `notes` what is to be told of that. `stored`: the
    answer was there already, and nothing was sent. `steps` are the requests that were sent.
    `replayed`: a cassette has answered all of them.
    """

    thread: Thread
    question: Message
    answer: Message
    request: ChatRequest
    index: TreeIndex
    finish: FinishReason
    usage: Usage
    timings: Timings
    stored: bool = False
    plan: ContextPlan | None = None
    notes: tuple[str, ...] = ()
    steps: int = 1
    replayed: bool = False
    given: Retrieved | None = None
    schema: AnswerSchema | None = None

    @property
    def newest(self) -> Message:
        """Return the answer, the question where there is none."""
        return self.answer if self.answer.id in self.index else self.question
