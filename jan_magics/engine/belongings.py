"""What belongs to a thread goes to the bin with it, and comes back with it."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from jan_magics.engine.session import Session

if TYPE_CHECKING:
    from jan_magics.engine.collections import Collections

FOLDER: Final = "collections"


def delete(session: Session, thread_id: str) -> None:
    """Move a thread to the bin, with the collection of its files. Raises ThreadNotFound."""
    session.engine.store.delete_thread(thread_id)
    if (collections := _collections(session)) is not None:
        from jan_magics.engine.restoring import drop_thread

        drop_thread(collections, thread_id)


def restore(session: Session, thread_id: str) -> None:
    """Take a thread out of the bin, with the collection of its files. Raises ThreadNotFound."""
    session.engine.store.restore_thread(thread_id)
    if (collections := _collections(session)) is not None:
        from jan_magics.engine.restoring import bring_back

        bring_back(collections, thread_id)


def _collections(session: Session) -> "Collections | None":
    """Return the collections, None where there are none: then no library is loaded for them."""
    folder: Path = session.engine.folder / FOLDER
    if session.retriever is None or not folder.is_dir():
        return None
    return session.retriever().collections
