"""Deleting and renaming a thread, and `undo`: its last change is taken back, again one further."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from jan_magics.domain.branching import select
from jan_magics.domain.errors import JanError, SettingError, ThreadError, ThreadNotFound
from jan_magics.domain.messages import Json, Thread, text_of
from jan_magics.domain.overlays import Change, ChangeKind, Hidden, NextRoot, Overlay, Undone
from jan_magics.domain.tree import Changes
from jan_magics.engine.belongings import delete, restore
from jan_magics.engine.branches import write
from jan_magics.engine.mending import unmended
from jan_magics.engine.naming import find_thread, own, shown_title, usable_title
from jan_magics.engine.session import Session
from jan_magics.engine.threads import go_back
from jan_magics.engine.views import View
from jan_magics.storage.upkeep import Upkeep

_ALONE: Final[Mapping[ChangeKind, str]] = MappingProxyType(
    {
        "mark": "the marks of messages",
        "plan": "the edited plan",
        "clear": "the clearing; what was said is sent again",
        "restore": "the restoring; it is cleared or compacted again",
        "compact": "the compaction; the messages are sent word for word again",
    }
)


def delete_thread(session: Session, name: str) -> Thread:
    """Move a thread to the bin and note it where the user goes on.

    Raises:
        ThreadNotFound: with the nearest names.
        ThreadError: while it is being answered.
    """
    engine, sticky = session.engine, session.sticky
    thread = session.threads.existing(name)
    if session.order.busy(thread.id):
        raise ThreadError(
            f"a turn is running in {shown_title(thread)!r}", "Wait for it, or stop it: %chat stop"
        )
    delete(session, thread.id)
    stuck = sticky.thread in (thread.id, thread.title)
    if stuck:
        session.sticky = replace(sticky, thread=None)
    before: dict[str, Json] = {"thread": thread.id, "title": shown_title(thread), "stuck": stuck}
    change = Change(engine.new_id(), "delete", before, engine.now())
    here = session.current()
    if here is None:
        session.deleted.append(change)
    else:
        engine.apply(here, Changes(), [change])
    return thread


def bring_back(session: Session, identifier: str) -> Thread:
    """Take one thread out of the bin, whatever was changed since it was deleted.

    Raises:
        ThreadNotFound: when it is not there any more.
    """
    view = session.view()
    noted = [*session.deleted, *(each for each in view.changes() if each.kind == "delete")]
    change = next((each for each in noted if each.before.get("thread") == identifier), None)
    _restore(session, change or Change("", "delete", {"thread": identifier}, session.engine.now()))
    if change in session.deleted:
        session.deleted.remove(change)
    return session.engine.store.thread(identifier)


def rename_thread(session: Session, old: str | None, new: str) -> tuple[Thread, Thread]:
    """Give a thread another title. Returns it as it was and as it is."""
    engine = session.engine
    thread = session.threads.existing(old) if old else session.current()
    if thread is None:
        raise ThreadError("there is no thread to rename yet", "Ask something first.")
    renamed = _renamed(session, thread, new)
    before: dict[str, Json] = {"title": thread.title}
    engine.apply(thread, Changes(), [Change(engine.new_id(), "title", before, engine.now())])
    if session.sticky.thread == thread.title:
        session.sticky = replace(session.sticky, thread=renamed.id)
    return thread, renamed


def _renamed(session: Session, thread: Thread, name: str) -> Thread:
    """Give a thread another title. Raises SettingError when it is taken."""
    store, title = session.engine.store, usable_title(name)
    if title == thread.title:
        raise SettingError(f"the thread is called {title!r} already", "Choose another name.")
    if find_thread(store, title):
        raise SettingError(f"a thread {title!r} exists already", "Choose another name.")
    store.update_thread(thread.id, title=title, metadata={"titleSetManually": True})
    return store.thread(thread.id)


def undo(session: Session) -> tuple[str, View]:
    """Take the last change back. Returns what it was, in words, and the thread as it is then.

    Raises:
        ThreadError: when there is none.
    """
    if gone := _stuck_in_the_bin(session):
        return gone, session.view()
    view = session.view()
    change, void = _last_change(session, view)
    deleted = session.deleted[-1] if session.deleted else None
    if deleted and (change is None or deleted.created_at > change.created_at):
        session.deleted.pop()
        try:
            return _restore(session, deleted), session.view()
        except ThreadNotFound:
            raise _gone_for_good(deleted) from None
    if change is None and view.thread is None and (thread := _binned(session)):
        restore(session, thread.id)
        return f"the deletion of {shown_title(thread)}", session.view()
    if change is None:
        raise ThreadError(
            "there is no change to take back", "A sent turn is none; go elsewhere: %chat tree"
        )
    try:
        said, changes, overlays = _taken_back(session, view, change)
    except ThreadNotFound:
        # Said once: the next undo goes one further back.
        write(session, view, Changes(), [*void, Undone(change.id)])
        raise _gone_for_good(change) from None
    after = write(session, view, changes, (*overlays, *void, Undone(change.id)))
    return said, session.view() if change.kind == "delete" else after


def _last_change(session: Session, view: View) -> tuple[Change | None, tuple[Undone, ...]]:
    """Return the last change that is still in effect, and the end of those after it.

    A turn that failed has left nothing; what was hidden may be shown again, and what was deleted
    be back.
    """
    void: list[Undone] = []
    for change in view.changes():
        if not _is_void(session, view, change):
            return change, tuple(void)
        void.append(Undone(change.id))
    return None, ()


def _is_void(session: Session, view: View, change: Change) -> bool:
    if change.kind == "delete":
        return _is_here(session, str(change.before.get("thread")))
    if change.kind == "drop":
        return change.before.get("id") not in view.hidden
    if change.kind != "branch" or change.before.get("head") is None:
        return False
    _, changes, overlays = _branch_back(view, change.before)
    return changes == Changes() and not overlays


def _is_here(session: Session, identifier: str) -> bool:
    with suppress(JanError):
        return session.engine.store.thread(identifier).id == identifier
    return False


def _taken_back(
    session: Session, view: View, change: Change
) -> tuple[str, Changes, tuple[Overlay, ...]]:
    before = change.before
    if said := _ALONE.get(change.kind):
        # The records of such a change count only while it was not taken back.
        return said, Changes(), ()
    if change.kind == "delete":
        return _restore(session, change), Changes(), ()
    if change.kind == "title" and view.thread:
        title = str(before.get("title") or "")
        session.engine.store.update_thread(view.thread.id, title=title)
        known = shown_title(replace(view.thread, title=title))
        return f"the new name; it is {known!r} again", Changes(), ()
    if change.kind == "drop":
        identifier = str(before.get("id"))
        words = text_of(view.index[identifier]) if identifier in view.index else identifier[:8]
        return f"the drop of {_quoted(words)}", Changes(), (Hidden(identifier, hidden=False),)
    return _repaired_back(view, before) if change.kind == "repair" else _branch_back(view, before)


def _repaired_back(
    view: View, before: Mapping[str, Json]
) -> tuple[str, Changes, tuple[Overlay, ...]]:
    return "the links that doctor --fix wrote", unmended(view.index, before), ()


def _branch_back(
    view: View, before: Mapping[str, Json]
) -> tuple[str, Changes, tuple[Overlay, ...]]:
    pending = before.get("pending") is True
    overlays = (NextRoot(pending=pending),) if pending != view.pending else ()
    named = before.get("head")
    head = view.index.resolve(named) if isinstance(named, str) else None
    if head is None or head not in view.index:
        return "the change of branch", Changes(), overlays
    words = f"the change of branch; the path leads to {_quoted(text_of(view.index[head]))} again"
    return words, select(view.index, head), overlays


def _restore(session: Session, change: Change) -> str:
    identifier = str(change.before.get("thread"))
    restore(session, identifier)
    if change.before.get("stuck"):
        session.sticky = replace(session.sticky, thread=identifier)
    go_back(session.threads, identifier)
    return f"the deletion of {change.before.get('title')}"


def _stuck_in_the_bin(session: Session) -> str:
    """Restore the thread that `use` made stick, when it was deleted elsewhere; "" when not."""
    store, identifier = session.engine.store, session.sticky.thread
    rows = store.binned() if isinstance(store, Upkeep) and identifier else ()
    thread = next((row.thread for row in rows if row.thread.id == identifier), None)
    if thread is None:
        return ""
    restore(session, thread.id)
    return f"the deletion of {shown_title(thread)}"


def _gone_for_good(change: Change) -> ThreadError:
    return ThreadError(
        f"the deleted thread {change.before.get('title')!r} is gone for good: the bin was emptied",
        "Take back the change before it: %chat undo",
    )


def _binned(session: Session) -> Thread | None:
    """Return the thread of this notebook that was deleted last, also by an earlier kernel."""
    store, notebook = session.engine.store, session.threads.here().notebook
    rows = store.binned() if isinstance(store, Upkeep) and notebook else ()
    threads = (row.thread for row in rows if own(row.thread).get("notebook") == notebook)
    return next(threads, None)


def _quoted(text: str) -> str:
    words = " ".join(text.split())
    return f"«{words[:40].rstrip()}{'…' if len(words) > 40 else ''}»"
