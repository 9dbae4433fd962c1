"""What differs when a thread is no longer as it was drawn."""

from jan_magics.engine.session import Session


def mark_of(session: Session) -> object:
    """Return a value that is another one after a turn, a change of branch, a mark or a clearing."""
    view = session.glance()
    path = view.path()
    head = path[-1].id if path else None
    thread = view.thread.id if view.thread else None
    return thread, len(view.index), head, len(view.records), session.sticky
