"""Hostile Markdown, and what must hold for text that any Markdown parser may read."""

import re

from hypothesis import strategies as st

WORDS = [
    "<", ">", "</", "<!--", "-->", "<!", "<?", "<script>", "</script>", "<img src=x onerror=y>",
    "<a",
    '"', "'", "&", "&lt;", "&#60;", "&#x3c;", "&Tab;", "&colon;", "`", "``", "```", "````", "~~~",
    "```html\n", "\n```\n", "$", "$$", "\\", "\\\\", "\\(", "\\)", "\\[", "\\]", "\\begin{a}",
    "\\end{a}", "\\href{javascript:x}{y}", "!", "[", "]", "(", ")", "![", "](", "]:", ":", "[a]",
    "[a]: ", "[^1]: ", "]( ", "](<", "javascript:", "JaVaScRiPt:", "java\tscript:", "java\nscript:",
    "data:text/html,", "vbscript:", "//evil.example", "https://a.b/", "HTTP://A.B", "www.a.b/",
    "mailto:a@b.c", "#x", "./x", " ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "> ", "- ", "* ",
    "1. ", "# ", "| ", "|-|\n", "---", "===", "@@0@@", "@@", "%0a", '" onx="', "_", "*", "**",
    "\x00", "\x1b[31m", "\x85", "\u2028", "\ufeff", "\ud800", "你好，世界", "。", "🙂", "x", "word",
    "\\@", "&#64;",
    '$" onx="$', 'https://a/$" onx="$', '[r]: https://a\n"$" onx="$"\n', "<https://a/$>", "<br>",
    "<pre>", "</pre>", "<code>", "</code></pre>", "<pre><code>",
]  # fmt: skip
hostile = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=40).map("".join),
    st.text(st.sampled_from("<>\"'&`~$![]()\\/:;#x \n\tj"), max_size=60),
    st.text(max_size=60),
)

OURS = re.compile(r'<pre><code(?: class="language-[A-Za-z0-9_+#.-]+")?>|</code></pre>|</?code>')
TAG = re.compile(r"<[A-Za-z/!?]")
SCHEME = re.compile(r"\]\([ \t]*\n?[ \t]*<?[^\s()]*?[:&\\]")
LITERAL = re.compile(r"\]\((?:https?://|mailto:)[^\s<>\"'`$\\()\[\]]+(?: \"[^\"$<>&`\\@]*\")?\)")
DEFINITION = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*\[(?:\\.|[^\[\]\\])*\]:\s*(\S*)", re.M
)
MATH_IN_ADDRESS = re.compile(r"(?:(?:https?|ftp)://|www\.)\S*[$\\]", re.I)
KEPT = re.compile(
    r"(?:\A\n*|(?<=\n\n))```[A-Za-z0-9_+#.-]+\n(?:(?!`{3}|~{3})[\s\S])*?\n```(?=\n\n|\n?\Z)"
)
"""A fence that nothing inside can end, and that ends no other one."""
FENCED = re.compile(r"^(?:[ >\t]|[-*+]|\d+[.)])*(`{3,}|~{3,})", re.M)


def broken_rules(markdown: str) -> list[str]:
    """Name the rules that neutralised Markdown breaks; it is read character by character."""
    broken = []
    if re.search(r"@@\d", markdown):
        broken.append("a mark of JupyterLab's own")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", markdown):
        broken.append("control character")
    markdown = KEPT.sub("", markdown)
    without_ours = OURS.sub("", markdown)
    if TAG.search(without_ours):
        broken.append("tag")
    if "![" in markdown:
        broken.append("image")
    broken += [
        f"link {markdown[link.start() : link.start() + 40]!r}"
        for link in SCHEME.finditer(markdown)
        if not LITERAL.match(markdown, link.start())
    ]
    for definition in DEFINITION.finditer(markdown):
        target = definition[1]
        if re.search(r"[:&\\]", target) and not re.fullmatch(
            r"(https?://|mailto:)[^<>\"'`$\\]+", target
        ):
            broken.append(f"definition {definition[0]!r}")
    if MATH_IN_ADDRESS.search(markdown):
        broken.append("math in an address")
    return broken
