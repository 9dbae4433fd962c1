"""HTML from Markdown: a few tags, and no address that does not begin with an allowed scheme."""

import json
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.notebook.html import CITE, TAGS, to_html
from jan_magics.notebook.markdown import neutralise
from tests.notebook.hostile import hostile

MARKS = json.loads(
    (Path(__file__).parents[1] / "streams/pages/marks.json").read_text(encoding="utf-8")
)
ATTRIBUTES = {"href", "title", "rel", "target", "class", "style", "start"}


class Reader(HTMLParser):
    """Collects what is not allowed."""

    def __init__(self, tags: frozenset[str], attributes: set[str]) -> None:
        super().__init__()
        self.tags, self.attributes = tags, attributes
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.tags:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name not in self.attributes:
                self.found.append(name)
            if name == "href" and not (value or "").startswith(("http://", "https://", "mailto:")):
                self.found.append(f"{name}={value}")

    def handle_comment(self, data: str) -> None:
        self.found.append(f"<!--{data}")

    def handle_decl(self, decl: str) -> None:
        self.found.append(f"<!{decl}")

    def handle_pi(self, data: str) -> None:
        self.found.append(f"<?{data}")


def forbidden(html: str, *more: str) -> list[str]:
    reader = Reader(TAGS | set(more), ATTRIBUTES | {"role", "aria-label", "dir"})
    reader.feed(html)
    reader.close()
    return reader.found


@settings(max_examples=300)
@given(hostile)
def test_only_harmless_tags_and_addresses(text: str) -> None:
    assert forbidden(to_html(text)) == []


LINK = 'rel="noopener noreferrer" target="_blank"'
CASES = [
    ("**a** ~~b~~ 你好 🙂", "<p><strong>a</strong> <s>b</s> 你好 🙂</p>\n"),
    ("[a](https://b.c)", f'<p><a href="https://b.c" {LINK}>a</a></p>\n'),
    ("<https://b.c>", f'<p><a href="https://b.c" {LINK}>https://b.c</a></p>\n'),
    ("[a](javascript:b)", "<p>[a](javascript:b)</p>\n"),
    ("![a](https://b.c)", f'<p><a href="https://b.c" {LINK}>a</a></p>\n'),
    ("[![a](https://b.c)](https://d.e)", f'<p><a href="https://d.e" {LINK}>a</a></p>\n'),
    ("![a](data:b)", "<p>![a](data:b)</p>\n"),
    ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
    ("```a<b\nx<y\n```", "<pre><code>a&lt;b\nx&lt;y\n</code></pre>\n"),
    (r"$a_1*b*\{c\}$ \(d_2\)", r"<p>$a_1*b*\{c\}$ $d_2$</p>" + "\n"),
    (r"\[a\\b\]", r"<p>$$a\\b$$</p>" + "\n"),
    (r"$\href{javascript:a}{b}$", r"<p>$\ href{javascript:a}{b}$</p>" + "\n"),
    ("`\\(a\\)`", "<p><code>\\(a\\)</code></p>\n"),
]


@pytest.mark.parametrize(("text", "want"), CASES)
def test_html_case_by_case(text: str, want: str) -> None:
    assert to_html(text) == want


def test_tables_become_tables() -> None:
    assert "<td>1</td>" in to_html("|a|\n|-|\n|1|")


def test_nothing_loads_the_parser_before_it_is_needed() -> None:
    program = (
        "import sys, jan_magics.notebook.html, jan_magics.notebook.render; "
        "print('markdown_it' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


WORDS = ["alpha", "beta", "gamma", "delta", "<b>bold</b>", "过拟合", "🙂"]
STRUCTURE = ["```", "````", "~~~", "`", "**", "_", "- ", "> ", "1. ", "# ", "    ", "  ", " ", "\n",
             "\n\n", "\\", "$", "python", "{.a}"]  # fmt: skip
LANGUAGE = re.compile(
    r"^[ \t>*+\-\d.)]*(?:`{3,}|~{3,})[ \t]*[\w+#.-]+[ \t]*(?:[ \t]\{\.a\}[ \t]*)*$", re.M
)


@settings(max_examples=500)
@given(st.lists(st.sampled_from(WORDS + STRUCTURE * 2), max_size=40).map("".join))
def test_no_word_is_lost(text: str) -> None:
    shown = unescape(re.sub(r"<[^>]*>", "", to_html(text)))
    for word in WORDS:
        assert shown.count(word) >= LANGUAGE.sub("", text).count(word), (word, shown)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Run: ```\nx\n``` and <b>then</b> go on\nnow", "and <b>then</b> go on"),
        ("- ``` 然后\n  x\n  ```", "然后"),
        ("> ~~~ see `y`\n> x\n> ~~~", "see `y`"),
        ("```python:main.py\nx\n```", "python:main.py"),
    ],
)
def test_words_behind_a_fence_are_shown(text: str, words: str) -> None:
    assert words in unescape(to_html(text))
    assert words in unescape(neutralise(text))
    assert words in unescape(re.sub(r"<[^>]*>", "", to_html(neutralise(text))))


@pytest.mark.parametrize("info", ["python", " python ", 'python title="main.py"', "python {.a .b}"])
def test_a_language_is_no_word(info: str) -> None:
    assert to_html(f"```{info}\nx\n```") == '<pre><code class="language-python">x\n</code></pre>\n'
    assert neutralise(f"```{info}\nx\n```") == "```python\nx\n```"


@pytest.mark.parametrize("case", MARKS, ids=[case["text"] for case in MARKS])
def test_numbers_of_sources_become_anchors(case: dict[str, Any]) -> None:
    html = to_html(case["text"], sources=set(case["known"]))
    found = re.findall(rf'<a class="{CITE}" title="(\d+)">([^<]*)</a>', html)
    assert [[int(n), words] for n, words in found] == case["named"]
    assert unescape(re.sub(r"<[^>]*>", "", html)).strip() == case["text"]


@pytest.mark.parametrize("text", ["`a[1]`", "[1](https://a.org)", "[see [1]](https://a.org)"])
def test_in_code_and_links_no_number_is_a_source(text: str) -> None:
    assert CITE not in to_html(text, sources={1})
