"""Threads and messages in the rows of a database, whichever engine it is."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from jan_magics.domain.errors import MessageNotFound, ThreadNotFound
from jan_magics.domain.messages import Json, Message, Thread
from jan_magics.domain.overlays import Overlay, Undone
from jan_magics.domain.protocols import Stamp, Stamps, ThreadRow
from jan_magics.domain.tree import Changes
from jan_magics.storage import damage, message_rows, thread_rows
from jan_magics.storage.changes import changed_thread, one_thread, with_root
from jan_magics.storage.codec import to_milliseconds
from jan_magics.storage.database import Transactions
from jan_magics.storage.overlays import decode_overlays, encode_overlay
from jan_magics.storage.thread_rows import column, live_number, live_thread, stamp
from jan_magics.storage.whole_rows import WholeRows


class RowStore(WholeRows):
    """A Store over the connections of a database; the constructor touches nothing."""

    def __init__(self, connections: Transactions, clock: Callable[[], datetime]) -> None:
        super().__init__(connections, clock)
        self._listed: dict[tuple[Any, ...], ThreadRow] = {}

    def threads(self) -> Sequence[ThreadRow]:
        """List threads, the newest first, without the deleted ones."""
        with self._connections.reading() as connection:
            rows = connection.execute(thread_rows.LIST).fetchall()
        # Reading a row costs five times as much as seeing that it is still the same.
        known = self._listed
        new = [row for row in rows if row not in known] if known else rows
        made = dict(zip(new, thread_rows.read_rows(new), strict=True))
        self._listed = {row: known.get(row) or made[row] for row in rows} if known else made
        return list(self._listed.values())

    def thread(self, thread_id: str) -> Thread:
        """Return one thread. Raises ThreadNotFound."""
        with self._connections.reading() as connection:
            return live_thread(connection, thread_id)

    def update_thread(
        self,
        thread_id: str,
        *,
        title: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> None:
        """Change the title, merge metadata and other keys (a None value removes its key)."""
        with self._connections.writing(thread_id) as connection:
            thread = live_thread(connection, thread_id)
            changed = changed_thread(thread, title, metadata, extra)
            if changed != thread:
                thread_rows.change_thread(connection, changed, self._clock())

    def delete_thread(self, thread_id: str) -> None:
        """Move a thread to the bin; an absent one is no error."""
        self.delete_at(thread_id, self._clock())

    def delete_at(self, thread_id: str, moment: datetime) -> None:
        """Move a thread to the bin as if at that moment; an absent one is no error."""
        with self._connections.writing() as connection:
            connection.execute(
                "UPDATE thread SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL",
                (to_milliseconds(moment), column(thread_id)),
            )

    def restore_thread(self, thread_id: str) -> None:
        """Bring a thread back from the bin."""
        with self._connections.writing() as connection:
            connection.execute(
                "UPDATE thread SET deleted_at = NULL WHERE id = ?", (column(thread_id),)
            )
            if not connection.changes():
                raise ThreadNotFound(thread_id)

    def messages(self, thread_id: str) -> Sequence[Message]:
        """Return all messages of a thread in the order of writing."""
        with self._connections.reading() as connection:
            return message_rows.read_messages(connection, live_number(connection, thread_id))

    def create(self, message: Message) -> None:
        """Write a new message; an id that exists already is left as it is."""
        with self._connections.writing(message.thread_id) as connection:
            n = live_number(connection, message.thread_id)
            awaited = message_rows.is_awaited(connection, n, message)
            change = message_rows.put(connection, n, message, replacing=False)
            if change is not None:
                thread_rows.count(connection, n, change, self._clock())
                if awaited or message_rows.any_orphan(connection, n, (message,)):
                    damage.recount(connection, n)

    def save(self, *messages: Message) -> Stamps | None:
        """Write the newest state of messages of one thread in one transaction."""
        if not messages:
            return None
        return self.apply(one_thread(messages), Changes(messages))

    def delete(self, thread_id: str, message_id: str) -> None:
        """Delete a message for good; a late save does not bring it back."""
        with self._connections.writing(thread_id) as connection:
            n = live_number(connection, thread_id)
            change = message_rows.bury(connection, n, message_id)
            if change is None:
                raise MessageNotFound(message_id)
            thread_rows.count(connection, n, change, self._clock())

    def apply(self, thread_id: str, changes: Changes, overlays: Sequence[Overlay] = ()) -> Stamps:
        """Write changes of a tree and our own records, all in one transaction."""
        if changes.save:
            one_thread(changes.save, thread_id)
        with self._connections.writing(thread_id) as connection:
            n = live_number(connection, thread_id)
            thread, before = live_thread(connection, thread_id), stamp(connection, thread_id)
            rooted = with_root(thread, changes.active_root_id)
            if rooted != thread:
                thread_rows.change_thread(connection, rooted, self._clock())
            if any(isinstance(overlay, Undone) for overlay in overlays):
                message_rows.lift(connection, n, changes.save)
            awaited = False
            made = []
            for message in changes.save:
                awaited = awaited or message_rows.is_awaited(connection, n, message)
                made.append(message_rows.put(connection, n, message))
            made += [message_rows.bury(connection, n, name) for name in changes.deleted]
            message_rows.add_records(connection, n, map(encode_overlay, overlays))
            real = [change for change in made if change is not None]
            if real or overlays:
                change = (sum(m for m, _ in real), sum(b for _, b in real))
                thread_rows.count(connection, n, change, self._clock())
            if awaited or message_rows.any_orphan(connection, n, changes.save):
                damage.recount(connection, n)
            return Stamps(before, stamp(connection, thread_id))

    def stamp(self, thread_id: str) -> Stamp:
        """Return what differs after every write into a thread."""
        with self._connections.reading() as connection:
            return stamp(connection, thread_id)

    def overlays(self, thread_id: str) -> Sequence[Overlay]:
        """Return our own records of a thread in the order of writing."""
        with self._connections.reading() as connection:
            n = live_number(connection, thread_id)
            return decode_overlays(message_rows.read_records(connection, n))

    def tombstones(self, thread_id: str) -> Mapping[str, str | None]:
        """Return the ids of deleted messages with their parents."""
        with self._connections.reading() as connection:
            return message_rows.tombstones(connection, live_number(connection, thread_id))

    def close(self) -> None:
        """Close all connections; a later call opens them again."""
        self._connections.close()
        self._listed = {}
