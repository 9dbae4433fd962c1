"""What a value becomes in a prompt. pandas and numpy are recognised, and never imported."""

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

_ROWS: Final = 10
_COLUMNS: Final = 20
_CELL: Final = 60


def inserted(value: object) -> str:
    """Return a string verbatim, tables and arrays with shape and types, all else as `str`."""
    if isinstance(value, str):
        return str(value)
    if _is_a(value, "pandas", "DataFrame"):
        return _frame(value)
    if _is_a(value, "pandas", "Series"):
        return _series(value)
    if _is_a(value, "numpy", "ndarray"):
        return _array(value)
    return str(value)


def _is_a(value: object, module: str, name: str) -> bool:
    """Tell whether a value is of a library's type; without that library loaded nothing is."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _frame(frame: Any) -> str:
    rows, columns = frame.shape
    names = [_short(name) for name in list(frame.columns)[:_COLUMNS]]
    types = [str(kind) for kind in list(frame.dtypes)[:_COLUMNS]]
    lines = [
        f"DataFrame, {_count(rows, 'row')} × {_count(columns, 'column')}",
        ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=True)),
    ]
    if columns > _COLUMNS:
        lines.append(f"(the first {_COLUMNS} of {_count(columns, 'column')})")
    head = frame.iloc[:_ROWS, :_COLUMNS]
    indexed = _has_index(frame)
    body = [
        (*_labels(label, indexed=indexed), *row)
        for label, row in zip(head.index, head.itertuples(index=False, name=None), strict=True)
    ]
    lines += ["", *_table((*_labels(_index_name(frame), indexed=indexed), *names), body)]
    return "\n".join((*lines, *_rest(rows)))


def _series(series: Any) -> str:
    named = "" if series.name is None else f" {_short(series.name)}"
    head = series.iloc[:_ROWS]
    header = (_index_name(series), "value" if series.name is None else series.name)
    lines = [f"Series{named}, {_count(len(series), 'row')}, {series.dtype}", ""]
    lines += _table(header, list(zip(head.index, head, strict=True)))
    return "\n".join((*lines, *_rest(len(series))))


def _array(array: Any) -> str:
    shape = " × ".join(f"{length:,}" for length in array.shape) or "a single value"
    return f"array, {shape}, {array.dtype}\n{array}"


def _has_index(frame: Any) -> bool:
    return type(frame.index).__name__ != "RangeIndex"


def _index_name(table: Any) -> str:
    return ", ".join("" if name is None else str(name) for name in table.index.names)


def _labels(label: object, *, indexed: bool) -> tuple[object, ...]:
    return (label,) if indexed else ()


def _table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(map(_cell, line))} |" for line in lines]


def _cell(value: object) -> str:
    return _short(value).replace("|", r"\|")


def _short(value: object) -> str:
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _rest(rows: int) -> tuple[str, ...]:
    return (f"({_count(rows - _ROWS, 'more row')})",) if rows > _ROWS else ()
