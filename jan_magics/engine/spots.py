"""Where a turn hangs in the tree, and what must be written for that. Pure."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias

from jan_magics.domain.branching import attach, fork, select
from jan_magics.domain.errors import ThreadError
from jan_magics.domain.messages import (
    UNLINKED,
    Json,
    Message,
    Parent,
    ReasoningPart,
    TextPart,
    text_of,
)
from jan_magics.domain.overlays import CellLink, Overlay
from jan_magics.domain.tree import Changes, TreeIndex
from jan_magics.engine.asked_with import with_told
from jan_magics.engine.attached import Attached

Where: TypeAlias = Literal["head", "root", "after", "beside", "again", "edit", "on"]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place for a turn.

    head: at the end of the active path · root: the first of a new root branch · after: below
    `message` · beside: in the place of the question `message`, which nobody has answered · again: a
    further answer to the question `message` · edit: a new version of it · on:
    the answer `message` itself goes on. `busy`: the question is being answered in another kernel.
    """

    where: Where = "head"
    message: str = ""
    busy: bool = False


HEAD = Spot()


@dataclass(frozen=True, slots=True)
class Placed:
    """A question with its place: `before` is the path that leads to it, `changes` its writing."""

    question: Message
    before: tuple[Message, ...]
    changes: Changes

    @property
    def is_new(self) -> bool:
        """Tell whether the question is written by this turn."""
        return any(message.id == self.question.id for message in self.changes.save)


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that has no place yet; `attached` None: a new version keeps what there was.

    `told` is what it is asked with.
    """

    id: str
    thread_id: str
    text: str
    created_at: datetime
    attached: Attached | None = None
    told: Mapping[str, Json] = field(default_factory=dict)

    def message(self, parent: Parent = UNLINKED) -> Message:
        """Return the question, without a parent not linked to anything."""
        parts = (TextPart(self.text),) if self.text.strip() else ()  # files may be all there is
        question = Message(self.id, self.thread_id, "user", parts, self.created_at, parent)
        question = with_told(question, self.told)
        return self.attached.put(question) if self.attached else question

    def completed(self, changes: Changes) -> Changes:
        """Return changes in which the question has its files, and what it is asked with."""

        def whole(message: Message) -> Message:
            told = with_told(message, self.told)
            return self.attached.put(told) if self.attached else told

        saved = (whole(each) if each.id == self.id else each for each in changes.save)
        return replace(changes, save=tuple(saved))


def put(index: TreeIndex, spot: Spot, draft: Draft) -> Placed:
    """Place a question. Raises MessageNotFound, ThreadError when the spot is no question."""
    match spot.where:
        case "again":
            question = _question(index, spot.message)
            path = index.path_to(question.id)
            return Placed(question, path[:-1], select(index, question.id))
        case "edit":
            source = _question(index, spot.message)
            changes = fork(index, source.id, draft.id, draft.created_at, draft.text)
            changes = draft.completed(changes)
        case "on":
            question = _question_of(index, spot.message)
            path = index.path_to(question.id)
            return Placed(question, path[:-1], select(index, spot.message))
        case "after":
            chosen = select(index, spot.message)
            message = draft.message(index[spot.message].id)
            changes = chosen.then(attach(index.after(chosen), message))
        case "beside":
            changes = attach(index, draft.message(index.parent(spot.message)))
        case "root":
            changes = (
                attach(index, draft.message(None)) if len(index) else Changes((draft.message(),))
            )
        case _:
            changes = attach(index, draft.message())
    after = index.after(changes)
    return Placed(after[draft.id], after.path_to(draft.id)[:-1], changes)


def spot_of_cell(index: TreeIndex, links: Sequence[CellLink], text: str) -> Spot:
    """Return where the call of a cell goes that has made these questions before, oldest first.

    The newest of them on the active path counts, else the newest: one that is off the path means
    that the notebook is being run again on another branch, and the call goes to the head.
    """
    on_path = {message.id: message for message in index.path()}
    known = next(
        (on_path[link.message] for link in reversed(links) if link.message in on_path), None
    )
    if known is None:
        return HEAD
    return Spot("again" if text_of(known) == text else "edit", known.id)


def unanswered(index: TreeIndex, spot: Spot, live: AbstractSet[str]) -> Spot:
    """Return the spot beside a question without an answer, where a spot would be below it.

    So it is with one whose answer is being given just now: half of it is nothing to build on.

    However it came about (a failure, a stop, a kernel's death, an answer without a word), two
    questions in a row would be sent as one.
    """
    if spot.where not in ("head", "after"):
        return spot
    last = index.head() if spot.where == "head" else index[spot.message]
    if last is not None and last.id in live and (asked := index.nearest_user(last.id)):
        return Spot("beside", asked.id, busy=True)
    if last is None or index.children(last.id):
        return spot
    question = index.nearest_user(last.id) if _only_thinks(last) else last
    return Spot("beside", question.id) if question and question.role == "user" else spot


def _only_thinks(message: Message) -> bool:
    """Tell whether there is no word in an answer; what was thought is not sent again."""
    return all(
        isinstance(part, ReasoningPart) or (isinstance(part, TextPart) and not part.text.strip())
        for part in message.parts
    )


def later_messages(index: TreeIndex, spot: Spot) -> int:
    """Count the messages of the active path that a turn there leaves behind, its own answer not."""
    if spot.where not in ("again", "edit", "after", "on"):
        return 0
    kept = {message.id for message in index.path_to(spot.message)}
    behind = sum(message.id not in kept for message in index.path())
    if spot.where == "after" or spot.message not in {message.id for message in index.path()}:
        return behind
    return 0 if spot.where == "on" else max(0, behind - 1)


def leaves(index: TreeIndex, spot: Spot) -> bool:
    """Tell whether a turn there leaves a message that is shown, if only the version beside it."""
    if spot.where in ("root", "beside"):
        return True
    if spot.where not in ("again", "edit", "after", "on"):
        return False
    trail = index.path_to(spot.message)
    kept = {message.id for message in (trail[:-1] if spot.where == "edit" else trail)}
    return any(message.id not in kept for message in index.path())


def _question(index: TreeIndex, identifier: str) -> Message:
    message = index[identifier]
    if message.role != "user":
        raise ThreadError(f"{identifier[:8]} is no question", "Name a question, or its answer.")
    return message


def _question_of(index: TreeIndex, identifier: str) -> Message:
    question = index.nearest_user(identifier)
    if question is None:
        raise ThreadError(f"{identifier[:8]} answers no question", "Name another: %chat tree")
    return question


def link_to(overlay: Overlay, question: Message) -> Overlay:
    """Fill the question into a cell's link."""
    return replace(overlay, message=question.id) if isinstance(overlay, CellLink) else overlay
