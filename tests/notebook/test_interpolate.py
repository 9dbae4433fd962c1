"""What {{ }} in a prompt is replaced with, and what it is never run on."""

import builtins
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.errors import ExpressionFailed, UndefinedName
from jan_magics.notebook.interpolate import interpolate


def fill(template: str, **namespace: object) -> str:
    return interpolate(template, namespace, vars(builtins)).text


CASES = [
    ("{{ x }}", "5"),
    ("a {{x}} b {{ x + 1 }}", "a 5 b 6"),
    ("{x} {'a': 1} f'{x}' \\frac{a}{b}", "{x} {'a': 1} f'{x}' \\frac{a}{b}"),
    (r"\{{ x }} {{ x }}", "{{ x }} 5"),
    ("{{}} {{ }} {{\n}}", "{{}} {{ }} {{\n}}"),
    ("{{ x", "{{ x"),
    ('{{ {"a": {"b": 1}}["a"] }}', "{'b': 1}"),
    ('{{ {"a": 1}}}', "{'a': 1}"),
    ("{{ '}}' }}{{ x }}", "}}5"),
    ("{{ {{1: 2}[1]} }}".replace("{{1", "{ {1"), "{2}"),
    ("{{ f'{x:>3}' }}", "  5"),
    ("{{ [x for _ in range(2)] }}", "[5, 5]"),
    ("{{ 名字 }} 🙂", "小明 🙂"),
    ("{{ text }}", "{{ x }} $1 \\g<0> {y}"),
    ("}} {{ x }} }}", "}} 5 }}"),
]


@pytest.mark.parametrize(("template", "want"), CASES)
def test_templates(template: str, want: str) -> None:
    assert fill(template, x=5, 名字="小明", text="{{ x }} $1 \\g<0> {y}") == want


@given(st.text(st.characters()), st.text())
def test_a_value_is_inserted_verbatim(before: str, value: str) -> None:
    before = before.replace("{", "(").replace("\\", "/")
    assert fill(before + "{{ x }}" + before, x=value) == before + value + before


@given(st.text("{} x'\"\\\n", max_size=40))
def test_without_an_expression_a_template_stays_as_it_is(template: str) -> None:
    open_only = re.sub(r"\\+\{\{", "{{", re.sub(r"\}(?=\})", "} ", template))
    assert fill(open_only, x=5) == open_only


def test_an_expression_runs_once() -> None:
    calls: list[int] = []
    assert fill("{{ calls.append(1) or '{{ calls.append(1) }}' }}", calls=calls) == (
        "{{ calls.append(1) }}"
    )
    assert calls == [1]


def test_the_names_are_told_in_order() -> None:
    filled = interpolate("{{ b + a }} {{ len(a) }}", {"a": "1", "b": "2"}, vars(builtins))
    assert (filled.text, filled.names) == ("21 1", ("b", "a"))


def test_an_undefined_name_is_told_with_its_nearest() -> None:
    with pytest.raises(UndefinedName) as caught:
        fill("{{ nmae }}", name=1, _nmae=2)
    assert (caught.value.name, caught.value.nearest) == ("nmae", ("name",))


def test_another_name_error_is_a_failure_of_the_expression() -> None:
    def broken() -> object:
        raise NameError("name 'inner' is not defined", name="inner")

    with pytest.raises(ExpressionFailed, match="NameError: name 'inner' is not defined"):
        fill("{{ broken() }}", broken=broken)


REFUSED = [
    ("{{ 1 / 0 }}", "1 / 0", "ZeroDivisionError: division by zero"),
    ("{{ a b }}", "a b", "SyntaxError: invalid syntax"),
    ("{{ x = 1 }}", "x = 1", "SyntaxError"),
    ("{{ x.nope }}", "x.nope", "AttributeError"),
    ("{{ (1 }} and {{ 2 }}", "(1", "SyntaxError"),
    ("{{ \x00 }}", "\x00", "null bytes"),
]


@pytest.mark.parametrize(("template", "expression", "reason"), REFUSED)
def test_a_failing_expression_is_named(template: str, expression: str, reason: str) -> None:
    with pytest.raises(ExpressionFailed) as caught:
        fill(template, x=5)
    assert caught.value.expression == expression
    assert reason in caught.value.message
    assert caught.value.__cause__ is not None


def test_an_interrupt_passes() -> None:
    def stop() -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill("{{ stop() }}", stop=stop)


def test_a_namespace_is_left_as_it_was() -> None:
    namespace: dict[str, object] = {"x": 1}
    assert interpolate("{{ x }}", namespace, vars(builtins)).text == "1"
    assert namespace == {"x": 1}


def test_a_frame_is_a_compact_table() -> None:
    frame = pd.DataFrame({"n": range(1000), "词|x": ["a|b\nc", "长" * 70] * 500, "f": 0.1 + 0.2})
    lines = fill("{{ frame }}", frame=frame).split("\n")
    assert lines[0] == "DataFrame, 1,000 rows × 3 columns"
    assert re.fullmatch(r"n: int64, 词\|x: \w+, f: float64", lines[1])
    assert lines[3:6] == ["| n | 词\\|x | f |", "| --- | --- | --- |", "| 0 | a\\|b c | 0.3 |"]
    assert lines[6] == f"| 1 | {'长' * 59}… | 0.3 |"
    assert (len(lines), lines[-1]) == (16, "(990 more rows)")


def test_a_wide_frame_with_an_index_says_what_is_cut() -> None:
    frame = pd.DataFrame(np.zeros((1, 25)), index=pd.Index(["r"], name="key"))
    lines = fill("{{ frame }}", frame=frame).split("\n")
    assert lines[2] == "(the first 20 of 25 columns)"
    assert lines[4].startswith("| key | 0 | 1 |")
    assert lines[6].startswith("| r | 0 | 0 |")


TABLES: list[tuple[Callable[[], object], str]] = [
    (pd.DataFrame, "DataFrame, 0 rows × 0 columns"),
    (lambda: pd.Series([1.5, 2], name="s"),
     "Series s, 2 rows, float64\n\n|  | s |\n| --- | --- |\n| 0 | 1.5 |\n| 1 | 2 |"),
    (lambda: pd.Series(range(11)), "(1 more row)"),
    (lambda: np.zeros((2, 3)), "array, 2 × 3, float64\n[[0. 0. 0.]\n [0. 0. 0.]]"),
    (lambda: np.float64(1.5), "1.5"),
    (lambda: pd.DataFrame({("a", "b"): [1]}), "('a', 'b'): int64"),
    (lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]), "| 1 | 2 |"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "part"), TABLES)
def test_tables_and_arrays(make: Callable[[], object], part: str) -> None:
    assert part in fill("{{ value }}", value=make())


def test_pandas_is_not_imported_for_it() -> None:
    program = (
        "import sys, builtins; from jan_magics.notebook.interpolate import interpolate as i; "
        "i('{{ x }}', {'x': [1]}, vars(builtins)); print('pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ later }} {{ x }}", "{{ later }} 5"),
        ("{{LATER}}{{x}}", "{{LATER}}5"),
        (r"\{{ later }} \{{ x }}", r"\{{ later }} \{{ x }}"),
        ("{{ value }}", r"\{{ later }} and \{{"),
        ("{{ open", r"\{{ open"),
        ("{{ 'later' }}", "later"),
    ],
)
def test_a_later_renderer_gets_its_names_and_no_others(template: str, text: str) -> None:
    names = {"later": "mine", "x": 5, "value": "{{ later }} and {{"}
    later = ["later", "LATER"]
    filled = interpolate(template, names, vars(builtins), lambda name: name.strip() in later)
    assert filled.text == text
