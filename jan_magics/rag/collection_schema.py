"""The tables of a collection, and whether a file is one: its mark, its version, its shape.

The text of a chunk is kept once, whoever has it, and so is its vector: the vectors of one embedder
are a table of their own, a generation, which goes as a whole.
"""

import re
from pathlib import Path
from typing import Final

import apsw

from jan_magics.domain.errors import RetrievalError, SchemaTooNew
from jan_magics.storage.schema import Step, migrate

APPLICATION: Final = 0x4A414E43
"""What SQLite keeps in the head of a file to tell whose it is: JANC."""

# Words come segmented, so every byte above ASCII is a letter; the stemmer knows English only.
_LAYOUT: Final = """
    CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE document (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        source TEXT NOT NULL UNIQUE,
        content TEXT NOT NULL,
        recipe TEXT NOT NULL,
        cut TEXT NOT NULL,
        metadata TEXT NOT NULL,
        pages TEXT NOT NULL,
        kind TEXT NOT NULL,
        warning TEXT,
        reason TEXT,
        chunks INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        indexed_at INTEGER NOT NULL,
        text BLOB NOT NULL
    );
    CREATE TABLE passage (n INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, text TEXT NOT NULL);
    CREATE TABLE chunk (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        document INTEGER NOT NULL REFERENCES document (n),
        place INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        headings TEXT NOT NULL,
        page INTEGER,
        warning TEXT,
        passage INTEGER NOT NULL REFERENCES passage (n)
    );
    CREATE INDEX chunk_document ON chunk (document, place);
    CREATE INDEX chunk_passage ON chunk (passage);
    CREATE TABLE generation (n INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5 (
        body, content = '', contentless_delete = 1, tokenize = 'porter ascii'
    );
    INSERT INTO about VALUES ('changes', 0);
"""
_OURS: Final = re.compile(
    r"about|document|passage|chunk|chunk_document|chunk_passage|generation|words(_\w+)?"
    r"|vectors_\d+|near_\d+(_\w+)?|sqlite_\w+"
)
_NEEDED: Final = ("about", "document", "passage", "chunk", "generation", "words")


def prepare(connection: apsw.Connection, path: Path) -> None:
    """Make a new file a collection, or bring an older one to the newest schema.

    Raises:
        RetrievalError: when it is a database of somebody else.
        SchemaTooNew: when a newer version of this package has written it.
    """
    # In this order: another process may be making it at this moment.
    if not _empty(connection) and _marked(connection) != APPLICATION:
        raise foreign(path)
    migrate(connection, path, STEPS)


def check(connection: apsw.Connection, path: Path) -> None:
    """See that a file that is not changed here is a collection, and nothing else besides.

    A trigger or a view of somebody else would run when ours are read.

    Raises:
        RetrievalError, SchemaTooNew: as `prepare` does.
    """
    if _marked(connection) != APPLICATION:
        raise foreign(path)
    version = int(str(connection.pragma("user_version")))
    if version > len(STEPS):
        raise SchemaTooNew(
            f"{path} has schema {version}; this version of jan_magics reads up to {len(STEPS)}",
            "Upgrade: pip install -U jan-magics",
        )
    rows = connection.execute("SELECT type, name FROM sqlite_schema").fetchall()
    names = {str(name) for _, name in rows}
    strange = {str(name) for kind, name in rows if kind in ("trigger", "view")}
    strange |= {name for name in names if not _OURS.fullmatch(name)}
    missing = [name for name in _NEEDED if name not in names]
    if strange or missing or version < len(STEPS):
        parts = [f"no table {name!r}" for name in missing]
        parts += [f"an unknown {name!r}" for name in sorted(strange)]
        raise RetrievalError(
            f"{path} is not a collection as this version writes it: "
            f"{', '.join(parts) or f'schema {version}'}",
            "Make it anew from its documents: %rag add PATH -c NAME",
        )


def foreign(path: Path) -> RetrievalError:
    """Return the error for a file that is not a collection."""
    return RetrievalError(
        f"{path} is not a collection", "Name another file; %rag collections lists what there is"
    )


def _marked(connection: apsw.Connection) -> int:
    return int(str(connection.pragma("application_id")))


def _empty(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None


def _first(connection: apsw.Connection) -> None:
    connection.execute(_LAYOUT)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")


STEPS: Final[tuple[Step, ...]] = (_first,)
