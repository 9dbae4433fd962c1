"""What a filter names that no document has, and what it takes for granted: said with the rows."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

import apsw

from jan_magics.domain.counting import counted
from jan_magics.rag.statements import fetched, first
from jan_magics.rag.where import COLUMN, NAMES, Tree, column_of, names_of

_MOST: Final = 12
"""Fields that are listed where none is near."""
_HAS: Final = "EXISTS (SELECT 1 FROM json_each(document.metadata) WHERE key = ?)"


def notes_on(connection: apsw.Connection, where: Tree) -> tuple[str, ...]:
    """Return what the user of a filter must be told: fields that nothing has, missing dates."""
    notes: list[str] = []
    for name in dict.fromkeys(names_of(where)):
        field = column_of(name)
        if name == "date":
            notes += _undated(connection)
        elif field is not None and not _is_there(connection, field):
            notes.append(_unknown(connection, name))
    return tuple(notes)


def _is_there(connection: apsw.Connection, field: str) -> bool:
    return first(connection, f"SELECT 1 FROM document WHERE {_HAS} LIMIT 1", (field,)) is not None


def _unknown(connection: apsw.Connection, name: str) -> str:
    fields = [
        f"{COLUMN}{field}" if field in NAMES and field != "date" else str(field)
        for (field,) in fetched(
            connection,
            "SELECT DISTINCT key FROM document, json_each(document.metadata) ORDER BY key",
        )
    ]
    known = list(dict.fromkeys((*NAMES, *fields)))
    near = get_close_matches(name, known, 1)
    if near:
        return f"no document has a field {name!r}, closest: {near[0]!r}"
    more = f" and {len(known) - _MOST:,} more" if len(known) > _MOST else ""
    return f"no document has a field {name!r}; there are: {', '.join(known[:_MOST])}{more}"


def _undated(connection: apsw.Connection) -> Iterator[str]:
    undated, documents = first(
        connection, f"SELECT count(*) FILTER (WHERE NOT {_HAS}), count(*) FROM document", ("date",)
    )
    if undated:
        have = "has" if undated == 1 else "have"
        yield (
            f"{undated:,} of {counted(documents, 'document')} {have} no date: for them the day"
            " counts on which they were read"
        )
