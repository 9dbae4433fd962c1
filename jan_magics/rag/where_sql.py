"""Filters as SQL: every value and every key of metadata is bound, never written."""

from collections.abc import Sequence
from typing import Any, Final

import apsw

from jan_magics.domain.errors import WhereError
from jan_magics.domain.segmentation import fold
from jan_magics.rag.where import All, Comparison, Either, Not, Tree, Value

_TEXTS: Final = {"source": "document.source", "text": "passage.text"}
# A document's own date, else the day on which it was read.
_DATE: Final = (
    "coalesce((SELECT value FROM json_each(document.metadata) WHERE key = 'date'),"
    " strftime('%Y-%m-%dT%H:%M:%S', document.indexed_at / 1000, 'unixepoch'))"
)
_METADATA: Final = "(SELECT value FROM json_each(document.metadata) WHERE key = ?)"


def add_functions(connection: apsw.Connection) -> None:
    """Give a connection what filters call."""
    connection.create_scalar_function("holds", _holds, 2, deterministic=True)


def numbers(tree: Tree) -> tuple[str, Sequence[Any]]:
    """Return a query for the numbers of the chunks that a filter lets pass, and its values.

    Raises:
        WhereError: when a comparison makes no sense.
    """
    condition, values = _sql(tree)
    query = (
        "SELECT chunk.n FROM chunk JOIN document ON document.n = chunk.document"
        f" JOIN passage ON passage.n = chunk.passage WHERE {condition}"
    )
    return query, values


def _sql(tree: Tree) -> tuple[str, list[Any]]:
    match tree:
        case Comparison():
            return _comparison(tree)
        case Not(part):
            condition, values = _sql(part)
            return f"NOT {condition}", values
        case All(parts) | Either(parts):
            made = [_sql(part) for part in parts]
            word = " AND " if isinstance(tree, All) else " OR "
            joined = word.join(condition for condition, _ in made)
            return f"({joined})", [value for _, values in made for value in values]


def _comparison(comparison: Comparison) -> tuple[str, list[Any]]:
    name, sign, values = comparison.name, comparison.operator, comparison.values
    if sign == "!=":
        condition, bound = _comparison(Comparison(name, "=", values))
        return f"NOT {condition}", bound
    if sign == "in":
        made = [_comparison(Comparison(name, "=", (value,))) for value in values]
        joined = " OR ".join(condition for condition, _ in made) or "0"
        return f"({joined})", [value for _, bound in made for value in bound]
    condition, bound = _one(name, sign, values[0])
    # Two-valued: what is not there is unequal, and `not` turns that round.
    return f"coalesce({condition}, 0)", bound


def _one(name: str, sign: str, value: Value) -> tuple[str, list[Any]]:
    if name in _TEXTS:
        return _text(_TEXTS[name], sign, value)
    known = {"page": _page, "date": _date, "heading": _heading}
    return known[name](sign, value) if name in known else _metadata(name, sign, value)


def _date(sign: str, value: Value) -> tuple[str, list[Any]]:
    text = str(value)
    if sign == "~":
        return f"holds({_DATE}, ?)", [fold(text)]
    # "2026-11" is all of November.
    return f"substr({_DATE}, 1, ?) {sign} ?", [len(text), text]


def _heading(sign: str, value: Value) -> tuple[str, list[Any]]:
    if sign not in ("=", "~"):
        raise WhereError(f"a heading cannot be {sign!r} something", "Use = or ~ for headings")
    test, bound = _text("value", sign, value)
    return f"EXISTS (SELECT 1 FROM json_each(chunk.headings) WHERE {test})", bound


def _page(sign: str, value: Value) -> tuple[str, list[Any]]:
    if sign == "~" or isinstance(value, str):
        raise WhereError(
            f"a page is a number; {sign} {value!r} cannot be asked of it", "Write: page >= 3"
        )
    return f"chunk.page {sign} ?", [value]


def _text(column: str, sign: str, value: Value) -> tuple[str, list[Any]]:
    if sign == "~":
        return f"holds({column}, ?)", [fold(str(value))]
    return f"{column} {sign} ?", [str(value)]


def _metadata(key: str, sign: str, value: Value) -> tuple[str, list[Any]]:
    if sign == "~":
        return f"holds({_METADATA}, ?)", [key, fold(str(value))]
    if isinstance(value, str):
        return f"CAST({_METADATA} AS TEXT) {sign} ?", [key, value]
    # A year may have been read as text: compared as text, 2024 is 2024.
    return (
        f"CASE (SELECT typeof(value) FROM json_each(document.metadata) WHERE key = ?)"
        f" WHEN 'text' THEN {_METADATA} {sign} ? ELSE {_METADATA} {sign} ? END",
        [key, key, str(value), key, value],
    )


def _holds(*values: Any) -> bool:
    text, needle = values
    return text is not None and str(needle) in fold(str(text))
