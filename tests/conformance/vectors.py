"""The vectors: what Jan does on given input, by area; JAN_VECTORS names another file of them."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

FILE = Path(os.environ.get("JAN_VECTORS") or Path(__file__).with_name("jan_vectors.json"))

Adapter: TypeAlias = Callable[[Any], object]
"""Takes a vector's input as JSON, returns what our code makes of it as JSON."""


@dataclass(frozen=True, slots=True)
class Vector:
    """One recorded behaviour; `note` says where its recorder was surprised by it."""

    area: str
    name: str
    given: Any
    expected: Any
    note: str

    @property
    def id(self) -> str:
        return f"{self.area}/{self.name}"


@dataclass(frozen=True, slots=True)
class Ours:
    """What we do instead, and the rule that asks for it."""

    expected: Any
    rule: str


def load() -> tuple[Vector, ...]:
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    return tuple(
        Vector(row["area"], row["name"], row["input"], row["expected"], row.get("note", ""))
        for row in rows
        if row["area"] != "_doc"
    )


def of_areas(adapters: Mapping[str, Adapter]) -> list[Any]:
    """The vectors of the areas that have these adapters, as parameters of a test."""
    return [pytest.param(v, id=v.id) for v in load() if v.area in adapters]


def check(vector: Vector, adapters: Mapping[str, Adapter], ours: Mapping[str, Ours]) -> None:
    """Compare; a difference on purpose that is none any more fails as well."""
    got = adapters[vector.area](vector.given)
    different = ours.get(vector.id)
    if different is None:
        assert got == vector.expected, vector.note
        return
    assert got == different.expected, different.rule
    assert got != vector.expected, f"no difference is left: {different.rule}"
