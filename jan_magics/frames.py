"""Everything as a DataFrame: exact columns, typed so that unknown is <NA>.

pandas takes a third of a second to import, so that the first table pays for it and not the first
answer.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, Final

from jan_magics.domain.errors import SettingError

if TYPE_CHECKING:
    import pandas as pd

_HITS: Final[Mapping[str, str]] = MappingProxyType({
    "rank": "Int64", "score": "Float64", "used": "bool", "dropped_by": "str", "source": "str",
    "headings": "str", "page": "Int64", "tokens": "Int64", "vector": "Float64",
    "vector_rank": "Int64", "bm25": "Float64", "bm25_rank": "Int64", "fused": "Float64",
    "rerank": "Float64", "metric": "str", "distance": "Float64", "chunk": "str", "start": "Int64",
    "end": "Int64", "text": "str",
})  # fmt: skip
COLUMNS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({
    "threads": {
        "thread": "str", "title": "str", "notebook": "str", "messages": "Int64",
        "branches": "Int64", "tokens": "Int64", "model": "str", "updated_at": "time",
    },
    "messages": {
        "id": "str", "role": "str", "text": "str", "version": "Int64", "versions": "Int64",
        "on_path": "bool", "status": "str", "tokens": "Int64", "parent": "str", "cell": "str",
        "created_at": "time",
    },
    "turns": {
        "turn": "Int64", "model": "str", "prompt": "str", "answer": "str",
        "input_tokens": "Int64", "output_tokens": "Int64", "cached_tokens": "Int64",
        "first_token_s": "Float64", "seconds": "Float64", "tokens_per_s": "Float64",
        "finish": "str", "sources": "Int64", "cost": "Float64", "created_at": "time",
    },
    "models": {
        "model": "str", "provider": "str", "window": "Int64", "capabilities": "str",
        "source": "str", "reachable": "boolean", "chosen": "bool", "why": "str",
    },
    "plan": {
        "n": "Int64", "id": "str", "role": "str", "action": "str", "tokens": "Int64",
        "cumulative": "Int64", "exact": "bool", "reason": "str", "text": "str",
    },
    "budget": {"piece": "str", "tokens": "Int64", "share": "Float64", "exact": "bool"},
    "compact": {
        "n": "Int64", "id": "str", "role": "str", "now": "str", "then": "str",
        "tokens_now": "Int64", "tokens_then": "Int64",
    },
    "map": {
        "answer": "str", "error": "str", "finish": "str", "input_tokens": "Int64",
        "output_tokens": "Int64", "seconds": "Float64", "message": "str",
    },
    "repairs": {"message": "str", "rule": "str", "before": "str", "after": "str"},
    "grid": {
        "sent_tokens": "Int64", "kept": "Int64", "dropped": "Int64", "summarised": "Int64",
        "recalled": "boolean", "seconds": "Float64", "finish": "str", "answer": "str",
        "message": "str",
    },
    "citations": {
        "n": "Int64", "chunk": "str", "source": "str", "start": "Int64", "end": "Int64",
        "cited_text": "str", "answer_start": "Int64", "answer_end": "Int64", "score": "Float64",
        "method": "str",
    },
    "grounding": {
        "sentence": "str", "supported": "bool", "score": "Float64", "overlap": "Float64",
        "chunk": "str", "source": "str",
    },
    "questions": {
        "question": "str", "source": "str", "start": "Int64", "end": "Int64", "text": "str",
    },
    "evaluate": {
        "n": "Int64", "recall": "Float64", "precision": "Float64", "mrr": "Float64",
        "ndcg": "Float64", "span_recall": "Float64", "span_precision": "Float64",
        "iou": "Float64", "ndcg_low": "Float64", "ndcg_high": "Float64",
        "p_vs_first": "Float64", "ms": "Float64", "tokens": "Float64",
    },
    "per_question": {
        "question": "str", "recall": "Float64", "first_rank": "Int64", "ndcg": "Float64",
        "found": "str", "missed": "str",
    },
    "found": {
        "thread": "str", "notebook": "str", "id": "str", "role": "str", "created_at": "time",
        "snippet": "str", "on_path": "bool",
    },
    "chunks": {
        "recipe": "str", "n": "Int64", "start": "Int64", "end": "Int64", "tokens": "Int64",
        "overlap_prev": "Int64", "headings": "str", "page": "Int64", "warning": "str",
        "text": "str",
    },
    "imported": {"thread": "str", "status": "str", "reason": "str", "messages": "Int64"},
    "assistants": {
        "id": "str", "name": "str", "instructions": "str", "parameters": "str", "status": "str",
    },
    "tools": {
        "name": "str", "kind": "str", "approval": "str", "calls": "Int64", "status": "str",
    },
    "hits": _HITS,
    "sources": {**_HITS, "n": "Int64", "cited": "bool"},
    "documents": {
        "source": "str", "status": "str", "reason": "str", "chunks": "Int64", "tokens": "Int64",
        "recipe": "str", "indexed_at": "time",
    },
    "collections": {
        "collection": "str", "owner": "str", "documents": "Int64", "chunks": "Int64",
        "tokens": "Int64", "embedder": "str", "recipe": "str", "size_mb": "Float64",
        "updated_at": "time",
    },
    "explain": {"knob": "str", "now": "str", "needed": "str", "rank_then": "Int64"},
    "config": {"setting": "str", "value": "str", "source": "str", "meaning": "str"},
    "leaks": {"place": "str", "kind": "str", "sample": "str"},
    "doctor": {"check": "str", "status": "str", "detail": "str", "fix": "str"},
})  # fmt: skip
"""The columns of each table and their types; `time` is datetime64[ns, UTC]."""

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
