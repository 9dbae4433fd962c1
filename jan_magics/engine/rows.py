"""A row of a table in a prompt: `{{row.title}}` and `{{row["a b"]}}` are looked up. Pure.

Nothing is evaluated here, and what a cell holds is text: braces in it stay as they are.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from keyword import iskeyword
from typing import Final

from jan_magics.domain.errors import SettingError

NAME: Final = "row"
"""What a row is called in a template."""
_STEP: Final = r"\.[^\W\d]\w*|\[\s*(?:\"[^\"\n]*\"|'[^'\n]*'|-?\d+)\s*\]"
_LOOKUP: Final = re.compile(rf"\\\{{\{{|\{{\{{\s*{NAME}((?:{_STEP})*)\s*\}}\}}")
"""Escaped braces, or a look-up in braces."""
_EACH: Final = re.compile(_STEP)


class Row:
    """A row by its columns: `row.title`, `row["a b"]`. It has no names beside those of its columns.

    A cell whose value is not known is None.
    """

    __slots__ = ("_cells",)

    def __init__(self, cells: Mapping[object, object]) -> None:
        self._cells = cells

    def __getattr__(self, name: str) -> object:
        if name in self.__slots__:  # a copy that is being made
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as missing:
            raise AttributeError(*missing.args) from None

    def __getitem__(self, name: object) -> object:
        if name not in self._cells:
            raise KeyError(_unknown(name, self._cells))
        return self._cells[name]

    def __contains__(self, name: object) -> bool:
        return name in self._cells

    def __iter__(self) -> Iterator[object]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __str__(self) -> str:
        return "\n".join(f"{name}: {cell_text(cell)}" for name, cell in self._cells.items())

    def __repr__(self) -> str:
        return f"Row({dict(self._cells)!r})"


def cell_text(value: object, shown: Callable[[object], str] = str) -> str:
    """Return how a cell stands in a prompt; what is not known (None, NaN, NA) is no text."""
    return "" if is_unknown(value) else shown(value)


def is_unknown(value: object) -> bool:
    """Tell whether a value says that there is none: None, NaN, NaT, NA; tables are values."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value  # noqa: PLR0124 - NaN, of numpy too


def filled(template: str, row: object, shown: Callable[[object], str] = str) -> str:
    r"""Return a template with a row looked up in it; other braces stay, and `\{{` is `{{`.

    Raises:
        SettingError: for a column that the row does not have.
    """

    def fill(found: re.Match[str]) -> str:
        if found[1] is None:
            return "{{"
        value = row
        for step in steps_of(found[1]):
            value = _looked_up(value, step)
        return cell_text(value, shown)

    return _LOOKUP.sub(fill, template)


def lookups(template: str) -> list[tuple[str | int, ...]]:
    """Return what a template looks up: the steps of each, () for the whole row."""
    found = (match[1] for match in _LOOKUP.finditer(template))
    return [steps_of(each) for each in found if each is not None]


def spelled(template: str) -> str:
    """Return a template whose look-ups Python can read, too.

    >>> spelled("Is {{row.class}} a {{row.kind}}?")
    'Is {{row["class"]}} a {{row.kind}}?'
    """

    def spell(step: re.Match[str]) -> str:
        name = step[0][1:]
        return f'["{name}"]' if step[0][0] == "." and iskeyword(name) else step[0]

    return _LOOKUP.sub(lambda found: _EACH.sub(spell, found[0]) if found[1] else found[0], template)


def steps_of(path: str) -> tuple[str | int, ...]:
    """Return the names and numbers of a look-up, `.a["b c"][0]` as a, b c, 0."""
    return tuple(_step(each) for each in _EACH.findall(path))


def _step(text: str) -> str | int:
    if text.startswith("."):
        return text[1:]
    inner = text[1:-1].strip()
    return inner[1:-1] if inner[0] in "\"'" else int(inner)


def _looked_up(value: object, step: str | int) -> object:
    if is_unknown(value):
        return None
    if isinstance(value, Row | Mapping):
        if step not in value:
            raise _no_column(step, value)
        found: object = value[step]
        return found
    if isinstance(step, int) and isinstance(value, list | tuple) and -len(value) <= step:
        return value[step] if step < len(value) else None
    raise SettingError(
        f"{step!r} cannot be looked up in {type(value).__name__}",
        "Rows that are no tables are whole: {{row}}",
    )


def _no_column(name: object, columns: "Row | Mapping[object, object]") -> SettingError:
    listed = ", ".join(map(str, columns)) or "none"
    return SettingError(_unknown(name, columns), f"There are: {listed}")


def _unknown(name: object, columns: "Row | Mapping[object, object]") -> str:
    near = get_close_matches(str(name), [str(each) for each in columns], 1)
    return f"no column {name!r}" + (f"; closest: {near[0]!r}" if near else "")
