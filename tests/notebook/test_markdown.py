"""What becomes of Markdown that models write, case by case."""

import time
from html import unescape

import pytest

from jan_magics.notebook.html import to_html
from jan_magics.notebook.markdown import CodeBlock, code_blocks, neutralise, tables
from tests.notebook.hostile import OURS, broken_rules

KEPT = [
    "Plain words, **bold** and `code`. 你好，世界 🙂",
    "a < b".replace("<", "&lt;"),
    "[docs](https://a.b/c)",
    "[mail](mailto:a@b.c)",
    '[docs](https://a.b/c "a title")',
    "```python\nif a < b:\n    x[0](y)\n```",
    "~~~~\n```\ninner\n```\n~~~~",
    "1. Do:\n   ```sh\n   ls -l | wc\n   ```\n2. Next",
    "> ```sh\n> ls\n> ```\n\nbehind",
    "It costs $5, or $6 with tax.",
    "$x_1 + \\frac{a}{b}$ and $$\\sum_i i$$",
    "`\\(not math\\)` and `r'\\[a-z\\]'`",
    "```\n\\(regex\\) and \\[a-z\\]\n```",
    "| a | b |\n|---|---|\n| `x` | 1 |",
    "    indented = code\n",
    "x & y; R&D; AT&T",
    "- [ ] task\n- [x] done",
]
CHANGED = [
    ("<b>x</b>", "&lt;b>x&lt;/b>"),
    ("a <!-- b --> c", "a &lt;!-- b --> c"),
    ("![cat](https://a.b/c.png)", "[cat](https://a.b/c.png)"),
    ("![](https://a.b/c.png)", "[image](https://a.b/c.png)"),
    ("![x](data:image/png;base64,AA)", "&#33;[x&#93;(data:image/png;base64,AA)"),
    ("[![build](https://a.b/c.svg)](https://d.e)", "[build](https://d.e)"),
    ("[a](javascript:alert(1))", "[a&#93;(javascript:alert(1))"),
    ("[a](&#106;avascript:x)", "[a&#93;(&#106;avascript:x)"),
    ("[a](java\nscript:x)", "[a&#93;(java\nscript:x)"),
    ("[a](../secret)", "[a&#93;(../secret)"),
    ("[a](HTTPS://A.b)", "[a](https://A.b)"),
    ("[a]( <https://a.b/c d> )", "[a](https://a.b/c%20d)"),
    ("[a](https://a.b/c_(d))", "[a](https://a.b/c_%28d%29)"),
    ("[a](https://例子.中国/路)", "[a](https://例子.中国/路)"),
    ('[a](https://a.b/$" onx="$)', '[a&#93;(https://a.b/%24" onx="$)'),
    ("[a]: javascript:x", "[a&#93;: javascript:x"),
    ("[a]: https://b.c", '[a]: https://b.c ""'),
    ("see https://a.b/$c", "see https://a.b/%24c"),
    ("见https://a.b，公式$x$", "见https://a.b，公式 $x$"),
    (r"so \(a_1 < b\) holds", r"so $a_1 \lt  b$ holds"),
    ("\\[\nx < y\n\\]", "$$\nx \\lt  y\n$$"),
    (r"$a<b$", r"$a\lt b$"),
    ("$5 <b", "$5 &lt;b"),
    (r"\begin{align}a<b\end{align}", r"\begin{align}a\lt b\end{align}"),
    (r"$\href{javascript:x}{y}$", r"$\ href{javascript:x}{y}$"),
    (r"\<b>", "&lt;b>"),
    (r"\\<b>", r"\\&lt;b>"),
    ("`<b>`", "<code>&lt;b&gt;</code>"),
    ("``a`<b>``", "<code>a&#96;&lt;b&gt;</code>"),
    ("```html\n<b>\n\n$x$\n```",
     "```html\n<b>\n\n$x$\n```"),
    ("````html\n<b>\n```\n````",
     '<pre><code class="language-html">&lt;b&gt;\n&#96;&#96;&#96;</code></pre>'),
    ("\n```\n</", "\n```text\n</\n```"),
    ("```\nif a<b:\n\n    你好\n```", "```text\nif a<b:\n\n    你好\n```"),
    ("- ```html\n  <b>\n  c\n  ```",
     '- <pre><code class="language-html">&lt;b&gt;&#10;c</code></pre>'),
    ("> ~~~\n> ![x\n> ~~~", "> <pre><code>!&#91;x</code></pre>"),
    ("```rust\nvec![1]\n```", "```rust\nvec![1]\n```"),
    ("text\n```html\n<p>\n```\nmore",
     "text\n\n```html\n<p>\n```\n\nmore"),
    ("```python\nx = 1", "```python\nx = 1\n```"),
    ("```html\n<p>", "```html\n<p>\n```"),
    ("```py$\" onx=\"$\nx\n```", "```\npy$\" onx=\"$\nx\n```"),
    ("[x\n```\n]: javascript:y\n```",
     "[x\n\n```text\n]: javascript:y\n```"),
    ("[a `b]:javascript:x`", "[a <code>b&#93;&#58;javascript&#58;x</code>"),
    ("    [x](\njavascript:y)", "```text\n[x](\n```\n\njavascript:y)"),
    ("```\\begin{a}\"b```\n\\end{a}",
     "<code>&#92;begin&#123;a&#125;&#34;b</code>\n\\end{a}"),
    ("    <b>\n    x", "```text\n<b>\nx\n```"),
    ("\x1b[31mred\x1b[0m \x00\x07\ud800", "red �"),
    ("a\r\nb\rc", "a\nb\nc"),
]  # fmt: skip


