"""Where an asking goes: the same call of the same cell branches, everything else appends."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from jan_magics.context.segments import look
from jan_magics.domain.errors import ThreadError
from jan_magics.domain.messages import Message
from jan_magics.domain.overlays import CellLink, Change, Hidden, Mark, NextRoot, Overlay
from jan_magics.engine.asking import Asking
from jan_magics.engine.ids import full_id
from jan_magics.engine.records import finish_of
from jan_magics.engine.spots import HEAD, Spot, leaves, spot_of_cell, unanswered
from jan_magics.engine.views import View

CUT: Final = frozenset({"length", "tools", "max_steps", "stopped", "interrupted", "error", None})
"""How an answer ended that can be gone on with; None is one that others wrote."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: `run` is the spot in a run without cell ids, None where cells are known.

    `is_same` tells whether a link of a cell of that id is of the same notebook.
    """

    run: Spot | None
    is_same: Callable[[CellLink], bool]


def spot_for(view: View, asking: Asking, caller: Caller) -> Spot:
    """Return the spot of a turn. Raises MessageNotFound, ThreadError for an `at` that cannot be."""
    match asking.aim:
        case "retry":
            question = question_at(view, asking.at).id
            if answering := _answering(view, question):
                _check_over(view, answering)
            return Spot("again", question)
        case "edit":
            return Spot("edit", full_id(view.index, asking.at or ""))
        case "resume":
            return Spot("on", cut_answer_at(view, asking.at).id)
        case _:
            return _spot_of_question(view, asking, caller)


def _spot_of_question(view: View, asking: Asking, caller: Caller) -> Spot:
    if not asking.history or asking.side:
        return HEAD
    if asking.at not in (None, "head"):
        return Spot("after", _above(view, full_id(view.index, asking.at or "")))
    if view.pending:
        return Spot("root")
    spot = unanswered(view.index, _next_spot(view, asking, caller), view.live)
    busy = spot.where == "again" and bool(_answering(view, spot.message))
    return replace(spot, busy=True) if busy else spot


def _answering(view: View, question: str) -> str:
    """Return what is being said to a question just now in another kernel, "" for nothing."""
    ids = (question, *(each.id for each in view.index.children(question)))
    return next((each for each in ids if each in view.live), "")


def _above(view: View, named: str) -> str:
    """Return what a question can stand below: the named message, of a question its answer.

    Raises:
        ThreadError: for a question without an answer, as both would be sent as one.
    """
    _check_over(view, named)
    if view.index[named].role != "user":
        return named
    answer = view.index.active_child(named)
    if answer is None or answer.role == "user":
        raise ThreadError(
            f"{named[:8]} is a question without an answer; nothing can be asked below it",
            f"Leave --at out, or answer it first: %chat retry {named[:8]}",
        )
    _check_over(view, answer.id)
    return answer.id


def _check_over(view: View, identifier: str) -> None:
    """Raise ThreadError for what is being answered just now: half of it is nothing to build on."""
    if identifier in view.live:
        raise ThreadError(
            f"{identifier[:8]} is being answered in another kernel",
            "Look at it: %chat show   and when it is over, another answer: %chat retry",
        )


def _next_spot(view: View, asking: Asking, caller: Caller) -> Spot:
    if asking.at == "head":
        return unanswered(view.index, HEAD, view.live)
    if caller.run or asking.cell is None or asking.rerun == "append":
        return unanswered(view.index, caller.run or HEAD, view.live)
    call = (asking.cell.cell, asking.cell.ordinal)
    links = [
        record
        for record in view.records
        if isinstance(record, CellLink)
        and (record.cell, record.ordinal) == call
        and caller.is_same(record)
    ]
    return unanswered(view.index, spot_of_cell(view.index, links, asking.text), view.live)


def question_at(view: View, at: str | None) -> Message:
    """Return the question that a message belongs to, without one the last question shown."""
    path = view.path()
    if at is None and not path:
        raise ThreadError("nothing was asked here yet", "Ask something first: %chat ask …")
    start = full_id(view.index, at) if at is not None else path[-1].id
    question = view.index.nearest_user(start)
    if question is None:
        raise ThreadError(f"{start[:8]} answers no question", "Name another: %chat tree")
    return question


def cut_answer_at(view: View, at: str | None) -> Message:
    """Return the answer that is named or shown last. Raises ThreadError for one that is whole."""
    path = view.path()
    _check_over(view, full_id(view.index, at) if at else path[-1].id if path else "")
    answer = _answer_at(view, at)
    if answer is None:
        raise ThreadError("there is no answer to go on with", "Ask again: %chat retry")
    _check_over(view, answer.id)
    if finish_of(answer) not in CUT:
        raise ThreadError(f"the answer {answer.id[:8]} is whole", "For another one: %chat retry")
    return answer


def _answer_at(view: View, at: str | None) -> Message | None:
    if at is None:
        path = view.path()
        named = path[-1] if path else None
    else:
        named = view.index[full_id(view.index, at)]
        if named.role == "user":
            named = view.index.active_child(named.id)
    return named if named is not None and named.role == "assistant" else None


def overlays_for(
    view: View, spot: Spot, asking: Asking, new_id: Callable[[], str], now: datetime
) -> tuple[Overlay, ...]:
    """Return what is written with the question.

    The cell's link, a root begun, a branch left, a hidden question that is shown again.
    """
    if not asking.history or asking.side:
        return ()
    overlays: list[Overlay] = [asking.cell] if asking.cell else []
    head = view.index.head()
    left = leaves(view.index, spot)
    if view.pending:
        # Where it began, `new` has written what was left.
        overlays.append(NextRoot(pending=False))
        left = left and spot.where != "root"
    change = branch_left(view, new_id(), now) if head is not None and left else None
    if change:
        overlays.append(change)
    return (*overlays, *shown_again(view, spot, change.id if change else new_id()))


def shown_again(view: View, spot: Spot, change: str) -> tuple[Overlay, ...]:
    """Return what takes a question off the hidden ones that is asked again, or gone on with.

    Else its answer would be sent without it, and this request without the question.
    """
    if spot.where not in ("again", "on") or spot.message not in view.index:
        return ()
    question = view.index.nearest_user(spot.message)
    wanted = {spot.message, question.id if question else spot.message}
    seen = look(view.index.path_to(spot.message), view.records)
    found: list[Overlay] = [Hidden(each, hidden=False) for each in sorted(wanted & view.hidden)]
    dropped = (each for each in sorted(wanted) if seen.marks.get(each) == "drop")
    return (*found, *(Mark(each, "keep", each, change) for each in dropped))


def branch_left(view: View, identifier: str, now: datetime) -> Change:
    """Return the record of where the user was, for `undo`."""
    head = view.index.head()
    before = {"head": head.id if head else None, "pending": view.pending}
    return Change(identifier, "branch", {**before}, now)
