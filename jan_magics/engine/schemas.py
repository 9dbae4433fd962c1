"""A JSON schema from a typed Python function: what a model may write for each parameter.

pandas and numpy are known by the names of their types; nothing is imported for them.
"""

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import PurePath
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin
from uuid import UUID

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json
from jan_magics.engine.docstrings import Doc, read_doc
from jan_magics.engine.normalising import normalise

DEEPEST: Final = 6
"""Levels of classes in classes; below that an object is any object."""
_PLAIN: Final[Mapping[object, str]] = MappingProxyType(
    {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
)
_MOMENTS: Final[Mapping[object, str]] = MappingProxyType(
    {datetime: "a date and time, as in 2026-03-09T12:30:00", date: "a date, as in 2026-03-09",
     time: "a time, as in 12:30:00", UUID: "a UUID", Decimal: "a decimal number, as in 12.50"}
)  # fmt: skip
_LISTS: Final = (list, set, frozenset, Sequence, Iterable, AbstractSet)
_OBJECTS: Final = (dict, Mapping)
_SCALARS: Final[Mapping[str, str]] = MappingProxyType({
    "bool_": "boolean", "bool": "boolean", "str_": "string", "Timestamp": "string",
    "Timedelta": "string", **{f"{u}int{n}": "integer" for u in ("", "u") for n in (8, 16, 32, 64)},
    **{f"float{n}": "number" for n in (16, 32, 64)},
})  # fmt: skip
_ROWS: Final[Json] = {"type": "array", "items": {"type": "object"}}
_FOREIGN: Final[Mapping[str, Json]] = MappingProxyType({
    "DataFrame": _ROWS, "Series": {"type": "array"}, "Index": {"type": "array"},
    "ndarray": {"type": "array"}, **{k: {"type": v} for k, v in _SCALARS.items()},
})  # fmt: skip


class Unfit(TypeError):
    """Report a type that no model can write a value of."""


def parameters_of(function: Callable[..., object]) -> dict[str, Any]:
    """Return the types of what a model fills in, by name; no *args and no **kwargs.

    A type that cannot be looked up stays the text that it was written as.
    """
    types_of: dict[str, Any] = {}
    names = getattr(inspect.unwrap(function), "__globals__", {})
    for name, each in inspect.signature(function).parameters.items():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        kind = each.annotation
        if isinstance(kind, str):
            try:
                kind = eval(kind, dict(names))  # noqa: S307 - the author's own annotation
            except (NameError, AttributeError, SyntaxError, TypeError):
                kind = each.annotation
        if kind is each.empty:
            known = each.default is not each.empty and type(each.default) in _PLAIN
            kind = type(each.default) if known and each.default is not None else Any
        types_of[name] = kind
    return types_of


def schema_of(function: Callable[..., object], doc: Doc | None = None) -> dict[str, Json]:
    """Return the JSON schema of a function's parameters.

    Raises:
        SettingError: for a type that no model can write a value of.
    """
    doc = doc or read_doc(function.__doc__)
    properties: dict[str, Json] = {}
    required: list[Json] = []
    defaults = inspect.signature(function).parameters
    for name, kind in parameters_of(function).items():
        default = defaults[name].default
        try:
            schema = _with_default(kind, default)
        except (Unfit, NameError) as fault:
            raise SettingError(
                f"{getattr(function, '__name__', 'a tool')}() cannot be a tool: its parameter "
                f"{name!r} is {fault}",
                "A model writes text, numbers, lists, dicts, dataclasses: use one of these types.",
            ) from None
        if said := doc.parameters.get(name):
            schema["description"] = said
        properties[name] = schema
        if default is inspect.Parameter.empty:
            required.append(name)
    found: dict[str, Json] = {"type": "object", "properties": properties}
    return normalise({**found, "required": required} if required else found)


def type_schema(kind: Any) -> dict[str, Json]:
    """Return the JSON schema of a type; objects have no fields but those that are named.

    Raises:
        Unfit, NameError: for a type that no model can write a value of.
    """
    return closed(normalise(_schema(kind)))


def closed(schema: dict[str, Json]) -> dict[str, Json]:
    """Return a schema whose objects take only the fields that they name."""
    made: dict[str, Json] = {
        key: [closed(each) if isinstance(each, dict) else each for each in value]
        if isinstance(value, list)
        else closed(value)
        if isinstance(value, dict)
        else value
        for key, value in schema.items()
    }
    if made.get("type") == "object" and made.get("properties"):
        made.setdefault("additionalProperties", False)
    return made


def _with_default(kind: Any, default: object) -> dict[str, Json]:
    if default is None and (inner := without_none(kind)) is not None:
        return _schema(inner)  # left out is None: the portable way to say so
    schema = _schema(kind)
    value = default.value if isinstance(default, enum.Enum) else default
    if type(value) in _PLAIN and value is not None:
        schema["default"] = typing.cast(Json, value)
    return schema


def without_none(kind: Any) -> Any:
    """Return T of `T | None`, None for any other type."""
    if not is_union(kind):
        return None
    rest = [each for each in get_args(kind) if each is not type(None)]
    if len(rest) == len(get_args(kind)) or not rest:
        return None
    return rest[0] if len(rest) == 1 else Union[tuple(rest)]  # noqa: UP007 - made at run time


def is_union(kind: Any) -> bool:
    """Tell whether a type is one of several."""
    return get_origin(kind) in (Union, types.UnionType)


def _schema(kind: Any, depth: int = 0) -> dict[str, Json]:  # noqa: PLR0911
    if kind is Any or kind is object:
        return {}
    if isinstance(kind, str):
        return _foreign(kind.rpartition(".")[2], kind)
    if get_origin(kind) is not None:
        return _generic(kind, depth)
    if kind is None or kind in _PLAIN:
        return {"type": _PLAIN[type(None) if kind is None else kind]}
    if kind in _MOMENTS:
        return {"type": "string", "description": _MOMENTS[kind]}
    if isinstance(kind, type):
        return _class(kind, depth)
    raise Unfit(f"of the type {kind!r}")


def _class(kind: type, depth: int) -> dict[str, Json]:  # noqa: PLR0911
    if issubclass(kind, enum.Enum):
        return choice([each.value for each in kind])
    if issubclass(kind, PurePath):
        return {"type": "string"}
    if is_record(kind):
        return _fields(kind, depth)
    if kind in _LISTS or kind is tuple:
        return {"type": "array"}
    if kind in _OBJECTS:
        return {"type": "object"}
    if kind.__module__.partition(".")[0] in ("pandas", "numpy"):
        return _foreign(kind.__name__, kind.__name__)
    raise Unfit(f"of the type {kind.__name__}")


def _foreign(name: str, written: str) -> dict[str, Json]:
    found = _FOREIGN.get(name)
    if not isinstance(found, dict):
        raise Unfit(f"of the type {written}")
    return dict(found)


def _generic(kind: Any, depth: int) -> dict[str, Json]:  # noqa: PLR0911
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        said = next((each for each in inner[1:] if isinstance(each, str)), None)
        schema = _schema(inner[0], depth)
        return schema if said is None else {**schema, "description": said}
    if origin is Literal:
        return choice(list(inner))
    if is_union(kind):
        return {"anyOf": [dict(_schema(each, depth)) for each in inner]}
    if origin is tuple:
        return _tuple(inner, depth)
    if origin in _LISTS:
        return {"type": "array", "items": _schema(inner[0], depth)}
    if origin in _OBJECTS:
        return {"type": "object", "additionalProperties": _schema(inner[1], depth)}
    return _schema(origin, depth)


def _tuple(inner: tuple[Any, ...], depth: int) -> dict[str, Json]:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return {"type": "array", "items": _schema(inner[0], depth)}
    size = len(inner)
    schema: dict[str, Json] = {"type": "array", "minItems": size, "maxItems": size}
    if len(set(inner)) == 1:
        return {**schema, "items": _schema(inner[0], depth)}
    return {**schema, "prefixItems": [dict(_schema(each, depth)) for each in inner]}


def _fields(kind: type, depth: int) -> dict[str, Json]:
    if depth >= DEEPEST:
        return {"type": "object"}
    hints = typing.get_type_hints(kind, include_extras=True)
    required: list[Json] = list(required_fields(kind))
    made = {name: hints.get(name, Any) for name in field_names(kind)}
    doc = read_doc(kind.__doc__)
    properties: dict[str, Json] = {}
    for name, each in made.items():
        schema = _schema(each, depth + 1)
        if said := doc.parameters.get(name):
            schema["description"] = said
        properties[name] = schema
    return {"type": "object", "properties": properties, "required": required}


def is_record(kind: Any) -> bool:
    """Tell whether values of a type have named fields: a dataclass, a typed dict, a named tuple."""
    return dataclasses.is_dataclass(kind) or typing.is_typeddict(kind) or is_named_tuple(kind)


def is_named_tuple(kind: Any) -> bool:
    """Tell whether a type is a tuple whose places have names."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def field_names(kind: Any) -> tuple[str, ...]:
    """Return what a dataclass or named tuple is made with, or the keys of a typed dict."""
    if is_named_tuple(kind):
        return tuple(kind._fields)
    if dataclasses.is_dataclass(kind):
        return tuple(each.name for each in dataclasses.fields(kind) if each.init)
    return tuple(kind.__annotations__)


def required_fields(kind: Any) -> tuple[str, ...]:
    """Return the fields that have no default."""
    if is_named_tuple(kind):
        return tuple(name for name in kind._fields if name not in kind._field_defaults)
    if not dataclasses.is_dataclass(kind):
        return tuple(name for name in kind.__annotations__ if name in kind.__required_keys__)
    missing = dataclasses.MISSING
    return tuple(
        each.name
        for each in dataclasses.fields(kind)
        if each.init and each.default is missing and each.default_factory is missing
    )


def choice(values: list[Any]) -> dict[str, Json]:
    """Return the schema of one of several values. Raises Unfit for values that are no JSON."""
    told = [each.value if isinstance(each, enum.Enum) else each for each in values]
    if any(type(each) not in _PLAIN for each in told):
        raise Unfit(f"one of {values!r}")
    kinds = {_PLAIN[type(each)] for each in told}
    return {"type": kinds.pop(), "enum": told} if len(kinds) == 1 else {"enum": told}
