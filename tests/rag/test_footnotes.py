"""Numbers are placed behind what they stand for, and nothing else of an answer changes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.code_spans import code_spans
from jan_magics.domain.retrieval import Citation
from jan_magics.rag.citations import cite
from jan_magics.rag.footnotes import footnoted
from tests.rag.sources import HITS

LINK = re.compile(r"\[[⁰¹²³⁴⁵⁶⁷⁸⁹]+\]\(#k-\d+\)")


def placed(answer: str, *ends: tuple[int, int]) -> str:
    made = [Citation(n, "c", "s", 0, 1, "x", 0, end, None, "grounding") for end, n in ends]
    return footnoted(answer, made, "k")


def test_numbers_stand_behind_their_words() -> None:
    answer = "It froze [1]. 桥关了[2]。"
    assert footnoted(answer, cite(answer, HITS).citations, "k") == (
        "It froze[¹](#k-1) [1]. 桥关了[²](#k-2)[2]。"
    )


def test_several_sources_of_one_place_are_in_order_and_once() -> None:
    assert placed("It froze.", (9, 12), (9, 1), (9, 12)) == "It froze.[¹](#k-1)[¹²](#k-12)"


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        ("~~~\nIt froze.\n~~~", 13),
        ("~~~\nIt froze.\n~~~", 17),
        ("```\nnever closed.", 17),
        ("`It froze.` here", 10),
        ("para\n\n    It froze.\n\nafter", 19),
    ],
)
def test_g3_no_number_is_set_inside_of_code(answer: str, end: int) -> None:
    assert placed(answer, (end, 1)) == answer


@pytest.mark.parametrize("odd", ["$&", "$$ $'", " §0§ ", "§1§", r"\g<0>", "&para;"])
def test_no_sign_has_a_meaning(odd: str) -> None:
    answer = f"{odd}It froze.{odd} `code {odd}`"
    end = answer.index(".") + 1
    assert placed(answer, (end, 1)) == answer[:end] + "[¹](#k-1)" + answer[end:]


@given(st.text("ab. `~\n>-§$&[]1中🌉", max_size=80), st.lists(st.integers(0, 80), max_size=5))
def test_the_answer_itself_stays(answer: str, ends: list[int]) -> None:
    made = placed(answer, *((min(end, len(answer)), n) for n, end in enumerate(ends, 1)))
    assert LINK.sub("", made) == answer
    for code in code_spans(answer):
        assert answer[code.start : code.end] in made
