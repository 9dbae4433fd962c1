"""Filters as SQL: every value and every key of metadata is bound, never written."""

import json
from collections.abc import Sequence
from typing import Any, Final, Literal

import apsw

from jan_magics.domain.errors import WhereError
from jan_magics.domain.segmentation import fold
from jan_magics.rag.where import All, Comparison, Either, Not, Tree, Value, column_of, names_of

_TEXTS: Final = {"source": "document.source", "text": "passage.text"}
# A document's own date, else the day on which it was read.
_DATE: Final = (
    "coalesce((SELECT value FROM json_each(document.metadata) WHERE key = 'date'),"
    " strftime('%Y-%m-%dT%H:%M:%S', document.indexed_at / 1000, 'unixepoch'))"
)
_LISTED: Final = "(SELECT value FROM json_each(?))"
"""The values of a list: one is bound however long it is, and SQLite looks them up in an index."""
_LONGEST: Final = 2**63
MOST: Final = 200
"""Comparisons of a filter, when those of one name are one list: SQLite takes 1,000 subqueries."""


def add_functions(connection: apsw.Connection) -> None:
    """Give a connection what filters call."""
    connection.create_scalar_function("holds", _holds, 2, deterministic=True)


def numbers(tree: Tree) -> tuple[str, Sequence[Any]]:
    """Return a query for the numbers of the chunks that a filter lets pass, and its values.

    Raises:
        WhereError: when a comparison makes no sense, or there are too many.
    """
    tree = _merged(tree)
    if (number := sum(1 for _ in names_of(tree))) > MOST:
        raise WhereError(
            f"the filter compares {number:,} things, and at most {MOST} can be looked at",
            "Put the values of one name into a list: source in (a.md, b.md)",
        )
    condition, values = _sql(tree)
    query = (
        "SELECT chunk.n FROM chunk JOIN document ON document.n = chunk.document"
        f" JOIN passage ON passage.n = chunk.passage WHERE {condition}"
    )
    return query, values


def _merged(tree: Tree) -> Tree:
    """Make one list of what one name may equal, or must not equal, beside each other."""
    match tree:
        case Not(part):
            return Not(_merged(part))
        case Either(parts):
            return Either(_listed([_merged(part) for part in parts], "="))
        case All(parts):
            return All(_listed([_merged(part) for part in parts], "!="))
    return tree


def _listed(parts: Sequence[Tree], sign: Literal["=", "!="]) -> tuple[Tree, ...]:
    """Return parts with those of one name and that sign as one, where its first stands."""
    values: dict[str, list[Value]] = {}
    for part in parts:
        if isinstance(part, Comparison) and part.operator == sign:
            values.setdefault(part.name, []).extend(part.values)
    made: list[Tree] = []
    for part in parts:
        if not isinstance(part, Comparison) or part.operator != sign:
            made.append(part)
        elif several := values.pop(part.name, None):
            one = Comparison(part.name, "in", tuple(several))
            made.append(one if sign == "=" else Not(one))
    return tuple(made)


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
            joined = _balanced([condition for condition, _ in made], word)
            return joined, [value for _, values in made for value in values]


def _balanced(conditions: Sequence[str], word: str) -> str:
    """Join conditions in pairs of pairs: a chain is as deep as it is long, which SQLite limits."""
    joined = list(conditions)
    while len(joined) > 1:
        pairs = [joined[at : at + 2] for at in range(0, len(joined), 2)]
        joined = [f"({word.join(pair)})" for pair in pairs]
    return joined[0]


def _comparison(comparison: Comparison) -> tuple[str, list[Any]]:
    name, sign = comparison.name, comparison.operator
    values = [_bound(value) for value in comparison.values]
    if sign == "!=":
        condition, bound = _one(name, "=", values[0])
        return f"NOT coalesce({condition}, 0)", bound
    condition, bound = _among(name, values) if sign == "in" else _one(name, sign, values[0])
    # Two-valued: what is not there is unequal, and `not` turns that round.
    return f"coalesce({condition}, 0)", bound


def _bound(value: Value) -> Value:
    """Return a value as SQLite takes it: a number beyond its own is compared as it is written."""
    large = isinstance(value, int) and not -_LONGEST <= value < _LONGEST
    return str(value) if large else value


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
        return _kept(key, "holds(value, ?)", fold(str(value)))
    if isinstance(value, str):
        return _kept(key, f"CAST(value AS TEXT) {sign} ?", value)
    # A year may have been read as text: compared as text, 2024 is 2024.
    test = f"CASE typeof(value) WHEN 'text' THEN value {sign} ? ELSE value {sign} ? END"
    return _kept(key, test, str(value), value)


def _kept(name: str, test: str, *values: Value) -> tuple[str, list[Any]]:
    """Return what a document's own field has to pass."""
    condition = f"EXISTS (SELECT 1 FROM json_each(document.metadata) WHERE key = ? AND {test})"
    return condition, [column_of(name), *values]


def _among(name: str, values: Sequence[Value]) -> tuple[str, list[Any]]:
    """Return the condition that one of the values is the right one."""
    written = json.dumps([str(value) for value in values])
    if name in _TEXTS:
        return f"{_TEXTS[name]} IN {_LISTED}", [written]
    if name == "heading":
        inside = f"SELECT 1 FROM json_each(chunk.headings) WHERE value IN {_LISTED}"
        return f"EXISTS ({inside})", [written]
    if name == "date":
        start = f"substr({_DATE}, 1, length(wanted.value))"
        inside = f"SELECT 1 FROM json_each(?) AS wanted WHERE {start} = wanted.value"
        return f"EXISTS ({inside})", [written]
    if name == "page":
        for value in values:
            _page("=", value)
        return f"chunk.page IN {_LISTED}", [json.dumps(values)]
    texts = [value for value in values if isinstance(value, str)]
    numbers_only = [value for value in values if not isinstance(value, str)]
    test = (
        f"(CAST(value AS TEXT) IN {_LISTED} OR CASE typeof(value) WHEN 'text'"
        f" THEN value IN {_LISTED} ELSE value IN {_LISTED} END)"
    )
    as_text = [str(value) for value in numbers_only]
    return _kept(name, test, *(json.dumps(each) for each in (texts, as_text, numbers_only)))


def _holds(*values: Any) -> bool:
    text, needle = values
    return text is not None and str(needle) in fold(str(text))
