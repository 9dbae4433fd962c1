"""Laws of neutralised Markdown over hostile text."""

import re
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from jan_magics.notebook.hazards import printable
from jan_magics.notebook.html import to_html
from jan_magics.notebook.markdown import neutralise, tables
from tests.notebook.hostile import OURS, broken_rules, hostile


@settings(max_examples=500)
@given(hostile)
def test_no_rule_is_broken(text: str) -> None:
    assert broken_rules(neutralise(text)) == []


@given(hostile)
def test_a_second_pass_is_harmless_too(text: str) -> None:
    assert broken_rules(neutralise(neutralise(text))) == []


@settings(max_examples=300)
@given(hostile)
def test_every_link_that_a_parser_finds_leads_to_an_allowed_place(text: str) -> None:
    addresses = [
        str(value)
        for token in MarkdownIt("gfm-like", {"linkify": False}).parse(neutralise(text))
        for child in token.children or ()
        for name, value in child.attrs.items()
        if name in {"href", "src"}
    ]
    # A link without a scheme may be left in code, where another parser may see it.
    assert [a for a in addresses if not re.match(r"https?://|mailto:", a) and ":" in a] == []


@settings(max_examples=300)
@given(hostile)
def test_a_parser_finds_no_tag_and_no_image_beside_our_own(text: str) -> None:
    def found(tokens: list[Token]) -> list[str]:
        bad = [each.content for each in tokens if each.type in {"html_block", "html_inline"}]
        images = [each.content for each in tokens if each.type == "image"]
        inner = [each for token in tokens for each in found(token.children or [])]
        return [each for each in bad if re.search(r"<[A-Za-z/!?]", OURS.sub("", each))] + (
            images + inner
        )

    assert found(MarkdownIt("commonmark").enable("table").parse(neutralise(text))) == []


cells = st.lists(st.sampled_from(["word1", "word2", "你好", "🙂", ""]), min_size=1, max_size=6)


@given(cells, st.lists(cells, max_size=4), st.sampled_from(["", "> "]))
def test_no_word_of_a_table_is_lost(header: list[str], rows: list[list[str]], prefix: str) -> None:
    lines = [header, ["-"] * len(header), *rows]
    text = "\n".join(f"{prefix}|{'|'.join(line)}|" for line in lines)
    words = [word for line in (header, *rows) for word in line if word]
    assert re.findall(r"word\d|你好|🙂", to_html(text)) == words
    assert [word for row in tables(text)[0] for word in row if word] == words


@settings(max_examples=300)
@given(hostile)
def test_no_word_is_lost(text: str) -> None:
    def words(source: str) -> list[str]:
        return re.findall(r"word|你好|世界|🙂", source)

    shown = unescape(OURS.sub("", neutralise(text)))
    # A language, an address and a title are not shown in the first place.
    hidden = re.search(r"(```|~~~)[ \t]*\S*(word|你好|世界|🙂)|\]\(|\]:", text)
    assert hidden or words(shown) == words(printable(text))
