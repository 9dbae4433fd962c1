"""What changes a thread and asks nobody: go, drop, a new branch, an answer edited by hand."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from jan_magics.domain.branching import fork, select
from jan_magics.domain.errors import JanError, ThreadError
from jan_magics.domain.messages import Json, Message, Thread
from jan_magics.domain.models import ChatRequest, ModelRef, Timings, Usage, parse_model
from jan_magics.domain.overlays import Change, Hidden, NextRoot, Overlay
from jan_magics.domain.tree import Changes
from jan_magics.engine.asks import Turn
from jan_magics.engine.ids import full_id
from jan_magics.engine.outcome import Outcome, version_of
from jan_magics.engine.placing import branch_left
from jan_magics.engine.records import KEY, model_of
from jan_magics.engine.session import Session
from jan_magics.engine.spots import Spot
from jan_magics.engine.views import View, view_of

NOTHING_HERE = ("nothing was asked here yet", "Ask something first: %chat ask …")

_NUMBER: Final = re.compile(r"[+-]\d+|[+-]?\d*[.,]\d+")

ONE_VERSION = ("nothing here has a second version", "Make one: %chat retry")


def go(session: Session, target: str | int) -> View:
    """Show the path through a message, or another version of what is shown last.

    Raises:
        MessageNotFound: for an id that nothing has.
        ThreadError: for a version that is not there.
    """
    view = session.view()
    if not len(view.index):
        raise ThreadError(*NOTHING_HERE)
    changes = select(view.index, goal_of(view, str(target)))
    if changes == Changes() and not view.pending:
        return view
    overlays: list[Overlay] = [branch_left(view, session.engine.new_id(), session.engine.now())]
    if view.pending:
        overlays.append(NextRoot(pending=False))
    return write(session, view, changes, overlays)


def drop(session: Session, identifier: str) -> View:
    """Hide a message: it is stored and stays in its place, and is not sent any more.

    An answer is not sent without its question.
    """
    view = session.view()
    found = full_id(view.index, identifier)
    if found in view.hidden:
        return view
    now, new_id = session.engine.now(), session.engine.new_id()
    return write(
        session, view, Changes(), [Hidden(found), Change(new_id, "drop", {"id": found}, now)]
    )


def begin(session: Session, name: str | None) -> Thread:
    """Begin a thread and stay in it; in one of that name a new root branch, at the next turn.

    Raises:
        AmbiguousThread: when several threads have that name.
        SettingError: when the name cannot be one.
    """
    found = session.threads.named(name) if name else None
    thread = found or (session.threads.obtain(name) if name else session.threads.create(None))
    session.sticky = replace(session.sticky, thread=thread.id)
    view = view_of(session.engine, thread) if found else View(thread)
    if len(view.index) and not view.pending:
        change = branch_left(view, session.engine.new_id(), session.engine.now())
        write(session, view, Changes(), [NextRoot(name), change])
    return thread


def edit_answer(session: Session, identifier: str, text: str) -> Outcome:
    """Put a version beside an answer, with another text; nothing is sent."""
    view, engine = session.view(), session.engine
    if view.thread is None:
        raise ThreadError(*NOTHING_HERE)
    source = view.index[full_id(view.index, identifier)]
    changes = fork(view.index, source.id, engine.new_id(), engine.now(), text)
    written = changes.save[-1]
    model = model_of(source)
    # Tokens, times and how it ended were those of the model's own words.
    known: dict[str, Json] = {"finish": "stop", "edited": True}
    known |= {"model": model} if model else {}
    answer = replace(written, metadata={**written.metadata, KEY: known})
    changes = changes.then(Changes((answer,)))
    left = branch_left(view, engine.new_id(), engine.now())
    overlays: list[Overlay] = [left, *([NextRoot(pending=False)] if view.pending else ())]
    after = write(session, view, changes, overlays)
    question = after.index.nearest_user(answer.id) or answer
    request = ChatRequest(_model(model), ())
    turn = Turn(view.thread, question, answer, request, after.index, "stop", Usage(), Timings())
    version, versions, counted = version_of(turn)
    count, flags = len(view.index.path()), ("edited, nothing sent",)
    return Outcome(turn, version, versions, None, count, flags, (), counted)


def begins_branch(session: Session, view: View) -> bool:
    """Tell whether the next turn begins a new branch at the root."""
    return view.pending or session.threads.spot(view) == Spot("root")


def goal_of(view: View, target: str) -> str:
    """Return the id that a target means: a version's number, next, prev, or an id's beginning."""
    number = len(target) <= 3 and target.isascii() and target.isdigit()
    if not number and target not in ("next", "prev"):
        if _NUMBER.fullmatch(target) and target not in view.index:
            raise ThreadError(
                f"{target!r} is no number of a version: they are 1, 2, …",
                "See them all: %chat tree   or one further back: %chat go prev",
            )
        return full_id(view.index, target)
    versions, here = versions_shown(view)
    wanted = int(target) if number else here + (1 if target == "next" else -1)
    if not 1 <= wanted <= len(versions):
        raise _no_version(target, here, len(versions))
    return versions[wanted - 1].id


def _no_version(target: str, here: int, count: int) -> ThreadError:
    shown = f"version {here} of {count} is shown"
    if target in ("prev", "next"):
        shown = f"this is the {'first' if target == 'prev' else 'last'} of {count}"
        return ThreadError(shown, f"Go to one by its number: %chat go 1 … {count}")
    return ThreadError(f"there is no version {target} here: {shown}", "See them all: %chat tree")


def versions_shown(view: View) -> tuple[Sequence[Message], int]:
    """Return the versions at the last fork of the path, and the number of the one shown.

    Raises:
        ThreadError: where nothing has two versions.
    """
    index = view.index
    if view.pending:  # the branch that is about to begin comes after all roots
        root = index.active_root()
        roots = index.siblings(root.id) if root else ()
        return roots, len(roots) + 1
    for message in reversed(index.path()):
        number, count = index.version(message.id)
        if count > 1:
            return index.siblings(message.id), number
    raise ThreadError(*ONE_VERSION)


def write(session: Session, view: View, changes: Changes, overlays: Sequence[Overlay]) -> View:
    """Write changes and records of a thread in one transaction, and return it as it is then."""
    if view.thread is None:
        raise ThreadError(*NOTHING_HERE)
    session.engine.apply(view.thread, changes, overlays)
    return view_of(session.engine, view.thread)


def _model(name: str | None) -> ModelRef:
    try:
        return parse_model(name or "")
    except JanError:
        return ModelRef("edited", "by hand")
