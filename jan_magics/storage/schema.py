"""The SQLite schema and the way from every older one to it; forward only."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import apsw

from jan_magics.domain.errors import SchemaTooNew

Step: TypeAlias = Callable[[apsw.Connection], None]


def migrate(connection: apsw.Connection, path: Path, steps: Sequence[Step] | None = None) -> None:
    """Bring a database to the newest schema; the steps that are missing, in one transaction.

    Raises:
        SchemaTooNew: when a newer version of this package has written it.
    """
    steps = STEPS if steps is None else steps
    if _version(connection, path, len(steps)) == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while we waited.
        for step in steps[_version(connection, path, len(steps)) :]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: apsw.Connection, path: Path, newest: int) -> int:
    found = int(str(connection.pragma("user_version")))
    if found > newest:
        raise SchemaTooNew(
            f"{path} has schema {found}; this version of jan_magics reads up to schema {newest}",
            "Upgrade: pip install -U jan-magics, or name another data folder",
        )
    return found


def _threads_and_messages(connection: apsw.Connection) -> None:
    # `messages` and `leaves` are kept up to date by every write: counting for a list of ten
    # thousand threads would take longer than drawing it.
    connection.execute(
        """
        CREATE TABLE thread (
            n INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            deleted_at INTEGER,
            messages INTEGER NOT NULL DEFAULT 0,
            leaves INTEGER NOT NULL DEFAULT 0,
            data TEXT NOT NULL
        );
        CREATE INDEX thread_newest ON thread (updated_at DESC, n DESC) WHERE deleted_at IS NULL;
        CREATE TABLE message (
            n INTEGER PRIMARY KEY,
            thread INTEGER NOT NULL REFERENCES thread (n) ON DELETE CASCADE,
            id TEXT NOT NULL,
            linked INTEGER NOT NULL,
            parent TEXT,
            data TEXT NOT NULL,
            UNIQUE (thread, id)
        );
        CREATE INDEX message_order ON message (thread, n);
        CREATE INDEX message_parent ON message (thread, parent) WHERE parent IS NOT NULL;
        CREATE TABLE tombstone (
            thread INTEGER NOT NULL REFERENCES thread (n) ON DELETE CASCADE,
            id TEXT NOT NULL,
            PRIMARY KEY (thread, id)
        ) WITHOUT ROWID;
        """
    )


def _overlays(connection: apsw.Connection) -> None:
    # `data` is [id, parent] as JSON, since a column cannot hold every id; older ones have none.
    connection.execute(
        """
        CREATE TABLE overlay (
            n INTEGER PRIMARY KEY,
            thread INTEGER NOT NULL REFERENCES thread (n) ON DELETE CASCADE,
            data TEXT NOT NULL
        );
        CREATE INDEX overlay_order ON overlay (thread, n);
        ALTER TABLE tombstone ADD COLUMN data TEXT;
        """
    )


def _stamps(connection: apsw.Connection) -> None:
    # Counts what was written into a thread: its time alone does not tell two writes apart.
    connection.execute("ALTER TABLE thread ADD COLUMN changes INTEGER NOT NULL DEFAULT 0")


STEPS: Final[tuple[Step, ...]] = (_threads_and_messages, _overlays, _stamps)
