"""Filters as SQL: every value and every key of metadata is bound, never written.

How a database reads lists and JSON is its own (`Spelling`); what a filter means is not.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import apsw

from jan_magics.domain.errors import WhereError
from jan_magics.domain.segmentation import fold
from jan_magics.rag.where import All, Comparison, Either, Not, Tree, Value, column_of, names_of

_LONGEST: Final = 2**63
MOST: Final = 200
"""Comparisons of a filter, when those of one name are one list: SQLite takes 1,000 subqueries."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one kind of database writes what a filter asks.

    `fields` and `headings` stand after FROM and have the column `value`, `fields` also `key`; so
    do `texts` and `numbers`, a list that is bound as `listed` makes it, however long it is.
    `read` is when a document was read, as text. A field is compared by the first test of `either`
    where it is a text, by the second where it is a number, which `number` then is. `plain` is how
    texts are compared.
    """

    fields: str
    headings: str
    texts: str
    numbers: str
    listed: Callable[[Sequence[Value]], Any]
    read: str
    either: str
    number: str
    plain: str

    @property
    def date(self) -> str:
        """Return a document's own date, else when it was read."""
        return f"coalesce((SELECT value FROM {self.fields} WHERE key = 'date'), {self.read})"

    def among_texts(self, expression: str) -> str:
        """Return the test whether something is one of some texts."""
        return f"{expression} IN (SELECT value FROM {self.texts})"

    def among_numbers(self, expression: str) -> str:
        """Return the test whether something is one of some numbers."""
        return f"{expression} IN (SELECT value FROM {self.numbers})"


SQLITE: Final = Spelling(
    fields="json_each(document.metadata)",
    headings="json_each(chunk.headings)",
    # SQLite looks the values up in an index.
    texts="json_each(?) AS wanted",
    numbers="json_each(?) AS wanted",
    listed=lambda values: json.dumps(list(values)),
    read="strftime('%Y-%m-%dT%H:%M:%S', document.indexed_at / 1000, 'unixepoch')",
    either="CASE typeof(value) WHEN 'text' THEN {} ELSE {} END",
    number="value",
    plain="{} {} ?",
)
_TEXTS: Final = {"source": "document.source", "text": "passage.text"}


def add_functions(connection: apsw.Connection) -> None:
    """Give a connection what filters call."""
    connection.create_scalar_function("holds", _holds, 2, deterministic=True)


def numbers(tree: Tree, spelling: Spelling) -> tuple[str, Sequence[Any]]:
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
    condition, values = _Writing(spelling).sql(tree)
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


