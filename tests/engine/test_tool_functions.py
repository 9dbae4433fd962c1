"""Which functions can be tools, and what `@jan.tool` makes of them: a mark and nothing else."""

import functools
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pandas as pd
import pytest

from jan_magics.api.foreign import Frames
from jan_magics.api.tools import tool
from jan_magics.domain.errors import SettingError
from jan_magics.engine.tool_marks import Mark, mark_of
from jan_magics.engine.tool_rows import tool_rows
from jan_magics.engine.toolbox import Toolbox
from jan_magics.engine.tools import tool_of


def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: the first
    """
    return a + b


def test_a_mark_changes_nothing_else() -> None:
    def f(a: int, b: int = 1) -> int:
        return a + b

    assert tool(f) is f
    assert f(1, b=2) == 3
    assert mark_of(f) == Mark()
    assert mark_of(add) is None
    assert mark_of(tool(safe=True, name="plus")(lambda: 1)) == Mark("plus", safe=True)


@pytest.mark.parametrize(
    "wrong",
    [{"approval": "maybe"}, {"timeout": 0}, {"timeout": True}, {"main": True, "timeout": 5}],
)
def test_a_mark_that_cannot_be_used_is_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        tool(**wrong)(add)


@pytest.mark.parametrize("odd", [len, 3, "add", [].append])
def test_what_cannot_be_marked_is_refused_with_a_way_out(odd: Any) -> None:
    with pytest.raises(SettingError, match=r"def "):
        tool(odd)
    with pytest.raises(SettingError, match=r"def "):
        tool(safe=True)(odd)


def test_what_a_generator_yields_is_the_result() -> None:
    def parts() -> Iterator[str]:
        """Yield parts."""
        yield from ("螺栓", "nut")

    async def many() -> AsyncIterator[int]:
        """Yield numbers."""
        number = 0
        while True:
            yield (number := number + 1)

    assert tool_of(parts, Frames()).call({}) == ["螺栓", "nut"]
    assert tool_of(many, Frames()).call({}) == list(range(1, 10_001))


def test_two_functions_that_are_marked_with_one_name_are_both_offered() -> None:
    def first() -> str:
        return "first"

    def second() -> str:
        return "second"

    marked = {"a": tool(name="stock")(first), "b": tool(name="stock")(second), "c": first}
    box = Toolbox(lambda: marked)
    found = box.offered(("stock",))
    assert [each.name for each in found.tools] == ["stock", "stock_2"]
    assert [each.call({}) for each in found.tools] == ["first", "second"]
    assert found.notes == ("two tools are called stock: the later one is stock_2",)
    assert [row.name for row in tool_rows(box, ())] == ["stock", "stock"]
    assert [row.name for row in tool_rows(box, ("stock",))] == ["stock", "stock_2"]


def test_what_sticks_and_is_gone_holds_up_no_turn() -> None:
    box = Toolbox(lambda: {"add": add})
    found = box.offered(("add", "lost"), lenient=True)
    assert [each.name for each in found.tools] == ["add"]
    assert found.notes == ("there is no function 'lost' any more: it is not offered",)
    assert found.missing == ("lost",)
    with pytest.raises(SettingError, match="no function 'lost'"):
        box.offered(("add", "lost"))


def test_a_function_as_a_model_sees_it() -> None:
    made = tool_of(add, Frames())
    assert (made.name, made.spec.description) == ("add", "Add two numbers.")
    assert made.spec.parameters["properties"] == {
        "a": {"type": "integer", "description": "the first"},
        "b": {"type": "integer", "default": 1},
    }
    assert made.call({"a": 2}) == 3
    assert (made.approval, made.safe, made.timeout) == ("ask", False, 60)


@pytest.mark.parametrize(
    ("mark", "approval"),
    [
        ({}, "ask"),
        ({"safe": True}, "auto"),
        ({"safe": True, "approval": "ask"}, "ask"),
        ({"approval": "auto"}, "auto"),
        ({"approval": "never"}, "never"),
        ({"safe": True, "approval": "never"}, "never"),
    ],
)
def test_who_approves(mark: dict[str, Any], approval: str) -> None:
    def f() -> None:
        """Do nothing."""

    assert tool_of(tool(**mark)(f), Frames()).approval == approval


def 天气(city: str) -> str:  # noqa: N802, PLC2401 - as people may call it
    return city


def test_a_name_that_models_do_not_know_is_refused_with_a_way_out() -> None:
    with pytest.raises(SettingError, match=r"'天气' is no name .*\n.*@jan.tool\(name='weather'\)"):
        tool_of(天气, Frames())
    named = tool(name="weather")(天气)
    assert tool_of(named, Frames()).call({"city": "巴黎"}) == "巴黎"


@pytest.mark.parametrize("odd", [3, "add", int, functools.partial(add, 1), None])
def test_what_is_no_function_is_refused(odd: object) -> None:
    with pytest.raises(SettingError):
        tool_of(odd, Frames())


def test_tables_are_read_and_written() -> None:
    def largest(rows: "pd.DataFrame", n: int = 1) -> "pd.DataFrame":
        return rows.nlargest(n, "x")

    made = tool_of(largest, Frames())
    assert made.call({"rows": [{"x": 1, "城": "a"}, {"x": 3, "城": "b"}]}) == "   x  城\n1  3  b"

    def long(n: int) -> pd.DataFrame:
        return pd.DataFrame({"x": range(n)})

    assert str(tool_of(long, Frames()).call({"n": 3000})).endswith("[1,000 of 3,000 rows left out]")


def test_the_list_names_what_is_offered_and_what_could_be() -> None:
    marked = tool(safe=True, name="plus")(lambda a: a)
    names = {"f": marked, "_": marked, "g": marked, "add": add, "x": 3}
    box = Toolbox(lambda: names, Frames())
    assert [(row.name, row.status) for row in tool_rows(box, ("add", "gone"))] == [
        ("add", "offered at every turn"),
        ("gone", "no function 'gone' · take it off: %chat tools --remove gone"),
        ("plus", "not offered · offer it: %chat tools --add plus"),
    ]
    # One function is offered once, whatever it is called by.
    assert [each.name for each in box.offered(("plus", "f", "add")).tools] == ["plus", "add"]


class Lazy:
    """Asks the network for whatever attribute it is asked for."""

    def __getattr__(self, name: str) -> object:
        raise ConnectionError(name)


class Stock:
    @tool(safe=True)
    def look_up(self, part: str) -> str:
        return part


def test_looking_for_marks_runs_no_code_of_the_users() -> None:
    method = Stock().look_up
    box = Toolbox(lambda: {"lazy": Lazy(), "Stock": Stock, "look": method, "three": 3})
    assert [row.name for row in tool_rows(box, ())] == ["look_up"]
    assert mark_of(method) == Mark(safe=True)
    cached = tool(safe=True)(functools.lru_cache(add))
    assert mark_of(cached) == Mark(safe=True)
    assert tool_of(cached, Frames()).call({"a": 1}) == 2
