"""Laws of neutralised Markdown over hostile text."""

import re
from html import unescape

from hypothesis import given, settings
from markdown_it import MarkdownIt

from jan_magics.notebook.hazards import printable
from jan_magics.notebook.markdown import neutralise
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
def test_no_word_is_lost(text: str) -> None:
    def words(source: str) -> list[str]:
        return re.findall(r"word|你好|世界|🙂", source)

    shown = unescape(OURS.sub("", neutralise(text)))
    # A language, an address and a title are not shown in the first place.
    hidden = re.search(r"(```|~~~)[ \t]*\S*(word|你好|世界|🙂)|\]\(|\]:", text)
    assert hidden or words(shown) == words(printable(text))
