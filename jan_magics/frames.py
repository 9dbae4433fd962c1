"""Everything as a DataFrame: exact columns, typed so that unknown is <NA>.

pandas takes a third of a second to import, so that the first table pays for it and not the first
answer.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

from jan_magics.domain.columns import COLUMNS
from jan_magics.domain.errors import SettingError

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS: Final = 2000
"""Rows of a table that a tool may return as text."""


def frame(table: str, rows: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """Make a table of rows; a value that a row does not name is <NA>."""
    import pandas as pd

    columns = COLUMNS[table]
    listed = list(rows)
    made = {
        name: _column([row.get(name) for row in listed], kind) for name, kind in columns.items()
    }
    result = pd.DataFrame(made, copy=False)
    result.attrs["jan"] = {"table": table}
    return result


def _column(values: list[Any], kind: str) -> Any:
    """Return a column; what pandas would first look at value by value is made at once."""
    import numpy as np
    import pandas as pd

    kinds = set(map(type, values))
    if kind == "bool" and kinds <= {bool}:
        return np.array(values, bool)
    if kind == "Int64" and kinds <= {int, NoneType}:
        numbers = np.array([value or 0 for value in values], np.int64)
        return pd.arrays.IntegerArray(numbers, np.array([each is None for each in values], bool))
    if kind == "Float64" and kinds <= {float, NoneType}:
        real = np.array([np.nan if value is None else value for value in values], np.float64)
        unknown = np.isnan(real)
        return pd.arrays.FloatingArray(np.where(unknown, 0.0, real), unknown)
    # A type's name would be looked up among all types, which takes longer than the column.
    types: dict[str, Any] = {"str": pd.StringDtype(), "time": pd.DatetimeTZDtype("ns", "UTC")}
    return pd.array(values, dtype=types.get(kind, kind))


def grid_frame(
    keys: Sequence[str], rows: Sequence[Mapping[str, Any]], table: str = "grid"
) -> "pd.DataFrame":
    """Make a table of a grid's rows: the settings by their names first, then what came of them."""
    import pandas as pd

    settings = pd.DataFrame({key: [row.get(key) for row in rows] for key in keys})
    result = pd.concat([settings, frame(table, rows)], axis=1)
    result.attrs["jan"] = {"table": table, "keys": list(keys)}
    return result


def plain_value(value: object) -> object:
    """Return a table as text, an array as lists; anything else as it is."""
    if "pandas" not in sys.modules:
        return value
    import pandas as pd

    if isinstance(value, pd.DataFrame | pd.Series):
        left = len(value) - MOST_ROWS
        note = f"\n[{left:,} of {len(value):,} rows left out]" if left > 0 else ""
        return value.to_string(max_rows=MOST_ROWS) + note
    if isinstance(value, pd.Index):
        return value.tolist()
    return value


def foreign_value(value: Any, kind: str) -> object:
    """Return rows as a DataFrame, numbers as a Series, an Index or an array, by that name."""
    import numpy as np
    import pandas as pd

    match kind:
        case "DataFrame":
            return pd.DataFrame(value)
        case "Series" | "Index":
            return pd.Series(value) if kind == "Series" else pd.Index(value)
        case "ndarray":
            return np.asarray(value)
        case "Timestamp" | "Timedelta":
            return pd.Timestamp(value) if kind == "Timestamp" else pd.Timedelta(value)
        case _:
            return getattr(np, kind)(value)


def is_frame(value: object) -> bool:
    """Tell whether a value is a Series or a DataFrame."""
    if "pandas" not in sys.modules:
        return False
    import pandas as pd

    return isinstance(value, pd.DataFrame | pd.Series)


def text_rows(value: Any, column: str | None) -> list[tuple[str, str, dict[str, Any]]]:
    """Return `(source, text, metadata)` of each row of a Series, or of a DataFrame's column.

    The source is `name/index label`; the other columns are the metadata. An unknown text is "".

    Raises:
        SettingError: when the column is not there, was not named, or labels are not unique.
    """
    import pandas as pd

    if isinstance(value, pd.Series):
        texts, others = value, pd.DataFrame(index=value.index)
    else:
        texts, others = _text_column(value, column)
    if not texts.index.is_unique:
        raise SettingError(
            "two rows have the same index label, by which a document is known",
            "Number them: frame.reset_index()",
        )
    name = str(texts.name) if texts.name is not None else "row"
    metadata = others.astype(object).where(others.notna(), None).to_dict("records")
    rows = zip(texts.index, texts, metadata or [{}] * len(texts), strict=True)
    return [
        (
            f"{name}/{label}",
            "" if pd.isna(words) else str(words),
            {str(k): _json(v) for k, v in more.items()},
        )
        for label, words, more in rows
    ]


def read_frame(path: object) -> "pd.DataFrame":
    """Read a table from a .csv, .tsv, .json or .jsonl file.

    Raises:
        SettingError: when it is no such file, or cannot be read.
    """
    import pandas as pd

    name = str(path)
    readers: dict[str, Any] = {
        ".csv": pd.read_csv, ".tsv": partial(pd.read_csv, sep="\t"), ".json": pd.read_json,
        ".jsonl": partial(pd.read_json, lines=True),
    }  # fmt: skip
    reader = readers.get(Path(name).suffix.lower())
    if reader is None or not isinstance(path, str | Path):
        raise SettingError(
            f"{name!r} is no table", f"Give a DataFrame, or a file: {', '.join(readers)}"
        )
    try:
        table: pd.DataFrame = reader(name)
    except (OSError, ValueError) as fault:
        raise SettingError(f"{name!r} cannot be read: {fault}", "Look at the file.") from fault
    return table


def _text_column(value: "pd.DataFrame", column: str | None) -> tuple["pd.Series", "pd.DataFrame"]:
    if column is None:
        raise SettingError(
            "which column holds the text is not said",
            f"Name it: text={value.columns[0]!r}" if len(value.columns) else "Give a Series.",
        )
    if column not in value.columns:
        raise SettingError(
            f"no column {column!r}", f"There are: {', '.join(map(str, value.columns))}"
        )
    return value[column], value.drop(columns=column)


def _json(value: Any) -> Any:
    """Return a cell as JSON holds it: times and other things as their text."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    import numpy as np

    return value.item() if isinstance(value, np.generic) else str(value)


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> "pd.DataFrame":
    """Make a table of texts, as an answer wrote it; short rows are filled up with <NA>.

    Cells beyond the header come under `column N`, N from 1.
    """
    import pandas as pd

    read = list(rows)
    width = max(map(len, (header, *read)))
    padded = [[*row, *[None] * (width - len(row))] for row in read]
    further = [f"column {n}" for n in range(len(header) + 1, width + 1)]
    return pd.DataFrame(padded, columns=[*header, *further], dtype="string")
