"""Filters: which chunks may be found at all. A small language, and a tree; SQL is in where_sql.

    source ~ "guide" and (page >= 3 or heading = "Install") and not year in (2019, 2020)

Names are `source`, `heading`, `page`, `date`, `text`, and anything else is a key of the document's
metadata; a column of a table that is called like one of the five is `column.page`. `~` is
"contains", whatever case, width or accents. A name that a document lacks equals nothing, and is
unequal to everything.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from jan_magics.domain.errors import WhereError
from jan_magics.domain.messages import Json

Value: TypeAlias = str | int | float | bool
Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "~", "in"]

OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=", "~", "in")
NAMES: Final = ("source", "heading", "page", "date", "text")
"""What every chunk has; anything else is a field of its document."""
COLUMN: Final = "column."
_SIGNS: Final = OPERATORS[:-1]
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<sign>!=|<=|>=|[=<>~(),])
    |(?P<word>[^\s=<>~!(),"']+))""",
    re.VERBOSE,
)
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?")
_DEEPEST: Final = 50
_LONGEST_NUMBER: Final = 18
"""Digits; what is longer is an identifier, and is compared as text."""
_EXAMPLE: Final = "Write it as in: --where 'source ~ \"guide\" and page >= 3'"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A name and what it is compared with: several values for `in`, else one."""

    name: str
    operator: Operator
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class All:
    """Holds where each part does."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Holds where one of the parts does."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where its part does not."""

    part: "Tree"


Tree: TypeAlias = Comparison | All | Either | Not


def parse(text: str) -> Tree:
    """Read a filter as it is typed. Raises WhereError."""
    reading = _Reading(text)
    tree = reading.alternatives(0)
    if reading.token is not None:
        raise reading.wrong("and, or, or the end")
    return tree


def from_mapping(where: Mapping[str, object]) -> Tree:
    """Read a filter from a dict: a value is equality, a list is `in`, a dict has operators.

    >>> from_mapping({"page": {">=": 3}})
    Comparison(name='page', operator='>=', values=(3,))

    Raises:
        WhereError: when it has an unknown operator, or something else than text and numbers.
    """
    parts: list[Tree] = []
    for name, wanted in where.items():
        if isinstance(wanted, Mapping):
            parts += [_comparison(name, str(sign), value) for sign, value in wanted.items()]
        else:
            several = isinstance(wanted, Sequence) and not isinstance(wanted, str)
            parts.append(_comparison(name, "in" if several else "=", wanted))
    if not parts:
        raise WhereError("the filter is empty", 'Leave it out, or name something: {"page": 3}')
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def read(where: str | Mapping[str, Json] | None) -> Tree | None:
    """Read a filter in either form; None and blank text are none. Raises WhereError."""
    if where is None or (isinstance(where, str) and not where.strip()):
        return None
    if not isinstance(where, str | Mapping):
        raise WhereError(f"{where!r} is no filter", "Write one: where=\"source ~ 'guide'\"")
    return parse(where) if isinstance(where, str) else from_mapping(where)


def names_of(tree: Tree) -> Iterator[str]:
    """Yield the name of each comparison, in order."""
    match tree:
        case Comparison(name):
            yield name
        case Not(part):
            yield from names_of(part)
        case All(parts) | Either(parts):
            for part in parts:
                yield from names_of(part)


def column_of(name: str) -> str | None:
    """Return the field of a document that a name means, None where every chunk has it.

    >>> column_of("year"), column_of("column.page"), column_of("page")
    ('year', 'page', None)
    """
    return None if name in NAMES else name.removeprefix(COLUMN)


def _comparison(name: str, sign: str, value: object) -> Comparison:
    if sign not in OPERATORS:
        raise WhereError(f"unknown operator {sign!r}", f"Use one of {' '.join(OPERATORS)}")
    several = isinstance(value, Sequence) and not isinstance(value, str)
    values = tuple(cast(Sequence[object], value)) if several else (value,)
    for each in values:
        if not isinstance(each, str | int | float):
            raise WhereError(
                f"{name!r} is compared with {each!r}, which is neither text nor a number", _EXAMPLE
            )
    if several != (sign == "in"):
        raise WhereError(f"{sign!r} and {value!r} do not go together", "`in` takes a list")
    return Comparison(name, cast(Operator, sign), cast(tuple[Value, ...], values))


class _Reading:
    """A filter that is being read, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self.token: str | None = None
        self._quoted = False
        self._next()

    def alternatives(self, depth: int) -> Tree:
        parts = [self._together(depth)]
        while self._takes("or"):
            parts.append(self._together(depth))
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def wrong(self, wanted: str) -> WhereError:
        found = "the end" if self.token is None else repr(self.token)
        return WhereError(
            f"in the filter {self._text!r}: {wanted} expected, {found} found", _EXAMPLE
        )

    def _together(self, depth: int) -> Tree:
        parts = [self._one(depth)]
        while self._takes("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _one(self, depth: int) -> Tree:
        if depth > _DEEPEST:
            raise WhereError(f"the filter {self._text!r} is nested too deeply", _EXAMPLE)
        if self._takes("not"):
            return Not(self._one(depth + 1))
        if self._takes("("):
            tree = self.alternatives(depth + 1)
            self._need(")")
            return tree
        return self._compared()

    def _compared(self) -> Tree:
        if self.token is None or (not self._quoted and self.token in (*OPERATORS, ")", ",")):
            raise self.wrong("a name")
        name = self._take()
        negated = self._takes("not")
        if self._takes("in"):
            found: Tree = Comparison(name, "in", self._values())
            return Not(found) if negated else found
        if negated or self._quoted or self.token not in OPERATORS:
            raise self.wrong(f"one of {' '.join(OPERATORS)}")
        operator = cast(Operator, self._take())
        return Comparison(name, operator, (self._value(),))

    def _values(self) -> tuple[Value, ...]:
        self._need("(")
        values = [self._value()]
        while self._takes(","):
            values.append(self._value())
        self._need(")")
        return tuple(values)

    def _value(self) -> Value:
        if self.token is None or (not self._quoted and self.token in (*_SIGNS, "(", ")", ",")):
            raise self.wrong("a value")
        quoted, token = self._quoted, self._take()
        if quoted:
            return token
        if _NUMBER.fullmatch(token) and len(token) <= _LONGEST_NUMBER:
            return float(token) if "." in token else int(token)
        return {"true": True, "false": False}.get(token.lower(), token)

    def _need(self, sign: str) -> None:
        if not self._takes(sign):
            raise self.wrong(repr(sign))

    def _takes(self, word: str) -> bool:
        if self._quoted or self.token is None or self.token.lower() != word:
            return False
        self._next()
        return True

    def _take(self) -> str:
        token = self.token or ""
        self._next()
        return token

    def _next(self) -> None:
        found = _TOKEN.match(self._text, self._end)
        if found is None:
            rest = self._text[self._end :].strip()
            if rest:
                self.token, self._quoted = rest, False
                raise WhereError(
                    f"the filter {self._text!r} cannot be read from {rest[:20]!r} on", _EXAMPLE
                )
            self.token, self._quoted = None, False
            return
        self._end = found.end()
        self._quoted = found["quoted"] is not None
        token = found[found.lastgroup or "word"]
        self.token = (
            re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL) if self._quoted else token
        )
