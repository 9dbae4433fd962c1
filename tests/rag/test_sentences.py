"""Sentences as a reader sees them: Chinese stops, abbreviations, lists, quotes; none in code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.code_spans import code_spans
from jan_magics.rag.sentences import plain, sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One here. Two there! Three?", ["One here.", "Two there!", "Three?"]),
        ("今天的天气非常好。明天呢？好！", ["今天的天气非常好。", "明天呢？", "好！"]),
        ("他说……然后走了；门关上了。", ["他说……", "然后走了；", "门关上了。"]),
        ("“走吧。”他们都走了。", ["“走吧。”", "他们都走了。"]),
        ("真的吗?是的!用的是GPT-4.1模型。", ["真的吗?", "是的!", "用的是GPT-4.1模型。"]),
        ("今日は寒い。「行こう。」と言った。", ["今日は寒い。", "「行こう。」", "と言った。"]),
        ("版本３．２发布。", ["版本３．２发布。"]),
        (
            "Dr. Smith met J. K. Rowling, e.g. in the U.S. The end.",
            ["Dr. Smith met J. K. Rowling, e.g. in the U.S.", "The end."],
        ),
        ("It hosts P. falciparum. We know.", ["It hosts P. falciparum.", "We know."]),
        ("See example.com. Next a.py. Go on.", ["See example.com.", "Next a.py.", "Go on."]),
        (
            "Do this: 1. open it 2. go. In 2020. Then",
            ["Do this: 1. open it 2. go.", "In 2020.", "Then"],
        ),
        ("One.\r\n---\r\nTwo\r\nthree.\r\n", ["One.", "Two\r\nthree."]),
        ("Take vitamin C. The end.", ["Take vitamin C.", "The end."]),
        ("See Fig. 3 and p. 12. No. It is on.", ["See Fig. 3 and p. 12.", "No.", "It is on."]),
        ("Pay $3.14 by 5 p.m. on Monday. Go.", ["Pay $3.14 by 5 p.m. on Monday.", "Go."]),
        ("Das gilt z. B. hier. Dort nicht.", ["Das gilt z. B. hier.", "Dort nicht."]),
        ('"Really?" he asked. "I left." Then', ['"Really?" he asked.', '"I left."', "Then"]),
        ("(He came.) (See above.) and on.", ["(He came.)", "(See above.) and on."]),
        ("Wait … what? It stops... here. And…", ["Wait … what?", "It stops... here.", "And…"]),
        ("1. First. More.\n2. Second\n   goes on.", ["First.", "More.", "Second\n   goes on."]),
        ("- one\n- two\n* three", ["one", "two", "three"]),
        ("one\ngoes on. Two\n\nThree", ["one\ngoes on.", "Two", "Three"]),
        ("# Heading. Not cut\nBody.", ["Heading. Not cut", "Body."]),
        ("> said\n> so. Yes.", ["said\n> so.", "Yes."]),
        ("| a b | c. d |\n|---|---|\n| e | f |", ["| a b | c. d |", "| e | f |"]),
        ("Run `a. b` now. Go.", ["Run `a. b` now.", "Go."]),
        ("See [a. B](http://x.y). Go.", ["See [a. B](http://x.y).", "Go."]),
        ("**Bold one.** Next.", ["**Bold one.**", "Next."]),
        ("Big.[1] Old.[2][3] End [4].", ["Big.[1]", "Old.[2][3]", "End [4]."]),
        ("Big. [1] Old. [2]\nEnd", ["Big. [1]", "Old. [2]", "End"]),
        ("Big. [1] says so.", ["Big.", "[1] says so."]),
        ("桥很大。[1]河很长。【2†源】", ["桥很大。[1]", "河很长。【2†源】"]),
        ("Go.\n```\nNo. sentence. here.\n```\nOn.", ["Go.", "On."]),
        ("Go.\n~~~\nNo. sentence. here.", ["Go."]),
        ("", []),
        (" \n\n", []),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert [text[each.start : each.end] for each in sentences(text)] == found


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Yes. No. It rains.", ["It rains."]),
        ("是的。下雨了。今天的天气非常好。", ["下雨了。", "今天的天气非常好。"]),
        ("# A long heading\n\n---\n\n42.", []),
        (
            "| River | It froze early. |\n|---|:-:|\n| 河 | 河很早就结冰了。 |\nOn it goes.",
            ["On it goes."],
        ),
        ("城市 | 天气\n--- | ---\n北京 | 今天的天气非常好。\n\n下雨了。", ["下雨了。"]),
        ("> a b c | d e f\n> --|--\n> g h i | j k l\n\nIt rains.", ["It rains."]),
        ("Either a|b or this.\n\nIt rains.", ["Either a b or this.", "It rains."]),
        ("`pip install it now`\n\n- `运行 这个 命令 吧`。\n- Run `it now`.", ["Run it now."]),
        (
            "Then:\n\n    x = one + two + three\n\n```\nmore = of + it\n```\n今天下雨了。",
            ["今天下雨了。"],
        ),
    ],
)
def test_what_claims_nothing_needs_no_source(text: str, claims: list[str]) -> None:
    """G3: Jan drops whatever has fewer than twelve characters, so most Chinese sentences."""
    assert [each.plain for each in sentences(text) if each.claims] == claims


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("**bold** _it_ ~~gone~~ `code`", "bold it gone code"),
        ("snake_case 2 * 3 a*b", "snake_case 2 * 3 a*b"),
        ("a [link](http://x) ![alt](y)", "a link alt"),
        ("big [1], old[2]【3†s】", "big, old"),
        ("said\n> so", "said so"),
        ("**中文**字", "中文字"),
    ],
)
def test_plain_is_what_is_said(text: str, said: str) -> None:
    assert plain(text) == said


SIGNS = st.text("ab. \n。！？”\"'`~[]()1-#>|*…?!.中文🌉é\r\t", max_size=120)


@given(SIGNS)
def test_sentences_are_places_in_order_and_lose_no_word(text: str) -> None:
    at = 0
    left = list(text)
    for each in sentences(text):
        assert at <= each.start < each.end <= len(text)
        assert text[each.start : each.end].strip() == text[each.start : each.end]
        left[each.start : each.end] = " " * (each.end - each.start)
        at = each.end
    for code in code_spans(text):
        left[code.start : code.end] = " " * (code.end - code.start)
    assert not [char for char in "".join(left) if char.isalpha()]


@given(SIGNS)
def test_no_sentence_ends_in_code(text: str) -> None:
    ends = [each.end for each in sentences(text)]
    for code in code_spans(text):
        inside = [end for end in ends if code.start < end < code.end]
        assert not inside or code.block


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", ["A. ", "e.g. ", "[1]", "“", "(", "[a](", "。", "a" * 30 + ". "])
def test_long_paragraphs_take_no_time(piece: str) -> None:
    assert len(sentences(piece * 20_000)) <= 40_000
