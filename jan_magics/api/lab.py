"""What pages of JupyterLab ask the chat of a kernel for: each action a few lines."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, cast

from jan_magics.api.background import Running
from jan_magics.api.context import mark
from jan_magics.api.host import Host, Showing, language_of
from jan_magics.api.lab_sources import source_of
from jan_magics.api.opening import current_host
from jan_magics.api.panel import ACTIONS as OF_THREADS
from jan_magics.api.panel import panel_of
from jan_magics.api.panel_documents import ACTIONS as OF_DOCUMENTS
from jan_magics.api.panel_thread import ACTIONS as OF_THREAD
from jan_magics.api.shown import shown_of, stored_of
from jan_magics.context.segments import ACTIVE, COMPRESSED, look
from jan_magics.domain.errors import JanError, MessageNotFound, ThreadError
from jan_magics.domain.messages import Message
from jan_magics.domain.overlays import Mark, MarkAction
from jan_magics.engine.asking import Aim, Asking
from jan_magics.engine.branches import edit_answer, go
from jan_magics.engine.naming import own, shown_title
from jan_magics.engine.placing import CUT
from jan_magics.engine.records import finish_of
from jan_magics.engine.session import Session
from jan_magics.engine.views import View, view_of
from jan_magics.notebook.buttons import Buttons, buttons_of
from jan_magics.notebook.render import bundle
from jan_magics.notebook.streaming import PageTurn
from jan_magics.widgets.line import Action, PageLine, Request, text
from jan_magics.widgets.open_views import views_of


@dataclass(frozen=True, slots=True)
class Place:
    """An answer that a page shows, in the thread that it was written to."""

    session: Session
    view: View
    answer: Message


def welcome(shell: Any, comm: Any) -> None:
    """Take the line of a page that has just opened it."""
    buttons = buttons_of(shell)
    if buttons is not None:
        actions = {name: partial(action, buttons) for name, action in _ACTIONS.items()}
        PageLine(comm, cast("Mapping[str, Action]", actions)).open()


def known(_: Buttons, request: Request) -> Mapping[str, object]:
    """Tell which of the answers that a page shows were written here, and how they stand."""
    host, found = current_host(), dict[str, object]()
    asked = request.get("answers")
    for each in asked if isinstance(asked, list) else ():
        with suppress(JanError):
            place = _place(host, each)
            found[place.answer.id] = _state(place)
    return {"answers": found}


def running(buttons: Buttons, _: Request) -> Mapping[str, object]:
    """Tell a page that was just loaded which turns run, with what they have said so far."""
    turns = [
        {"turn": each.id, "cell": each.cell, "markdown": each.markdown, "note": each.note}
        for each in tuple(buttons.streams().running.values())
    ]
    return {"turns": turns}


def status(buttons: Buttons, _: Request) -> Mapping[str, object]:
    """Tell where the cells are: thread, model, and how much of the budget the next turn takes."""
    host = panel_of(buttons).host  # which tells the page from now on that something has changed
    session = host.session()
    view = session.glance()
    thread = view.thread
    found: dict[str, object] = {
        "thread": shown_title(thread) if thread else "",
        "model": str((own(thread).get("model") if thread else None) or session.sticky.model or ""),
        "messages": len(view.path()),
        "tokens": None,
        "budget": None,
    }
    if thread is not None:
        with suppress(JanError):  # no model answers here: the gauge of the panel says why
            plan = host.preview(Asking()).plan
            found |= {"tokens": plan.tokens, "budget": plan.budget.input}
    return found


def ask_again(aim: Aim, buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Answer a question once more, or go on with an answer; it streams to every page."""
    host = current_host()
    place = _place(host, request)
    thread = place.view.thread
    turn = PageTurn(buttons.streams(), str(request.get("cell") or ""), language=language_of(host))
    turn.shown = host.onscreen.take(place.answer.id)
    asking = Asking(aim=aim, at=place.answer.id, thread=thread.id if thread else None)
    Running(host, asking, Showing(), turn)
    return {"turn": turn.stream.id}


def edit(_: Buttons, request: Request) -> Mapping[str, object]:
    """Put a version with another text beside an answer; nothing is sent."""
    host = current_host()
    place = _place(host, request)
    outcome = edit_answer(place.session, place.answer.id, text(request, "text"))
    host.tell(outcome.turn.thread, outcome.turn.index.path())
    return {"bundle": bundle(shown_of(outcome, language=language_of(host)), stable=False)}


