"""Words for full-text search: the same for the index and for queries."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.segmentation import (
    Phrase,
    fold,
    index_words,
    phrase_of,
    query_phrases,
    spans,
)

HAN = "过拟合是机器学习中的常见问题"
letters = st.text(st.characters(categories=["L", "N", "M", "P", "Zs", "So"]), max_size=30)
mixed = st.lists(
    st.sampled_from(["过拟合", "学", "Python", "naïve", "ﬁne", "ガギ", "ｶﾞ", "학교", "👍🏽", "🇩🇪",
                     "3.14", " ", ", ", "don't", "a_b", "हिन्दी", "ไทย", "ß"]), max_size=8
).map("".join)  # fmt: skip
texts = st.text(max_size=30) | letters | mixed


def has(words: list[str], phrase: Phrase) -> bool:
    """Tell whether an index that has these words finds the phrase, as FTS5 does."""
    size = len(phrase.words)
    return any(
        tuple(row[:-1]) == phrase.words[:-1]
        and (row[-1].startswith(phrase.words[-1]) if phrase.open else row[-1] == phrase.words[-1])
        for row in (words[at : at + size] for at in range(len(words) - size + 1))
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("Café NAÏVE Straße", ["cafe", "naive", "strasse"]),
        ("snake_case don't 3.14", ["snake", "case", "don", "t", "3", "14"]),
        ("过拟合", ["过拟", "拟合", "合"]),
        ("用Python写代码", ["用", "python", "写代", "代码", "码"]),
        ("Ｐｙｔｈｏｎ ﬁne ①", ["python", "fine", "1"]),
        ("ひらカナ", ["ひら", "らカ", "カナ", "ナ"]),
        ("ｶﾞｷﾞ", ["ガギ", "ギ"]),
        ("학교에서", ["학교", "교에", "에서", "서"]),
        ("👍🏽 👩‍🔬 🇩🇪", ["👍", "👩", "🔬", "🇩🇪"]),
        ("हिन्दी", ["हिन्दी"]),
        ("-- ... \ud800 \x00", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert index_words(text) == words


@given(st.integers(0, len(HAN)), st.integers(0, len(HAN)), st.sampled_from(["", "a ", "，", "x"]))
def test_every_part_of_chinese_is_found(start: int, end: int, around: str) -> None:
    part = HAN[min(start, end) : max(start, end)]
    assert not part or has(index_words(f"{around}{HAN}{around}"), phrase_of(part))


@given(texts, texts)
def test_a_text_is_found_by_itself(text: str, around: str) -> None:
    phrase = phrase_of(text)
    assert not phrase.words or has(index_words(f"{around} {text} {around}"), phrase)


@given(texts)
def test_words_are_words_for_the_plainest_tokenizer(text: str) -> None:
    for word in index_words(text):
        assert word
        assert all(not char.isascii() or char.isalnum() for char in word)
        assert word == word.lower() or not word.isascii()


@given(texts)
def test_composed_and_decomposed_text_has_the_same_words(text: str) -> None:
    words = index_words(unicodedata.normalize("NFC", text))
    assert index_words(unicodedata.normalize("NFD", text)) == words


@given(st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), max_size=20))
def test_width_and_case_make_no_difference(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(unicodedata.normalize("NFKC", text)) == fold(text)


@given(texts)
def test_spans_are_the_words_with_their_places(text: str) -> None:
    found = list(spans(text))
    assert [word.text for word in found] == index_words(text)
    assert all(0 <= word.start < word.end <= len(text) for word in found)
    assert all(a.start <= b.start for a, b in pairwise(found))


@given(st.text(max_size=40) | st.text('"“”ab 过*', max_size=20))
def test_every_text_is_a_query(text: str) -> None:
    assert all(phrase.words for phrase in query_phrases(text))


def test_a_query_is_all_of_its_words_and_phrases() -> None:
    assert query_phrases('one "two three" fo') == (
        Phrase(("one",)), Phrase(("two", "three")), Phrase(("fo",), open=True),
    )  # fmt: skip
    assert query_phrases("“two three” one-two") == (
        Phrase(("two", "three")), Phrase(("one", "two"), open=True),
    )  # fmt: skip
    assert query_phrases('say "unclosed') == (Phrase(("say",)), Phrase(("unclosed",), open=True))
    assert query_phrases("学 习") == (Phrase(("学",), open=True), Phrase(("习",), open=True))
