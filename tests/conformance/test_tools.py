"""Tool schemas and arguments, and where a path stays a path that Jan corrupts."""

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.domain.messages import Json
from jan_magics.engine.arguments import repair_args
from jan_magics.engine.normalising import normalise
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas


def run_normalise(given: Any) -> object:
    before = copy.deepcopy(given["schema"])
    found = normalise(given["schema"])
    assert given["schema"] == before
    return found


def run_repair(given: Any) -> object:
    return repair_args(given["raw"])


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {"schema.normalize": run_normalise, "tools.repair_args": run_repair}
)
VALUES: Final = "a value is a value, whatever it looks like: it is no schema"
OURS: Final[Mapping[str, Ours]] = MappingProxyType({})


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_as_jan_does(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


@pytest.mark.parametrize(
    "node",
    [
        {"description": "d", "enum": ["a", 1]},
        {"description": "d", "const": 3},
        {"description": "d", "not": {"type": "null"}},
    ],
    ids=["enum", "const", "not"],
)
def test_what_says_its_values_needs_no_type(node: dict[str, Any]) -> None:
    """Jan writes `type: string` beside them, which refuses the values that are none."""
    assert normalise(node) == node


@pytest.mark.parametrize("key", ["default", "example", "examples", "const", "enum"])
def test_values_are_no_schemas(key: str) -> None:
    """Jan walks them: a default object gains properties, and loses its format."""
    value: Json = {"type": "object", "format": "date", "description": "d", "items": "string"}
    node: dict[str, Json] = {
        "type": "object",
        "properties": {},
        key: [value] if key != "default" else value,
    }
    assert normalise(node) == node, VALUES


def test_a_property_may_be_called_like_a_key_of_schemas() -> None:
    names: tuple[str, ...] = ("default", "enum", "const", "items", "properties", "type")
    node: Json = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    short: dict[str, Json] = {"type": "object", "properties": dict.fromkeys(names, "string")}
    assert normalise(short) == node


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (r'{"p": "C:\new\table.txt"}', r"C:\new\table.txt"),
        (r'{"p": "C:\Program Files\new app\run.exe"}', r"C:\Program Files\new app\run.exe"),
        (r'{"p": "C:\\new\\table.txt"}', r"C:\new\table.txt"),
        (r'{"p": "C:\数据\表.csv"}', r"C:\数据\表.csv"),
        (r'{"p": "C:\dir\"}', "C:\\dir\\"),
        (r'{"p": "\\server\share\x"}', r"\\server\share\x"),
        (r'{"p": "\\\\server\\share\q"}', r"\\server\share\q"),
        (r'{"p": "say \"hi\" from C:\q"}', r'say "hi" from C:\q'),
        (r'{"p": "Q:\nWhat is it?\nA:"}', "Q:\nWhat is it?\nA:"),
        (r'{"p": "one\ttwo\nthree"}', "one\ttwo\nthree"),
        ('{"p": "one\ntwo"}', "one\ntwo"),
        ('"{\\"p\\": \\"x\\"}"', "x"),
    ],
)
def test_a_path_stays_a_path_and_text_stays_text(raw: str, path: str) -> None:
    """Jan reads the \\n and \\t of a path that happens to be valid JSON as a break and a tab."""
    assert repair_args(raw) == {"p": path}


@pytest.mark.parametrize("raw", ["", "  ", "null", "{}"])
def test_nothing_is_no_arguments(raw: str) -> None:
    assert repair_args(raw) == {}


@pytest.mark.parametrize("raw", ["[1]", "3", "{p", '{"p": NaN}', "{" * 100_000, '{"p": "x"'])
def test_what_is_no_object_is_not_guessed(raw: str) -> None:
    assert repair_args(raw) is None