def turn_page(_: Buttons, request: Request) -> Mapping[str, object]:
    """Show the next or the previous version of an answer, and go on from there."""
    host = current_host()
    place = _place(host, request)
    versions = place.view.index.siblings(place.answer.id)
    step = -1 if text(request, "to") == "prev" else 1
    number = [each.id for each in versions].index(place.answer.id) + step
    if not 0 <= number < len(versions):
        raise ThreadError(
            f"this is version {number - step + 1} of {len(versions)}", "Another one: %chat retry"
        )
    # The old display is the new version's from now on: what is told of it is shown there.
    display = host.onscreen.take(place.answer.id)
    view = go(place.session, versions[number].id)
    shown = stored_of(view, versions[number], language_of(host))
    if display is not None and view.thread is not None:
        host.onscreen.put(view.thread.id, display, shown)
        display.finish(bundle(shown, stable=False))
    host.tell(view.thread, view.path())
    return {"bundle": bundle(shown, stable=False)}


def pin(_: Buttons, request: Request) -> Mapping[str, object]:
    """Send an answer in any case from now on, or as planning sees fit."""
    host = current_host()
    place = _place(host, request)
    action: MarkAction = "pin" if request.get("pinned") else "keep"
    mark(host, [place.answer.id], action, place.session)
    after = replace(place, view=place.session.view())
    return {"state": _state(after)}


def source(_: Buttons, request: Request) -> Mapping[str, object]:
    """Show a chunk that was sent with the prompt of an answer, in its document."""
    host = current_host()
    return {"place": source_of(host, _place(host, request).answer, request.get("number"))}


def _followed(action: Any, buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Do something, and let views and panels see what has become of it."""
    reply: Mapping[str, object] = action(buttons, request)
    views_of(current_host().shell).after_cell()
    return reply


def _place(host: Host, request: object) -> Place:
    """Find an answer in its thread. Raises JanError where this store has no such thing."""
    asked: Request = request if isinstance(request, dict) else {}
    session = _in_thread(host.session(), text(asked, "thread"))
    view = view_of(session.engine, session.current())
    answer = view.index[text(asked, "message")]
    if answer.role != "assistant":
        raise MessageNotFound(answer.id)
    return Place(session, view, answer)


def _in_thread(session: Session, thread: str) -> Session:
    """Return a session that goes on in a thread, by its id; that of the cells stays where it is."""
    session.engine.store.thread(thread)
    return replace(session, sticky=replace(session.sticky, thread=thread))


def _state(place: Place) -> dict[str, object]:
    """Return how an answer stands: what buttons under it can do."""
    view, identifier = place.view, place.answer.id
    version, versions = view.index.version(identifier)
    path = view.path()
    live = identifier in view.live
    return {
        "version": version,
        "versions": versions,
        "on_path": any(message.id == identifier for message in path),
        "pinned": _pinned(view.records, [message.id for message in path], identifier),
        "cut": not live and finish_of(place.answer) in CUT,
        "live": live,
        "memory": _memory(place),
    }


def _memory(place: Place) -> str:
    """Return where an answer is for the next turn: context, summary, dropped, branch, or left.

    On a branch: another version of its turn is shown; left: of one before it.
    """
    view, identifier = place.view, place.answer.id
    path = view.path()
    shown = {message.id for message in path}
    if identifier not in shown:
        question = view.index.nearest_user(identifier)
        before = question.parent_id if question else None
        return "branch" if not isinstance(before, str) or before in shown else "left"
    status = look(path, view.records).status(identifier)
    if status != ACTIVE:
        return "summary" if status == COMPRESSED else "dropped"
    last = place.session.last
    plan = (
        last.turn.plan if last and view.thread and last.turn.thread.id == view.thread.id else None
    )
    if plan is None or identifier in plan.sent:
        return "context"
    planned = any(message.id == identifier for message in plan.measured.path)
    return "dropped" if planned else "context"  # what came after that turn is sent


def _pinned(records: Sequence[object], path: Sequence[str], identifier: str) -> bool:
    marks = (each for each in records if isinstance(each, Mark) and each.upto in path)
    return [each.action for each in marks if each.id == identifier][-1:] == ["pin"]


_ACTIONS: Final[Mapping[str, Any]] = MappingProxyType({
    "known": known, "running": running, "status": status, "retry": partial(ask_again, "retry"),
    "resume": partial(ask_again, "resume"), "edit": partial(_followed, edit),
    "go": partial(_followed, turn_page), "pin": partial(_followed, pin),
    "source": source, **OF_THREADS, **OF_THREAD, **OF_DOCUMENTS,
})  # fmt: skip
