"""The tables that a map takes: frames, series, lists, whatever gives rows; read exactly once."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import pandas as pd

from jan_magics.domain.errors import SettingError
from jan_magics.engine.rows import NAME, Row, is_unknown, lookups

NEXT: Final = "Give a DataFrame, a Series, or a list of texts or dicts."


@dataclass(frozen=True, slots=True)
class Source:
    """A table of rows: `frame` is what becomes columns again, `whole`: a row is a single value.

    `once`: it was given by what gives its rows only once.
    """

    frame: pd.DataFrame
    whole: bool = False
    once: bool = False

    def rows(self) -> Iterator[object]:
        """Yield each row, as templates see it: what is not known is None."""
        columns = list(self.frame.columns)
        for cells in self.frame.itertuples(index=False, name=None):
            known = [None if is_unknown(cell) else cell for cell in cells]
            yield known[0] if self.whole else Row(dict(zip(columns, known, strict=True)))


def source_of(data: object) -> Source:
    """Return the rows of what was given.

    Raises:
        SettingError: when it has no rows, or two of its columns have one name.
    """
    if isinstance(data, pd.DataFrame):
        if not data.columns.is_unique:
            twice = data.columns[data.columns.duplicated()][0]
            raise SettingError(f"two columns are called {twice!r}", "Rename one of them.")
        return Source(data)
    if isinstance(data, pd.Series):
        return Source(data.to_frame(NAME if data.name is None else data.name), whole=True)
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise SettingError(f"{type(data).__name__} is no table of rows", NEXT)
    once = isinstance(data, Iterator)
    listed = [_plain(each) for each in data]
    records = [isinstance(each, Mapping) for each in listed]
    if all(records):
        return Source(pd.DataFrame(listed), once=once)
    if any(records):
        raise SettingError("some rows are dicts, and some are not", "Give rows of one kind.")
    return Source(pd.DataFrame({NAME: pd.Series(listed, dtype=object)}), whole=True, once=once)


def check_template(template: str, source: Source) -> None:
    """Refuse a template that says the same for all rows, or names a column that is not there.

    Raises SettingError.
    """
    found = lookups(template)
    if not found:
        raise SettingError(
            "the template names nothing of a row, so all of them would ask the same",
            'Write what differs: {{row.title}}, {{row["a b"]}} or {{row}}',
        )
    columns = list(source.frame.columns)
    for steps in found:
        if steps and not source.whole and steps[0] not in columns and len(source.frame):
            raise no_column(steps[0], columns)


def no_column(name: object, columns: Sequence[Any]) -> SettingError:
    """Return the error for a column that a table does not have."""
    near = get_close_matches(str(name), [str(each) for each in columns], 1)
    closest = f"; closest: {near[0]!r}" if near else ""
    return SettingError(
        f"no column {name!r} in the table{closest}",
        f"There are: {', '.join(map(str, columns)) or 'none'}",
    )


def _plain(value: object) -> object:
    is_record = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return dataclasses.asdict(value) if is_record else value  # type: ignore[call-overload]  # so seen
