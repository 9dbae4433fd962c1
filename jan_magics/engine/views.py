"""A thread as it is shown: its tree, with our own records laid over it. Pure but for `view_of`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from jan_magics.domain.messages import Message, Thread
from jan_magics.domain.overlays import Change, Hidden, NextRoot, Overlay, taken_back
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.engine import Engine

Status: TypeAlias = Literal["active", "truncated"]


@dataclass(frozen=True, slots=True)
class View:
    """A thread with its records in the order of writing; `thread` None: nothing is written yet.

    `live` are the ids of the answers that are being given just now, of the question where an answer
    has no word yet.
    """

    thread: Thread | None = None
    index: TreeIndex = field(default_factory=TreeIndex)
    records: Sequence[Overlay] = ()
    live: frozenset[str] = frozenset()

    @property
    def pending(self) -> bool:
        """Tell whether the next turn begins a new root branch."""
        return root_is_pending(self.records)

    @property
    def hidden(self) -> frozenset[str]:
        """Return the ids of the messages that the user has hidden."""
        states = {each.id: each.hidden for each in self.records if isinstance(each, Hidden)}
        return frozenset(identifier for identifier, hidden in states.items() if hidden)

    def path(self) -> tuple[Message, ...]:
        """Return the active path; a root branch that is about to begin is empty."""
        return () if self.pending else self.index.path()

    def changes(self) -> Iterator[Change]:
        """Yield the changes that were not taken back, the newest first."""
        undone = taken_back(self.records)
        changes = (each for each in reversed(self.records) if isinstance(each, Change))
        return (change for change in changes if change.id not in undone)


def view_of(engine: Engine, thread: Thread | None) -> View:
    """Return a thread as it is now; None gives an empty view."""
    if thread is None:
        return View()
    held = engine.trees.of(thread.id)
    live = (
        turn.answer if turn.answer in held.index else turn.question
        for turn in engine.live.of(thread.id)
    )
    return View(thread, held.index, held.records, frozenset(live))


def root_is_pending(records: Sequence[Overlay]) -> bool:
    """Tell whether the next turn begins a new root branch."""
    roots = (record for record in reversed(records) if isinstance(record, NextRoot))
    latest = next(roots, None)
    return latest is not None and latest.pending
