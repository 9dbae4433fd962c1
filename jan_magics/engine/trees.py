"""The trees of the threads in use, kept between calls and never older than the store."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from jan_magics.domain.messages import Message
from jan_magics.domain.overlays import Overlay
from jan_magics.domain.protocols import Stamp, Stamps, Store
from jan_magics.domain.tree import ACTIVE_ROOT_KEY, Changes, TreeIndex

KEPT: Final = 4
"""Threads whose messages stay in memory."""


@dataclass(frozen=True, slots=True)
class Held:
    """A thread as it is at a stamp of the store."""

    stamp: Stamp
    index: TreeIndex
    records: tuple[Overlay, ...]


@dataclass(slots=True)
class Trees:
    """Reads a thread once: what is written here is laid over, what others write is seen.

    Any thread may call.
    """

    store: Store
    _held: dict[str, Held] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, thread_id: str) -> Held:
        """Return a thread as it is now. Raises ThreadNotFound."""
        stamp = self.store.stamp(thread_id)
        with self._lock:
            held = self._held.get(thread_id)
        if held is None or held.stamp != stamp:
            held = self._read(thread_id, stamp)
            # Somebody may have written meanwhile; then it is read again the next time.
            if self.store.stamp(thread_id) == stamp:
                self._put(thread_id, held)
        return held

    def apply(self, thread_id: str, changes: Changes, overlays: Sequence[Overlay] = ()) -> None:
        """Write changes of a tree and our own records, in one transaction."""
        stamps = self.store.apply(thread_id, changes, overlays)
        self._lay_over(thread_id, stamps, changes, tuple(overlays))

    def save(self, message: Message) -> None:
        """Write the newest state of a message that grows."""
        stamps = self.store.save(message)
        self._lay_over(message.thread_id, stamps, Changes((message,)), ())

    def _read(self, thread_id: str, stamp: Stamp) -> Held:
        root = self.store.thread(thread_id).metadata.get(ACTIVE_ROOT_KEY)
        index = TreeIndex(
            self.store.messages(thread_id),
            active_root_id=root if isinstance(root, str) else None,
            tombstones=self.store.tombstones(thread_id),
        )
        return Held(stamp, index, tuple(self.store.overlays(thread_id)))

    def _lay_over(
        self, thread_id: str, stamps: Stamps | None, changes: Changes, overlays: tuple[Overlay, ...]
    ) -> None:
        """Bring what is held up to date, where only this call came between the two stamps."""
        with self._lock:
            held = self._held.get(thread_id)
        if held is None or stamps is None or held.stamp != stamps.before:
            return
        # What the store does with deleted messages is its own affair: the next call reads it.
        gone = any(message.id in held.index.tombstones for message in changes.save)
        if changes.deleted or gone:
            return
        records = (*held.records, *overlays)
        self._put(thread_id, Held(stamps.after, held.index.after(changes), records))

    def _put(self, thread_id: str, held: Held) -> None:
        with self._lock:
            self._held.pop(thread_id, None)
            self._held[thread_id] = held
            while len(self._held) > KEPT:
                del self._held[next(iter(self._held))]
