"""Numbers that name sources: found as models write them, taken off without a trace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.source_marks import numbers_of, source_marks, without_marks


@pytest.mark.parametrize(
    ("text", "known", "left"),
    [
        ("It froze [1].", 1, "It froze."),
        ("It froze [1, 3]. Then [2-3] more", 3, "It froze. Then more"),
        ("桥关闭了【1†notes】。真的［2］", 2, "桥关闭了。真的"),
        ("[1] The river\n  [2] froze", 2, "The river\n  froze"),
        ("- [1]\n- ice [2]", 2, "-\n- ice"),
        ("a[1][2] b", 2, "a b"),
        ("In [2024] and [7]", 3, "In [2024] and [7]"),
        ("`x[1]` and\n```\ny[2]\n```", 2, "`x[1]` and\n```\ny[2]\n```"),
        ("[1](https://a.b) ![2](c.png) \\[1]", 2, "[1](https://a.b) ![2](c.png) \\[1]"),
        ("[1]: https://a.b", 1, "[1]: https://a.b"),
        ("🎉 [1]", 1, "🎉"),
        ("nothing [1]", 0, "nothing [1]"),
    ],
)
def test_marks_are_taken_off(text: str, known: int, left: str) -> None:
    assert without_marks(text, known) == left


@given(st.text("[]12，,-【】`( \n:中a", max_size=60), st.integers(0, 3))
def test_nothing_is_left_and_nothing_else_is_lost(text: str, known: int) -> None:
    left = without_marks(text, known)
    assert without_marks(left, known) == left
    found = [n for mark in source_marks(left) for n in numbers_of(mark, known)]
    assert not [n for n in found if 1 <= n <= known]
    assert [c for c in left if c in "中a`"] == [c for c in text if c in "中a`"]
