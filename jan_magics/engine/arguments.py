"""The arguments of a tool call: from the text that a model wrote to the values of a function.

What is not JSON is repaired where only one meaning is likely; a Windows path stays a path.
"""

import enum
import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from pathlib import PurePath
from typing import Annotated, Any, Final, Literal, get_args, get_origin
from uuid import UUID

from jan_magics.domain.messages import Json
from jan_magics.engine.schemas import (
    field_names,
    is_named_tuple,
    is_record,
    is_union,
    parameters_of,
    required_fields,
)

_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_UNICODE: Final = re.compile(r"u[0-9A-Fa-f]{4}")
_DRIVE: Final = re.compile(r"[A-Za-z]:\\[^\\/\"<>|?*]")
"""The raw text of a string that begins like `C:\\new`, its backslashes not doubled."""
_SHARE: Final = re.compile(r"\\\\[^\\\"]+\\[^\\]")
"""The raw text that begins like `\\\\server\\share`, its backslashes not doubled."""
_SPACED_PATH: Final = re.compile(r"[^\n]*\\[^\\\n]*\.\w{1,5}", re.DOTALL)
_WRITTEN: Final = (datetime, date, time, UUID, Decimal)


class Misfit(ValueError):
    """Report arguments that a function cannot take; the text is for the model."""


def repair_args(raw: str) -> dict[str, Json] | None:
    r"""Read the arguments that a model wrote, None for what cannot be read.

    >>> repair_args(r'{"path": "C:\\new\\table.txt"}')
    {'path': 'C:\\new\\table.txt'}
    """
    if not raw.strip():
        return {}
    found = _object(_STRING.sub(_as_path, raw))
    if found is not None:
        return found
    # Some backslash is no escape, so none is meant as one; a quote may be, or may end the text.
    return _object(_doubled(raw, keep='"\\')) or _object(_doubled(raw, keep="\\"))


def _object(text: str) -> dict[str, Json] | None:
    try:
        value = json.loads(text, strict=False, parse_constant=_refuse)
        # Some servers send the JSON as a JSON string.
        value = json.loads(value, parse_constant=_refuse) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None
    return {} if value is None else value if isinstance(value, dict) else None


def _refuse(name: str) -> None:
    raise ValueError(name)


def _as_path(found: re.Match[str]) -> str:
    """Double the backslashes of a string that is a Windows path, whatever they would escape."""
    text = found[1]
    if not _DRIVE.match(text) or r"\\" in text:
        return found[0]
    if re.search(r"\s", text) and not _SPACED_PATH.fullmatch(text):
        return found[0]
    return '"' + re.sub(r'\\(?!")', r"\\\\", text) + '"'


def _doubled(raw: str, keep: str) -> str:
    r"""Double every backslash but those of \\uXXXX and before what is kept."""
    pieces: list[str] = []
    place = 0
    while (found := raw.find("\\", place)) >= 0:
        after = raw[found + 1 : found + 2]
        pieces.append(raw[place:found])
        if _SHARE.match(raw, found) and raw[found - 1] == '"':
            pieces.append("\\" * 4)
            place = found + 2
        elif after and after in keep:
            pieces.append(raw[found : found + 2])
            place = found + 2
        else:
            pieces.append("\\" if _UNICODE.match(raw, found + 1) else "\\\\")
            place = found + 1
    return "".join((*pieces, raw[place:]))


def bound(
    function: Callable[..., object],
    given: Mapping[str, Json],
    foreign: Callable[[Json, str], object] = lambda value, _: value,
) -> inspect.BoundArguments:
    """Return arguments as a function takes them; `foreign` makes tables and arrays by name.

    Raises:
        Misfit: when one is missing, unknown or of another type.
    """
    kinds = parameters_of(function)
    if unknown := [name for name in given if name not in kinds]:
        raise Misfit(f"no parameter {unknown[0]!r}; there are: {', '.join(kinds) or 'none'}")
    signature = inspect.signature(function)
    values: dict[str, Any] = {}
    for name, kind in kinds.items():
        if name in given and given[name] is None is signature.parameters[name].default:
            values[name] = None  # as if it were left out
        elif name in given:
            values[name] = _value(given[name], kind, name, foreign)
        elif signature.parameters[name].default is inspect.Parameter.empty:
            raise Misfit(f"the parameter {name!r} is missing")
    # Not bind(): a parameter that may be given by place only is given by name here.
    return inspect.BoundArguments(
        signature, typing.cast(Any, {k: values[k] for k in kinds if k in values})
    )


