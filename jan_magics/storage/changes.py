"""What a change means, whatever the store: pure functions over values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import UNLINKED, Json, Message, Parent, Thread
from jan_magics.domain.tree import ACTIVE_ROOT_KEY, KEEP, RootPointer


def changed_thread(
    thread: Thread,
    title: str | None,
    metadata: Mapping[str, Json] | None,
    extra: Mapping[str, Json] | None = None,
) -> Thread:
    """Change the title, merge metadata and other keys; a None value removes its key."""
    return replace(
        thread,
        title=thread.title if title is None else title,
        metadata=_merged(thread.metadata, metadata or {}),
        extra=_merged(thread.extra, extra or {}),
    )


def with_root(thread: Thread, root_id: RootPointer) -> Thread:
    """Let the thread's metadata name another active root; None: none is named."""
    if root_id is KEEP:
        return thread
    return changed_thread(thread, None, {ACTIVE_ROOT_KEY: root_id})


def one_thread(messages: Sequence[Message], thread_id: str | None = None) -> str:
    """Return the thread that all messages belong to, which may be said beforehand.

    Raises:
        StoreError: when they belong to several, since one transaction is one thread.
    """
    threads = {message.thread_id for message in messages}
    threads |= set() if thread_id is None else {thread_id}
    if len(threads) != 1:
        raise StoreError(
            f"messages of several threads in one save: {', '.join(map(repr, sorted(threads)))}",
            "Save each thread by itself",
        )
    return threads.pop()


def count_branches(parents: Mapping[str, Parent]) -> int:
    """Count the leaves: linked messages without a child; without links a thread is one branch."""
    with_child = {parent for parent in parents.values() if isinstance(parent, str)}
    leaves = sum(
        parent is not UNLINKED and message not in with_child for message, parent in parents.items()
    )
    return max(1, leaves) if parents else 0


def is_loose(parents: Mapping[str, Parent]) -> bool:
    """Tell whether a thread that has links has a message without a usable one."""
    written = [parent for parent in parents.values() if parent is not UNLINKED]
    lost = any(isinstance(parent, str) and parent not in parents for parent in written)
    return lost or 0 < len(written) < len(parents)


def _merged(known: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, Json]:
    merged = {**known, **new}
    return {key: value for key, value in merged.items() if value is not None or key not in new}
