"""Read HTML as Markdown: headings, paragraphs, lists, code, tables; no scripts, nothing hidden."""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from types import MappingProxyType
from typing import Final

from jan_magics.domain.retrieval import Document
from jan_magics.rag.decoding import Decoded, decoded
from jan_magics.rag.limits import Limits, Unreadable

_SILENT: Final = frozenset(
    ("title", "script", "style", "template", "noscript", "svg", "iframe", "object", "select")
)
_BREAKS: Final = (
    "p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "dl",
    "dt", "dd", "table", "blockquote", "form", "figure", "figcaption", "address", "details", "hr",
)  # fmt: skip
_OPENING: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(_BREAKS, "\n\n")
    | {f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)}
    | {"pre": "\n\n```\n", "li": "\n- ", "tr": "\n", "br": "\n"}
)
_CLOSING: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys((*_BREAKS, "h1", "h2", "h3", "h4", "h5", "h6"), "\n\n") | {"pre": "\n```\n\n"}
)
_VOID: Final = frozenset(("br", "hr", "img", "input", "meta", "link", "area", "base", "col", "wbr"))
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.I)
_MARKED: Final = re.compile(r"<!--.*?-->|<!\[[^>]*>?", re.S)
"""A comment, or `<![` to the next `>`, which is one, too, whatever it holds."""
_BLANKS: Final = re.compile(r"[ \t\r\n\f]+")
_EMPTY_LINES: Final = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")
HEAD: Final = 4_096
"""Bytes in which a page says its encoding."""


def read_html(data: bytes, source: str, limits: Limits) -> Document | Unreadable:
    """Return the text of a page, its headings as those of Markdown."""
    found = _decoded(data)
    if found is None:
        return Unreadable(source, "it is no text")
    page = _Page()
    page.feed(_MARKED.sub("", found.text))
    page.close()
    text = page.text()
    if not text.strip():
        return Unreadable(source, "it has no text: perhaps a script makes it")
    metadata = {"title": page.title} if page.title else {}
    return Document(source, text, "markdown", metadata=metadata, warning=found.warning)


def _decoded(data: bytes) -> Decoded | None:
    told = _CHARSET.search(data[:HEAD])
    if told and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            return decoded(data.decode(told[1].decode("ascii")).encode())
        except (LookupError, UnicodeError):
            pass  # it says what it is not
    return decoded(data)


class _Page(HTMLParser):
    """Gathers text; white space is one blank, except in `pre`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._parts: list[str] = []
        self._silent: list[str] = []
        self._pre = 0
        self._cells = 0

    def text(self) -> str:
        """Return what was gathered, at most one empty line in a row."""
        return _EMPTY_LINES.sub("\n\n", "".join(self._parts)).strip("\n")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block, or silence."""
        given = dict(attrs)
        hidden = "hidden" in given or given.get("aria-hidden") == "true"
        if (self._silent or hidden or tag in _SILENT) and tag not in _VOID:
            self._silent.append(tag)
        if self._silent:
            return
        if tag in ("td", "th"):
            self._parts.append(" | " if self._cells else "")
        else:
            self._parts.append(_OPENING.get(tag, ""))
        self._cells = self._cells + (tag in ("td", "th")) if tag != "tr" else 0
        self._pre += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        """End a block, or the silence that it began."""
        if tag in self._silent:
            # What was left open inside ends with it.
            while self._silent.pop() != tag:
                continue
            return
        if not self._silent and (tag != "pre" or self._pre):
            self._parts.append(_CLOSING.get(tag, ""))
            self._pre -= tag == "pre"

    def handle_data(self, data: str) -> None:
        """Take text."""
        if self._silent[-1:] == ["title"] and not self.title:
            self.title = _BLANKS.sub(" ", data).strip()
        if self._silent:
            return
        if self._pre:
            self._parts.append(data)
            return
        words = _BLANKS.sub(" ", data)
        begun = next((part for part in reversed(self._parts) if part), "\n")
        self._parts.append(words.lstrip(" ") if begun.endswith(("\n", " ")) else words)
