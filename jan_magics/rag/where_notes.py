"""What a filter names that no document has, and what it takes for granted: said with the rows."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from jan_magics.domain.counting import counted
from jan_magics.rag.statements import fetched, first
from jan_magics.rag.where import COLUMN, NAMES, Tree, column_of, names_of
from jan_magics.storage.database import Database

_MOST: Final = 12
"""Fields that are listed where none is near."""


def notes_on(connection: Database, fields: str, where: Tree) -> tuple[str, ...]:
    """Return what the user of a filter must be told: fields that nothing has, missing dates.

    `fields` stands after FROM for the fields of a document.
    """
    notes: list[str] = []
    for name in dict.fromkeys(names_of(where)):
        field = column_of(name)
        if name == "date":
            notes += _undated(connection, fields)
        elif field is not None and not _is_there(connection, fields, field):
            notes.append(_unknown(connection, fields, name))
    return tuple(notes)


def _has(fields: str) -> str:
    return f"EXISTS (SELECT 1 FROM {fields} WHERE key = ?)"


def _is_there(connection: Database, fields: str, field: str) -> bool:
    query = f"SELECT 1 FROM document WHERE {_has(fields)} LIMIT 1"
    return first(connection, query, (field,)) is not None


def _unknown(connection: Database, fields: str, name: str) -> str:
    keys = [
        f"{COLUMN}{field}" if field in NAMES and field != "date" else str(field)
        for (field,) in fetched(
            connection, f"SELECT DISTINCT key FROM document CROSS JOIN {fields} ORDER BY key"
        )
    ]
    known = list(dict.fromkeys((*NAMES, *keys)))
    near = get_close_matches(name, known, 1)
    if near:
        return f"no document has a field {name!r}, closest: {near[0]!r}"
    more = f" and {len(known) - _MOST:,} more" if len(known) > _MOST else ""
    return f"no document has a field {name!r}; there are: {', '.join(known[:_MOST])}{more}"


def _undated(connection: Database, fields: str) -> Iterator[str]:
    counts = f"SELECT count(*) FILTER (WHERE NOT {_has(fields)}), count(*) FROM document"
    undated, documents = first(connection, counts, ("date",))
    if undated:
        have = "has" if undated == 1 else "have"
        yield (
            f"{undated:,} of {counted(documents, 'document')} {have} no date: for them the day"
            " counts on which they were read"
        )