@dataclass(frozen=True, slots=True)
class _Writing:
    """Writes a tree for one kind of database; each method returns a condition and its values."""

    spelling: Spelling

    def sql(self, tree: Tree) -> tuple[str, list[Any]]:
        """Write a whole tree."""
        match tree:
            case Comparison():
                return self._comparison(tree)
            case Not(part):
                condition, values = self.sql(part)
                return f"NOT {condition}", values
            case All(parts) | Either(parts):
                made = [self.sql(part) for part in parts]
                word = " AND " if isinstance(tree, All) else " OR "
                joined = _balanced([condition for condition, _ in made], word)
                return joined, [value for _, values in made for value in values]

    def _comparison(self, comparison: Comparison) -> tuple[str, list[Any]]:
        name, sign = comparison.name, comparison.operator
        values = [_bound(value) for value in comparison.values]
        if sign == "!=":
            condition, bound = self._one(name, "=", values[0])
            return f"NOT coalesce({condition}, false)", bound
        among = sign == "in"
        condition, bound = self._among(name, values) if among else self._one(name, sign, values[0])
        # Two-valued: what is not there is unequal, and `not` turns that round.
        return f"coalesce({condition}, false)", bound

    def _one(self, name: str, sign: str, value: Value) -> tuple[str, list[Any]]:
        if name in _TEXTS:
            return self._text(_TEXTS[name], sign, value)
        known = {"page": self._page, "date": self._date, "heading": self._heading}
        return known[name](sign, value) if name in known else self._metadata(name, sign, value)

    def _date(self, sign: str, value: Value) -> tuple[str, list[Any]]:
        text = str(value)
        if sign == "~":
            return f"holds({self.spelling.date}, ?)", [fold(text)]
        # "2026-11" is all of November.
        start = f"substr({self.spelling.date}, 1, ?)"
        return self.spelling.plain.format(start, sign), [len(text), text]

    def _heading(self, sign: str, value: Value) -> tuple[str, list[Any]]:
        if sign not in ("=", "~"):
            raise WhereError(f"a heading cannot be {sign!r} something", "Use = or ~ for headings")
        test, bound = self._text("value", sign, value)
        return f"EXISTS (SELECT 1 FROM {self.spelling.headings} WHERE {test})", bound

    def _page(self, sign: str, value: Value) -> tuple[str, list[Any]]:
        if sign == "~" or isinstance(value, str):
            raise WhereError(
                f"a page is a number; {sign} {value!r} cannot be asked of it", "Write: page >= 3"
            )
        return f"chunk.page {sign} ?", [value]

    def _text(self, column: str, sign: str, value: Value) -> tuple[str, list[Any]]:
        if sign == "~":
            return f"holds({column}, ?)", [fold(str(value))]
        return self.spelling.plain.format(column, sign), [str(value)]

    def _metadata(self, key: str, sign: str, value: Value) -> tuple[str, list[Any]]:
        if sign == "~":
            return self._kept(key, "holds(value, ?)", fold(str(value)))
        as_text = self.spelling.plain.format("CAST(value AS TEXT)", sign)
        if isinstance(value, str):
            return self._kept(key, as_text, value)
        # A year may have been read as text: compared as text, 2024 is 2024.
        text = self.spelling.plain.format("value", sign)
        number = f"{self.spelling.number} {sign} ?"
        test = self.spelling.either.format(text, number)
        return self._kept(key, test, str(value), int(value) if isinstance(value, bool) else value)

    def _kept(self, name: str, test: str, *values: Any) -> tuple[str, list[Any]]:
        """Return what a document's own field has to pass."""
        condition = f"EXISTS (SELECT 1 FROM {self.spelling.fields} WHERE key = ? AND {test})"
        return condition, [column_of(name), *values]

    def _among(self, name: str, values: Sequence[Value]) -> tuple[str, list[Any]]:
        """Return the condition that one of the values is the right one."""
        written = self.spelling.listed([str(value) for value in values])
        texts = self.spelling.among_texts
        if name in _TEXTS:
            return texts(_TEXTS[name]), [written]
        if name == "heading":
            inside = f"SELECT 1 FROM {self.spelling.headings} WHERE {texts('value')}"
            return f"EXISTS ({inside})", [written]
        if name == "date":
            start = f"substr({self.spelling.date}, 1, length(wanted.value))"
            inside = f"SELECT 1 FROM {self.spelling.texts} WHERE {start} = wanted.value"
            return f"EXISTS ({inside})", [written]
        if name == "page":
            for value in values:
                self._page("=", value)
            return self.spelling.among_numbers("chunk.page"), [self.spelling.listed(values)]
        strings = [value for value in values if isinstance(value, str)]
        others = [value for value in values if not isinstance(value, str)]
        number = self.spelling.among_numbers(self.spelling.number)
        either = self.spelling.either.format(texts("value"), number)
        test = f"({texts('CAST(value AS TEXT)')} OR {either})"
        listed: tuple[Sequence[Value], ...] = (strings, [str(each) for each in others], others)
        return self._kept(name, test, *(self.spelling.listed(each) for each in listed))


def _balanced(conditions: Sequence[str], word: str) -> str:
    """Join conditions in pairs of pairs: a chain is as deep as it is long, which SQLite limits."""
    joined = list(conditions)
    while len(joined) > 1:
        pairs = [joined[at : at + 2] for at in range(0, len(joined), 2)]
        joined = [f"({word.join(pair)})" for pair in pairs]
    return joined[0]


def _bound(value: Value) -> Value:
    """Return a value as SQLite takes it: a number beyond its own is compared as it is written."""
    large = isinstance(value, int) and not -_LONGEST <= value < _LONGEST
    return str(value) if large else value


def _holds(*values: Any) -> bool:
    text, needle = values
    return text is not None and str(needle) in fold(str(text))
