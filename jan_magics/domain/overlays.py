"""Our own records beside a thread's messages: what Jan's files have no place for.

A record is written once and never changed; a later one of the same kind wins.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from jan_magics.domain.messages import Json, Message

ChangeKind: TypeAlias = Literal["branch", "drop", "delete", "title", "repair"]


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
    """A change of a thread that `undo` takes back; `before` is what it needs for that."""

    id: str
    kind: ChangeKind
    before: Mapping[str, Json]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Undone:
    """The change of that id was taken back."""

    change: str


Overlay: TypeAlias = CellLink | SideTurn | Hidden | NextRoot | Change | Undone