@pytest.mark.parametrize("text", KEPT)
def test_harmless_markdown_is_kept(text: str) -> None:
    assert neutralise(text) == text
    assert broken_rules(neutralise(text)) == []


@pytest.mark.parametrize(("text", "want"), CHANGED)
def test_harmful_markdown_is_rewritten(text: str, want: str) -> None:
    assert neutralise(text) == want
    assert broken_rules(want) == []


def test_code_in_html_is_the_code_to_the_letter() -> None:
    code = "<p class=\"a\">&amp; ![x](y:z) `$a` \\d [b]: c~~~ '你' 🙂\n\n  @@1@@ *x* _y_"
    shown = neutralise(f"```html\n{code}\n```")
    assert unescape(OURS.sub("", shown)) == code
    assert unescape(OURS.sub("", neutralise("`<a> *b* _c_ | \\d`"))) == "<a> *b* _c_ | \\d"


def test_an_address_never_runs_into_math() -> None:
    for text in ('https://a/$" x="$', "`https://a/$x`", "$https://a/$", r"www.a.b\(x\)"):
        assert broken_rules(neutralise(text)) == []


def test_every_prefix_of_an_answer_is_harmless() -> None:
    answer = "Hi <b>\n\n1. a\n   ```html\n   <p>![x](y)\n   ```\n\n$a<b$ [x](javascript:y) ![z](https://a.b)"
    for end in range(len(answer)):
        assert broken_rules(neutralise(answer[:end])) == []


REPEATED = ["`", "[", "$", "<", "!", "\\", r"\(", r"\[", "![", "](", "]:", "[a](b", "$a ", "` `` ",
            "www.", "https://$", "- ", "> ", "\n", "    x\n", "```\n", "~~~\n", r"\begin{a}", "@@",
            "[![](https://a)](", "[a](https://b '", "((", "[\\", "\n[", "&"]  # fmt: skip


@pytest.mark.parametrize("piece", REPEATED)
def test_time_grows_with_length_only(piece: str) -> None:
    assert broken_rules(neutralise(piece * 100_000)[:5_000]) == []
    # Four times the length: sixteen times the time would be its square.
    assert _seconds(piece * 24_000) < 8 * _seconds(piece * 6_000) + 0.05


def test_a_long_answer_takes_as_long_as_its_pieces() -> None:
    answer = (
        "## Title\n\nSome `code`, **words** and $x^2$. 你好\n\n- item\n\n```python\na = 1\n```\n\n"
    )
    megabyte = (answer * 20_000)[:1_000_000]
    assert _seconds(megabyte) < 200 * _seconds(megabyte[:10_000])


def _seconds(text: str) -> float:
    """Return the processor's seconds, the best of three: another program may hold it up."""
    found = []
    for _ in range(3):
        started = time.process_time()
        neutralise(text)
        found.append(time.process_time() - started)
    return min(found)


def test_code_blocks_are_those_of_commonmark() -> None:
    text = (
        "````md\n```python\nx\n```\n````\n\n~~~ R echo=1\ny\n~~~\n\n- a\n\n  ```sh\n  ls\n  ```\n\n"
        "> ```\n> 你好\n> ```\n\n    indented\n\n`no block`\n\n```python\nopen"
    )
    assert code_blocks(text) == (
        CodeBlock("md", "```python\nx\n```"),
        CodeBlock("R", "y"),
        CodeBlock("sh", "ls"),
        CodeBlock("", "你好"),
        CodeBlock("", "indented"),
        CodeBlock("python", "open"),
    )
    assert code_blocks("none") == ()


def test_tables_are_rows_of_plain_text() -> None:
    text = "a | b\n--|--\n`x` | **y** \\| z\n你 |\n\ntext\n\n> |c|\n> |-|\n> |🙂|"
    assert tables(text) == (
        (("a", "b"), ("x", "y | z"), ("你", "")),
        (("c",), ("🙂",)),
    )
    assert tables("none") == ()


WIDE = "|a|b|\n|-|-|\n|1|2|EXTRA|**4** 你|\n|5|"


@pytest.mark.parametrize("prefix", ["", "> ", "> > "])
def test_cells_beyond_the_header_are_kept(prefix: str) -> None:
    text = "\n".join(prefix + line for line in WIDE.split("\n"))
    assert tables(text) == ((("a", "b"), ("1", "2", "EXTRA", "4 你"), ("5", "")),)
    assert "<td>EXTRA</td>\n<td><strong>4</strong> 你</td>\n</tr>" in to_html(text)


def test_diagrams_are_shown_as_code() -> None:
    drawn = "graph TD; a[<img src=http://127.0.0.1/x>] --> b"
    assert neutralise(f"```mermaid\n{drawn}\n```") == f"```text\n{drawn}\n```"
    assert "mermaid" not in neutralise("- ~~~Mermaid\n  graph TD\n  ~~~")
