"""Our own records beside a thread's messages: what Jan's files have no place for.

A record is written once and never changed; a later one of the same kind wins.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from jan_magics.domain.messages import Json, Message

ChangeKind: TypeAlias = Literal[
    "branch", "drop", "delete", "title", "repair", "mark", "plan", "clear", "compact", "restore"
]
MarkAction: TypeAlias = Literal["keep", "drop", "pin", "summarise"]


@dataclass(frozen=True, slots=True)
class CellLink:
    """The question that a cell made: `ordinal` counts the chat calls of one execution, from 0."""

    notebook: str
    cell: str
    ordinal: int
    message: str


@dataclass(frozen=True, slots=True)
class SideTurn:
    """A turn that is no part of the thread's path: asked without history, a row of a table."""

    question: Message
    answer: Message


@dataclass(frozen=True, slots=True)
class Hidden:
    """A message that the user took off the path, or with `hidden` False put back."""

    id: str
    hidden: bool = True


@dataclass(frozen=True, slots=True)
class NextRoot:
    """The next turn begins a new root branch; `name` as the user called it. False: no longer."""

    name: str | None = None
    pending: bool = True


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a thread that `undo` takes back; `before` is what it needs for that.

    A "restore" takes the change back that it names, for as long as it is not taken back itself.
    """

    id: str
    kind: ChangeKind
    before: Mapping[str, Json]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Undone:
    """The change of that id was taken back."""

    change: str


@dataclass(frozen=True, slots=True)
class SegmentCut:
    """The context was cleared: what stands on a path up to `upto` is archived there.

    A path sees this, a summary or a mark exactly when it contains `upto`, and `change`, the id of
    the change that wrote it, was not taken back.
    """

    upto: str
    change: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What is sent in place of the messages `covers`, the last of which on the path is `upto`.

    `text` is the model's; `ledger` are lines by kind that were copied word for word beside it.
    """

    upto: str
    text: str
    ledger: Mapping[str, tuple[str, ...]]
    covers: tuple[str, ...]
    change: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What a person decided about a message, where the head was `upto`; the newest counts."""

    id: str
    action: MarkAction
    upto: str
    change: str


@dataclass(frozen=True, slots=True)
class TrimCut:
    """Where trimming for a model's window fell to: messages up to `upto` are not sent to it."""

    upto: str
    model: str
    window: int


Overlay: TypeAlias = (
    CellLink
    | SideTurn
    | Hidden
    | NextRoot
    | Change
    | Undone
    | SegmentCut
    | Summary
    | Mark
    | TrimCut
)


def taken_back(records: Iterable[Overlay]) -> frozenset[str]:
    """Return the ids of the changes that were taken back."""
    ours = [each for each in records if isinstance(each, Undone | Change)]
    undone = {each.change for each in ours if isinstance(each, Undone)}
    restored = {
        str(each.before.get("change"))
        for each in ours
        if isinstance(each, Change) and each.kind == "restore" and each.id not in undone
    }
    return frozenset(undone | restored)
