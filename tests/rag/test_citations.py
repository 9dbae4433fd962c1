"""A number in an answer names one chunk, with the places of both; what names nothing is listed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.rag.citations import Cited, Marker, cite, numbered
from tests.rag.sources import BRIDGE, HITS, MAY, RIVER, TEXTS


def said(answer: str, cited: Cited) -> list[tuple[int, str]]:
    return [(each.n, answer[each.answer_start : each.answer_end]) for each in cited.citations]


def test_g2_both_places_are_exact() -> None:
    answer = "It froze early [1]. 桥也关闭了[2]。"
    cited = cite(answer, HITS)
    assert said(answer, cited) == [(1, "It froze early"), (2, "桥也关闭了")]
    assert [each.chunk for each in cited.citations] == [RIVER.chunk.id, BRIDGE.chunk.id]
    for each in cited.citations:
        assert TEXTS[each.source][each.start : each.end] == each.cited_text
        assert (each.score, each.method) == (0.5, "marker")


def test_g1_a_number_names_one_chunk_whatever_is_found_later() -> None:
    known = numbered((), [BRIDGE])
    later = numbered(known, [RIVER, BRIDGE, RIVER, MAY])
    assert later == (BRIDGE, RIVER, MAY)
    assert cite("x [1]", known).citations[0].chunk == BRIDGE.chunk.id
    assert cite("x [1]", later).citations[0].chunk == BRIDGE.chunk.id


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ("One here. Two there [1].", [(1, "Two there")]),
        ("Two there.[1] Three", [(1, "Two there.")]),
        ("One here. Two there. [1]\nThree", [(1, "Two there.")]),
        ("桥很长。[2]河很宽。", [(2, "桥很长。")]),
        ("It froze [1], and it thawed [3].", [(1, "It froze"), (3, "and it thawed")]),
        ("It froze [1][3].", [(1, "It froze"), (3, "It froze")]),
        ("It froze [1] [3].", [(1, "It froze"), (3, "It froze")]),
        ("It froze [1, 3].", [(1, "It froze"), (3, "It froze")]),
        ("It froze [1-3].", [(1, "It froze"), (2, "It froze"), (3, "It froze")]),
        ("它结冰了【1】。", [(1, "它结冰了")]),
        ("它结冰了［２］，又【3†来源】。", [(2, "它结冰了"), (3, "又")]),
        ("[1] says that it froze. And on.", [(1, "says that it froze.")]),
        ("- froze [1]\n- thawed [2]", [(1, "froze"), (2, "thawed")]),
        ("## River [1]\nIt froze.", [(1, "River")]),
        ("| froze [1] | thawed [2] |", [(1, "| froze"), (2, "| thawed")]),
        ("[1]", [(1, "[1]")]),
        ("Dr. Smith froze, e.g. it [1].", [(1, "Dr. Smith froze, e.g. it")]),
        ("Run `x` first [1].", [(1, "Run `x` first")]),
        ("It froze [[1]] and thawed [3 ].", [(1, "It froze"), (3, "and thawed")]),
    ],
)
def test_a_number_stands_behind_words(answer: str, places: list[tuple[int, str]]) -> None:
    cited = cite(answer, HITS)
    assert said(answer, cited) == places
    assert cited.unknown == ()


@pytest.mark.parametrize(
    "answer",
    [
        "`a[1]` and ``b[2]`` `",
        "```py\nx = a[1]\n```",
        "~~~\nx = a[1]\n~~~",
        "```\nnever closed [1]",
        "~~~~\nnever closed [1]\n~~~\n[2]",
        "> ```\n> a[1]\n> ```",
        "para\n\n    a[1]\n",
        "a [1](http://x.y) link",
        "an ![1](http://x.y/a.png) image, ![1]",
        "[1]: http://x.y",
        r"no number: \[1]",
        "[^1] [x] [] [1.5] [a1] [ ] [-]",
    ],
)
def test_g3_code_and_links_cite_nothing(answer: str) -> None:
    assert cite(answer, HITS) == Cited(())


def test_g2_unknown_numbers_are_left_out_and_listed() -> None:
    answer = "a [9] b [0, 1, 44] c [1990-2000]"
    cited = cite(answer, HITS)
    assert said(answer, cited) == [(1, "b")]
    assert cited.unknown == (
        Marker(9, 2, 5), Marker(0, 8, 18), Marker(44, 8, 18), Marker(1990, 21, 32),
        Marker(2000, 21, 32),
    )  # fmt: skip
    assert cite("a [1]", ()).unknown == (Marker(1, 2, 5),)


@pytest.mark.parametrize("odd", ["$&", "$$", "§0§", " §1§ ", r"\1", "${1}", "&#91;1]", "<1>"])
def test_signs_of_other_programs_are_text(odd: str) -> None:
    answer = f"{odd} froze {odd} [1] {odd}"
    assert said(answer, cite(answer, HITS)) == [(1, f"{odd} froze {odd}".strip())]


@given(st.lists(st.sampled_from(
    ["[1]", "[2]", "[7]", "【3】", "[1, 2]", "a b", "。", ". ", "\n", "`", "```\n", "~~~\n", "> ",
     "- ", "| ", "# ", "(", "中文", "🌉", "\\", "!", ":", " "]
), max_size=30))  # fmt: skip
def test_any_answer_has_exact_places(pieces: list[str]) -> None:
    answer = "".join(pieces)
    cited = cite(answer, HITS)
    for each in cited.citations:
        assert 0 <= each.answer_start < each.answer_end <= len(answer)
        assert TEXTS[each.source][each.start : each.end] == each.cited_text
    for marker in cited.unknown:
        assert str(marker.n) in answer[marker.start : marker.end]


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", ["[1]", "a [1]. ", "[1,2", "[", "[1-900000] "])
def test_many_numbers_take_no_time(piece: str) -> None:
    assert len(cite(piece * 10_000, HITS).citations) <= 30_000
