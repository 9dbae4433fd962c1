"""Which thread: by name, or the notebook's own. A name is a title, or the beginning of an id."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jan_magics.domain.errors import AmbiguousThread, SettingError, ThreadNotFound
from jan_magics.domain.messages import Thread
from jan_magics.domain.protocols import Store
from jan_magics.engine.engine import Engine
from jan_magics.engine.records import KEY

LONGEST_TITLE: Final = 200
SHORTEST_PREFIX: Final = 4


@dataclass(slots=True)
class Threads:
    """The threads of a store as one notebook sees them; `place` is the notebook's path."""

    engine: Engine
    place: Callable[[], Path | None]
    own_id: str | None = None

    def named(self, name: str | None) -> Thread | None:
        """Return the thread of that name, without a name the notebook's own, else None."""
        return find_thread(self.engine.store, name) if name else self._own()

    def create(self, name: str | None) -> Thread:
        """Make a thread. Raises SettingError when the name cannot be one, or is taken."""
        title = usable_title(name) if name else ""
        if title and find_thread(self.engine.store, title):
            raise SettingError(
                f"a thread {title!r} exists already", f"Go there: %chat use {title!r}"
            )
        notebook = self.place()
        thread = self.engine.new_thread(title, **({"notebook": str(notebook)} if notebook else {}))
        if not title:
            self.own_id = thread.id
        return thread

    def rename(self, thread: Thread, name: str) -> Thread:
        """Give a thread another title. Raises SettingError when it is taken."""
        title = usable_title(name)
        if find_thread(self.engine.store, title):
            raise SettingError(f"a thread {title!r} exists already", "Choose another name.")
        metadata = {"titleSetManually": True}
        self.engine.store.update_thread(thread.id, title=title, metadata=metadata)
        return self.engine.store.thread(thread.id)

    def delete(self, name: str) -> Thread:
        """Move a thread to the bin. Raises ThreadNotFound."""
        thread = existing_thread(self.engine.store, name)
        self.engine.store.delete_thread(thread.id)
        if self.own_id == thread.id:
            self.own_id = None
        return thread

    def _own(self) -> Thread | None:
        rows = self.engine.store.threads()
        notebook = self.place()
        for row in rows:
            if row.thread.id == self.own_id:
                return row.thread
        for row in rows if notebook else ():
            if own(row.thread).get("notebook") == str(notebook):
                self.own_id = row.thread.id
                return row.thread
        return None


def own(thread: Thread) -> Mapping[str, Any]:
    """Return what we keep in a thread's metadata."""
    found = thread.metadata.get(KEY)
    return found if isinstance(found, dict) else {}


def shown_title(thread: Thread) -> str:
    """Return the title, else the notebook's name, else what people read where there is neither."""
    notebook = own(thread).get("notebook")
    return thread.title or (Path(notebook).stem if isinstance(notebook, str) else "unnamed")


def find_thread(store: Store, name: str) -> Thread | None:
    """Return the thread with that title, else the one whose id begins so, else None.

    Raises:
        AmbiguousThread: when several threads have that title, or ids begin so.
    """
    threads = [row.thread for row in store.threads() if row.fault is None]
    found = [thread for thread in threads if thread.title == name]
    if not found and len(name) >= SHORTEST_PREFIX:
        found = [thread for thread in threads if thread.id.startswith(name)]
    if len(found) > 1:
        raise AmbiguousThread(name, [thread.id for thread in found])
    return found[0] if found else None


def existing_thread(store: Store, name: str) -> Thread:
    """Return the thread of that name. Raises ThreadNotFound with the nearest names."""
    found = find_thread(store, name)
    if found is None:
        titles = [row.thread.title for row in store.threads() if row.thread.title]
        raise ThreadNotFound(name, difflib.get_close_matches(name, titles, 3))
    return found


def usable_title(title: str) -> str:
    """Return a title without control characters. Raises SettingError when it cannot be one."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in title).split())
    if not clean or len(clean) > LONGEST_TITLE:
        raise SettingError(
            f"{title[:40]!r} cannot be a thread's name",
            f"Use 1 to {LONGEST_TITLE} printable characters.",
        )
    return clean
