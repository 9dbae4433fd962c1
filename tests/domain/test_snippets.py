"""The place where a query was found, marked plainly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.segmentation import query_phrases
from jan_magics.domain.snippets import BEFORE, LENGTH, snippet


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("The active path of a tree", "path", "The active «path» of a tree"),
        ("The active path of a tree", "tree activ", "The «active» path of a «tree»"),
        ("The active path of a tree", '"active path"', "The «active path» of a tree"),
        ("什么是过拟合？", "过拟合", "什么是«过拟合»？"),
        ("什么是过拟合？", "拟", "什么是过«拟»合？"),
        ("Ein Café\n\n  am Eck", "cafe", "Ein «Café» am Eck"),
        ("pathless, then the path", '"path"', "pathless, then the «path»"),
        ("nothing of it", "absent", "nothing of it"),
    ],
)
def test_found_words_are_marked(text: str, query: str, shown: str) -> None:
    assert snippet(text, query_phrases(query)) == shown


def test_a_long_text_is_cut_around_the_first_word() -> None:
    text = f"{'before ' * 5000}needle {'after ' * 5000}"
    shown = snippet(text, query_phrases("needle"))
    assert shown.startswith("…before ")
    assert shown.endswith("…")
    assert "before «needle» after" in shown
    assert len(shown) <= LENGTH + BEFORE


def test_a_word_that_only_folding_finds_far_behind() -> None:
    assert "«Ｎéédle»" in snippet(f"{'x ' * 3000}Ｎéédle here", query_phrases("needle"))


@given(st.text(max_size=300), st.text(max_size=12))
def test_any_text_has_a_snippet_on_one_line(text: str, query: str) -> None:
    phrases = query_phrases(query)
    shown = snippet(text, phrases) if phrases else ""
    assert "\n" not in shown
    assert len(shown) <= LENGTH * 3 + 2
