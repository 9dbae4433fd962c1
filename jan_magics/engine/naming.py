"""The names of threads: what people read, and which thread is meant by what they type."""

import difflib
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from jan_magics.domain.errors import (
    AmbiguousThread,
    SettingError,
    StoreError,
    ThreadError,
    ThreadNotFound,
)
from jan_magics.domain.messages import Thread
from jan_magics.domain.protocols import Store, ThreadRow
from jan_magics.engine.ids import SHORTEST_PREFIX
from jan_magics.engine.records import KEY

LONGEST_TITLE: Final = 200


def own(thread: Thread) -> Mapping[str, Any]:
    """Return what we keep in a thread's metadata."""
    found = thread.metadata.get(KEY)
    return found if isinstance(found, dict) else {}


def shown_title(thread: Thread) -> str:
    """Return the title, else the notebook's name, else what people read where there is neither."""
    notebook, number = own(thread).get("notebook"), own(thread).get("number")
    stem = Path(notebook).stem if isinstance(notebook, str) else "unnamed"
    return thread.title or (f"{stem} {number}" if isinstance(number, int) else stem)


def unnamed(store: Store, notebook: str) -> list[Thread]:
    """Return the threads of a notebook that have no title."""
    threads = [row.thread for row in store.threads() if not (row.damaged or row.thread.title)]
    return [thread for thread in threads if own(thread).get("notebook") == notebook]


def next_number(threads: Iterable[Thread]) -> int | None:
    """Return the number that a further thread without a title is told by; the first has none."""
    numbers = [own(thread).get("number") or 1 for thread in threads]
    return max(numbers) + 1 if numbers else None


def find_thread(store: Store, name: str) -> Thread | None:
    """Return the thread with that title, else the one whose id begins so, else None.

    Raises:
        AmbiguousThread: when several threads have that title, or ids begin so.
        StoreError: when its own record is damaged.
    """
    rows, name = store.threads(), plain_name(name)
    if not name:
        return None
    found = [row for row in rows if name in (row.thread.title, plain_name(row.thread.title))]
    if not found and len(name) >= SHORTEST_PREFIX:
        found = [row for row in rows if row.thread.id.startswith(name)]
    if len(found) > 1:
        raise AmbiguousThread(name, [row.thread.id for row in found])
    return sound(found[0]) if found else None


def find_again(store: Store, name: str, names: dict[str, str]) -> Thread | None:
    """Return what `find_thread` does, without a look at all threads where a name still fits.

    A list counts the messages of every thread that has changed, which takes long in a long one.

    Raises:
        ThreadError: for the id of a thread that was here, and was deleted since.
    """
    name = plain_name(name)
    if name in names:
        with suppress(ThreadNotFound, StoreError):
            thread = store.thread(names[name])
            if name in (plain_name(thread.title), thread.id):
                return thread
    found = find_thread(store, name)
    if found is not None:
        names |= {name: found.id, found.id: found.id}
    elif names.get(name) == name:
        raise ThreadError(
            f"the thread {_former(name, names)!r} was deleted",
            "Bring it back: %chat undo   or go elsewhere: %chat new",
        )
    return found


def existing_thread(store: Store, name: str) -> Thread:
    """Return the thread of that name. Raises ThreadNotFound with the nearest names."""
    found = find_thread(store, name)
    if found is None:
        titles = [row.thread.title for row in store.threads() if row.thread.title]
        raise ThreadNotFound(name, difflib.get_close_matches(name, titles, 3))
    return found


def usable_title(title: str) -> str:
    """Return a title in its plain form. Raises SettingError when it cannot be one."""
    clean = plain_name(title)
    if not clean or len(clean) > LONGEST_TITLE:
        raise SettingError(
            f"{title[:40]!r} cannot be a thread's name",
            f"Use 1 to {LONGEST_TITLE} printable characters.",
        )
    return clean


def plain_name(name: str) -> str:
    """Return the one form of a name that looks so: no control characters, single spaces, NFC."""
    if name.isascii() and name.isprintable() and "  " not in name:
        return name.strip()
    words = "".join(c if c.isprintable() else " " for c in name).split()
    return unicodedata.normalize("NFC", " ".join(words))


def _former(identifier: str, names: Mapping[str, str]) -> str:
    """Return the last name that led to a thread."""
    found = [name for name, id_ in names.items() if id_ == identifier != name]
    return found[-1] if found else identifier[:8]


def sound(row: ThreadRow) -> Thread:
    """Return the thread of a row. Raises StoreError where its record must be mended first."""
    if row.damaged:
        raise StoreError(
            f"the thread {shown_title(row.thread)!r} ({row.thread.id[:8]}) is damaged: {row.fault}",
            "Its messages are safe; make its record anew: %chat doctor --fix",
        )
    return row.thread
