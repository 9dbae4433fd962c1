"""Types besides the plain ones: named tuples, decimals, UUIDs, a default of None."""

from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from jan_magics.domain.messages import Json
from jan_magics.engine.arguments import Misfit, bound
from jan_magics.engine.schemas import schema_of


class Spot(NamedTuple):
    x: float
    name: str = ""


def filled(kind: Any, value: Json) -> object:
    def f(x: Any) -> object:
        return x

    f.__annotations__["x"] = kind
    arguments = bound(f, {"x": value})
    return f(*arguments.args, **arguments.kwargs)


@pytest.mark.parametrize(
    ("kind", "value", "made"),
    [
        (Spot, {"x": 1, "name": "桥"}, Spot(1.0, "桥")),
        (Spot, [2], Spot(2.0)),
        (Decimal, "12.50", Decimal("12.50")),
        (Decimal, 3, Decimal(3)),
        (UUID, "12345678123456781234567812345678", UUID(int=0x12345678123456781234567812345678)),
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
        (UUID, "soon", "x: 'soon' is not UUID"),
        (Decimal, "many", "x: 'many' is not Decimal"),
        (Decimal, True, "x: True is not Decimal"),
        (Spot, {}, r"x\.x is missing"),
        (Spot, [1, "a", 3], "is no object with x, name"),
    ],
    ids=str,
)
def test_a_misfit_says_what_was_expected(kind: Any, value: Json, said: str) -> None:
    with pytest.raises(Misfit, match=said):
        filled(kind, value)


def test_null_is_what_a_default_of_none_means_whatever_the_type_says() -> None:
    def f(at: Spot = None, n: int = 3) -> Spot:  # type: ignore[assignment]  # as people write it
        return at

    arguments = bound(f, {"at": None})
    assert f(*arguments.args, **arguments.kwargs) is None
    with pytest.raises(Misfit, match="n: None is not a whole number"):
        bound(f, {"n": None})


def test_places_with_names_are_an_object() -> None:
    def f(at: Spot, cost: Decimal, key: UUID) -> None: ...

    found: Any = schema_of(f)["properties"]
    assert found["at"]["required"] == ["x"]
    assert found["at"]["properties"]["x"]["type"] == "number"
    assert found["cost"]["type"] == found["key"]["type"] == "string"
