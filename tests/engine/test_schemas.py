"""Schemas of typed functions, and arguments back into their types."""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, Union

import pytest

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json
from jan_magics.engine.arguments import Misfit, bound
from jan_magics.engine.docstrings import read_doc
from jan_magics.engine.schemas import schema_of


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


@dataclass
class Place:
    """A place.

    Args:
        city: its name
    """

    city: str
    at: tuple[float, float] = (0.0, 0.0)
    tags: list[str] = field(default_factory=list)


class Range(TypedDict):
    low: int
    high: int


class Odd:
    """No model can write one."""


def named(kind: Any, default: Any = ...) -> Callable[..., object]:
    """Make a function of one parameter, which it returns."""

    def f(x: Any) -> object:
        return x

    f.__annotations__ = {"x": kind}
    if default is not ...:
        f.__defaults__ = (default,)
    return f


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (Path, {"type": "string"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (set[str], {"type": "array", "items": {"type": "string"}}),
        (list, {"type": "array"}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"},
                          "properties": {}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple[float, float], {"type": "array", "minItems": 2, "maxItems": 2,
                               "items": {"type": "number"}}),
        (tuple[int, str], {"type": "array", "minItems": 2, "maxItems": 2,
                           "prefixItems": [{"type": "integer"}, {"type": "string"}]}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, "b"], {"enum": [1, "b"]}),
        (Unit, {"type": "string", "enum": ["C", "F"]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
        ("pd.DataFrame", {"type": "array", "items": {"type": "object", "properties": {}}}),
        ("np.ndarray", {"type": "array"}),
        ("np.float64", {"type": "number"}),
    ],
    ids=str,
)  # fmt: skip
def test_types(kind: Any, schema: dict[str, Json]) -> None:
    found = schema_of(named(kind))
    assert found["properties"] == {"x": schema}
    assert found["required"] == ["x"]


def test_classes_of_fields() -> None:
    properties = schema_of(named(Place))["properties"]
    assert isinstance(properties, dict)
    place = properties["x"]
    assert isinstance(place, dict)
    assert place["required"] == ["city"]
    inner = place["properties"]
    assert isinstance(inner, dict)
    assert inner["city"] == {"type": "string", "description": "its name"}
    assert schema_of(named(Range))["properties"] == {
        "x": {
            "type": "object",
            "properties": {"low": {"type": "integer"}, "high": {"type": "integer"}},
            "required": ["low", "high"],
        }
    }


@dataclass
class Node:
    """A tree."""

    inner: "Node | None" = None


def test_a_class_that_holds_itself_ends_somewhere() -> None:
    assert schema_of(named(Node))


@pytest.mark.parametrize(
    ("kind", "default", "schema"),
    [
        (int, 3, {"type": "integer", "default": 3}),
        (int | None, None, {"type": "integer"}),
        (int | str | None, None, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Unit, Unit.CELSIUS, {"type": "string", "enum": ["C", "F"], "default": "C"}),
        (Path, Path("x"), {"type": "string"}),
        (float, 0.5, {"type": "number", "default": 0.5}),
    ],
)
def test_what_has_a_default_may_be_left_out(
    kind: Any, default: Any, schema: dict[str, Json]
) -> None:
    found = schema_of(named(kind, default))
    assert found["properties"] == {"x": schema}
    assert "required" not in found


def test_an_untyped_parameter_is_of_the_type_of_its_default() -> None:
    def f(a, b=2, *args, c="x", **more):  # type: ignore[no-untyped-def]  # as people write it
        return a, b, c, args, more

    assert schema_of(f) == {
        "type": "object",
        "properties": {
            "a": {},
            "b": {"type": "integer", "default": 2},
            "c": {"type": "string", "default": "x"},
        },
        "required": ["a"],
    }


def test_a_type_that_no_model_can_write_is_refused() -> None:
    with pytest.raises(SettingError, match=r"f\(\) cannot be a tool: its parameter 'x' is .*Odd"):
        schema_of(named(Odd))


GOOGLE = """Tell the weather of a city.

    In two lines.

    Args:
        city (str): where, as in
            Paris or 巴黎
        unit: C or F

    Returns:
        words
    """
NUMPY = """Tell the weather of a city.

    In two lines.

    Parameters
    ----------
    city : str
        where, as in
        Paris or 巴黎
    unit : {"C", "F"}, optional
        C or F

    Returns
    -------
    str
        words
    """
REST = """Tell the weather of a city.

    In two lines.

    :param str city: where, as in
        Paris or 巴黎
    :param unit: C or F
    :returns: words
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_a_docstring_tells_of_the_parameters(text: str) -> None:
    doc = read_doc(text)
    assert doc.summary == "Tell the weather of a city.\n\nIn two lines."
    assert doc.parameters == {"city": "where, as in Paris or 巴黎", "unit": "C or F"}


def filled(kind: Any, value: Json) -> object:
    function = named(kind)
    arguments = bound(function, {"x": value})
    return function(*arguments.args, **arguments.kwargs)


@pytest.mark.parametrize(
    ("kind", "value", "made"),
    [
        (int, "3", 3),
        (int, 3.0, 3),
        (float, 3, 3.0),
        (bool, "true", True),
        (str, "巴黎 🗼", "巴黎 🗼"),
        (Path, "C:\\new", Path("C:\\new")),
        (Unit, "C", Unit.CELSIUS),
        (Literal[1, 2], "2", 2),
        (int | None, None, None),
        (int | str, "3", "3"),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[int], [1, 1], {1}),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (list[Place], [{"city": "巴黎"}], [Place("巴黎")]),
        (date, "2026-03-09", date(2026, 3, 9)),
        (datetime, "2026-03-09T12:30:00", datetime(2026, 3, 9, 12, 30)),  # noqa: DTZ001 - as written
        (Annotated[int, "n"], 1, 1),
        (Any, {"a": [1]}, {"a": [1]}),
        (Range, {"low": 1, "high": 2}, {"low": 1, "high": 2}),
    ],
    ids=str,
)
def test_values(kind: Any, value: Json, made: object) -> None:
    found = filled(kind, value)
    assert found == made
    assert type(found) is type(made)


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (int, "three", "x: 'three' is not a whole number"),
        (int, 3.5, "x: 3.5 is not a whole number"),
        (int, True, "x: True is not a whole number"),
        (str, 3, "x: 3 is not text"),
        (str, None, "x: None is not text"),
        (Unit, "K", r"x: 'K' is none of \['C', 'F'\]"),
        (list[int], [1, "a"], r"x\[1\]: 'a' is not a whole number"),
        (Place, {"city": "x", "zip": 1}, "x has no field 'zip'"),
        (Place, {}, "x.city is missing"),
        (tuple[int, int], [1], "x: 1 values, not 2"),
        (date, "soon", "x: 'soon' is not date"),
    ],
    ids=str,
)
def test_a_misfit_says_what_was_expected(kind: Any, value: Json, said: str) -> None:
    with pytest.raises(Misfit, match=said):
        filled(kind, value)


def test_parameters_are_named() -> None:
    def f(a: int, /, b: int = 2, *, c: int = 3) -> tuple[int, int, int]:
        return a, b, c

    arguments = bound(f, {"c": 5, "a": 1})
    assert f(*arguments.args, **arguments.kwargs) == (1, 2, 5)
    with pytest.raises(Misfit, match="no parameter 'd'; there are: a, b, c"):
        bound(f, {"a": 1, "d": 1})
    with pytest.raises(Misfit, match="the parameter 'a' is missing"):
        bound(f, {})
