"""The lines around code, as both of their readers take them."""

import pytest

from jan_magics.domain.code_spans import code_spans
from jan_magics.domain.markdown_lines import FENCE, columns_of, indent_of, without_quotes
from jan_magics.notebook.fences import Code, regions


@pytest.mark.parametrize(
    ("line", "quotes", "rest"),
    [
        ("> 密码", 1, "密码"), (">🎉", 1, "🎉"), ("> > x", 2, "x"), ("> x", 2, None),
        ("x", 0, "x"), ("", 1, None), ("\t>  x", 1, " x"),
    ],
)  # fmt: skip
def test_quote_marks_are_taken_off(line: str, quotes: int, rest: str | None) -> None:
    assert without_quotes(line, quotes) == rest


def test_columns() -> None:
    assert [columns_of(space) for space in ("", "   ", "\t", " \t ")] == [0, 3, 4, 5]
    assert [indent_of(line) for line in ("x", "  题", "\tx", "   ")] == [0, 2, 4, 3]


@pytest.mark.parametrize("prefix", ["", "> ", "- ", "1) ", "> - ", "  "])
def test_both_readers_see_the_same_fence(prefix: str) -> None:
    inner = "> " if ">" in prefix else " " * len(prefix)
    text = f"{prefix}```py\n{inner}x = '密码'\n{inner}```\nafter"
    assert FENCE.fullmatch(text.partition("\n")[0])
    (shown,) = [each for each in regions(text) if isinstance(each, Code)]
    (found,) = [each for each in code_spans(text) if each.block]
    assert "x = '密码'" in shown.code
    assert "x = '密码'" in text[found.start : found.end]
    assert "after" not in shown.source + text[found.start : found.end]