def _value(value: Json, kind: Any, name: str, foreign: Callable[[Json, str], object]) -> Any:  # noqa: C901, PLR0911
    """Return a JSON value as a type; numbers that came as text become numbers."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        return value
    if origin is Annotated:
        return _value(value, inner[0], name, foreign)
    if origin is Literal or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return _chosen(value, list(inner if origin is Literal else kind), name)
    if is_union(kind):
        return _either(value, inner, name, foreign)
    if value is None or kind is None or kind is type(None):
        if value is None and kind in (None, type(None)):
            return None
        raise Misfit(f"{name}: {value!r} is not {_called(kind)}")
    if kind in (int, float, bool, str):
        return _plain(value, kind, name)
    if kind in _WRITTEN or (isinstance(kind, type) and issubclass(kind, PurePath)):
        return _parsed(value, kind, name)
    if is_record(kind):
        return _made(value, kind, name, foreign)
    base = origin or kind
    if isinstance(base, type) and base.__module__ in ("builtins", "collections.abc"):
        return _collected(value, base, inner, name, foreign)
    written = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
    return foreign(value, written.rpartition(".")[2])


def _plain(value: Json, kind: type, name: str) -> Any:
    if type(value) is kind:
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and number:
        return float(typing.cast(float, value))
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind is bool and value in ("true", "True", "false", "False"):
        return str(value).lower() == "true"
    if kind in (int, float) and isinstance(value, str):
        try:
            return kind(value)
        except ValueError:
            pass
    raise Misfit(f"{name}: {value!r} is not {_called(kind)}")


def _chosen(value: Json, options: list[Any], name: str) -> Any:
    known = [each.value if isinstance(each, enum.Enum) else each for each in options]
    for option, told in zip(options, known, strict=True):
        if told == value and type(told) is type(value):
            return option
    for option, told in zip(options, known, strict=True):
        if str(told) == str(value):
            return option
    raise Misfit(f"{name}: {value!r} is none of {known!r}")


def _either(
    value: Json, kinds: tuple[Any, ...], name: str, foreign: Callable[[Json, str], object]
) -> Any:
    # What fits as it is goes first: "3" is text where text is allowed.
    for kind in (*(k for k in kinds if type(value) is k), *kinds):
        try:
            return _value(value, kind, name, foreign)
        except Misfit:
            continue
    raise Misfit(f"{name}: {value!r} is not {' or '.join(map(_called, kinds))}")


def _parsed(value: Json, kind: Any, name: str) -> Any:
    number = kind is Decimal and isinstance(value, int | float) and not isinstance(value, bool)
    if not isinstance(value, str) and not number:
        raise Misfit(f"{name}: {value!r} is not {_called(kind)}")
    try:
        if kind in (UUID, Decimal) or issubclass(kind, PurePath):
            return kind(str(value).strip() if kind is Decimal else value)
        return kind.fromisoformat(value)
    except (ValueError, InvalidOperation):
        raise Misfit(f"{name}: {value!r} is not {_called(kind)}") from None


def _made(value: Json, kind: Any, name: str, foreign: Callable[[Json, str], object]) -> Any:
    if is_named_tuple(kind) and isinstance(value, list) and len(value) <= len(field_names(kind)):
        value = dict(zip(field_names(kind), value, strict=False))
    if not isinstance(value, dict):
        raise Misfit(f"{name}: {value!r} is no object with {', '.join(field_names(kind))}")
    hints = typing.get_type_hints(kind, include_extras=True)
    if unknown := [each for each in value if each not in field_names(kind)]:
        raise Misfit(f"{name} has no field {unknown[0]!r}")
    if missing := [each for each in required_fields(kind) if each not in value]:
        raise Misfit(f"{name}.{missing[0]} is missing")
    return kind(
        **{k: _value(v, hints.get(k, Any), f"{name}.{k}", foreign) for k, v in value.items()}
    )


def _collected(
    value: Json, base: type, inner: tuple[Any, ...], name: str,
    foreign: Callable[[Json, str], object],
) -> Any:  # fmt: skip
    if base.__name__ in ("dict", "Mapping"):
        if not isinstance(value, dict):
            raise Misfit(f"{name}: {value!r} is no object")
        kind = inner[1] if inner else Any
        return {k: _value(v, kind, f"{name}.{k}", foreign) for k, v in value.items()}
    if not isinstance(value, list):
        raise Misfit(f"{name}: {value!r} is no list")
    if base is tuple and inner and inner[-1] is not Ellipsis:
        if len(value) != len(inner):
            raise Misfit(f"{name}: {len(value)} values, not {len(inner)}")
        kinds: tuple[Any, ...] = inner
    else:
        kinds = (inner[0] if inner else Any,) * len(value)
    made = [
        _value(each, kind, f"{name}[{n}]", foreign)
        for n, (each, kind) in enumerate(zip(value, kinds, strict=True))
    ]
    return base(made) if base in (tuple, set, frozenset) else made


def _called(kind: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    if kind in (None, type(None)):
        return "null"
    return names.get(kind) or str(getattr(kind, "__name__", kind))
