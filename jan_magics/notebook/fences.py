"""Find the code blocks of a Markdown text in one pass over its lines. No judgement on content.

A wrong guess costs looks, never safety: what leaves here as code is checked like any text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from jan_magics.domain.markdown_lines import (
    FENCE,
    LIST_ITEM,
    columns_of,
    indent_of,
    without_quotes,
)
from jan_magics.notebook.hazards import read_info

_LIST_STARTS: Final = frozenset("-*+0123456789")


@dataclass(frozen=True, slots=True)
class Code:
    """A code block: the Markdown lines it came from, and the code without fence and margin.

    `margin` is what stands before it on its first line when it lies in a list or quote.
    """

    source: str
    code: str
    language: str = ""
    margin: str = ""


@dataclass(frozen=True, slots=True)
class _Fence:
    """What an opening line says about the lines that follow it."""

    prefix: str
    marks: str
    language: str
    words: str
    quotes: int
    indent: int
    container: int

    @property
    def margin(self) -> str:
        # A fence is written at its container's margin, however deep the model indented it.
        return self.prefix if self.prefix.strip() else " " * self.container

    @property
    def inner(self) -> str:
        """What stands before each line after the first."""
        return "> " * self.quotes or " " * self.container


@dataclass(slots=True)
class _Scan:
    """A walk over the lines; `offsets` are the margins of the list items around the line."""

    lines: list[str]
    offsets: list[int] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    after_blank: bool = True

    def run(self) -> Iterator[str | Code]:
        at = 0
        while at < len(self.lines):
            code, after = self._code_at(at)
            if code is None:
                self.prose.append(self.lines[at])
                at += 1
                continue
            if self.prose:
                yield "\n".join(self.prose)
                self.prose = []
            yield code
            at, self.after_blank = after, True
        if self.prose:
            yield "\n".join(self.prose)

    def _code_at(self, at: int) -> tuple[Code | None, int]:
        line = self.lines[at]
        stripped = line.lstrip(" \t")
        if not stripped:
            self.after_blank = True
            return None, at
        if ("```" in line or "~~~" in line) and (fence := self._fence(line)):
            return self._fenced(fence, at)
        indent = columns_of(line[: -len(stripped)])
        if self.after_blank and indent >= 4 and indent >= self._container(indent) + 4:
            return self._indented(at, self._container(indent) + 4)
        self._note_list(line, stripped, indent)
        self.after_blank = False
        return None, at

    def _note_list(self, line: str, stripped: str, indent: int) -> None:
        item = LIST_ITEM.match(line) if stripped[0] in _LIST_STARTS else None
        if item:
            self.offsets = [o for o in self.offsets if o <= indent][-20:]
            self.offsets.append(columns_of(item[0]))
        elif self.after_blank and self.offsets:
            self.offsets = [o for o in self.offsets if o <= indent]

    def _container(self, indent: int) -> int:
        return max((o for o in self.offsets if o <= indent), default=0)

    def _fence(self, line: str) -> _Fence | None:
        opener = FENCE.fullmatch(line)
        if opener is None or (opener[2][0] == "`" and "`" in opener[3]):
            return None
        prefix, quotes = opener[1], opener[1].count(">")
        width = columns_of(prefix)
        if quotes:
            indent = max(columns_of(prefix[prefix.rindex(">") + 1 :]) - 1, 0)
            container = 0
        elif prefix.strip():
            indent = container = width
        else:
            indent, container = width, self._container(width)
        return _Fence(prefix, opener[2], *read_info(opener[3]), quotes, indent, container)

    def _fenced(self, fence: _Fence, at: int) -> tuple[Code, int]:
        source, code = [fence.margin + fence.marks + fence.language], list[str]()
        closing = re.compile(rf"[ \t]*+{fence.marks[0]}{{{len(fence.marks)},}}+[ \t]*+")
        after = at + 1
        if fence.words and not closing.fullmatch(fence.words):
            source.append(fence.inner + fence.words)
            code.append(fence.words)
        while after < len(self.lines):
            line = self.lines[after]
            inner = without_quotes(line, fence.quotes)
            if inner is None or _leaves(inner, fence.container):
                break
            after += 1
            if closing.fullmatch(inner) and indent_of(inner) <= fence.container + 3:
                break
            source.append(line)
            code.append(_dedent(inner, fence.indent))
        # Written even where the model wrote none: a container's end, or a text not ended yet.
        source.append(fence.inner + fence.marks)
        body = "\n".join(code)
        return Code("\n".join(source), body, fence.language, fence.margin), after

    def _indented(self, at: int, margin: int) -> tuple[Code, int]:
        after = last = at
        while after < len(self.lines):
            if self.lines[after].strip(" \t"):
                if indent_of(self.lines[after]) < margin:
                    break
                last = after
            after += 1
        source = self.lines[at : last + 1]
        code = "\n".join(_dedent(line, margin) for line in source)
        return Code("\n".join(source), code, "", " " * (margin - 4)), last + 1


def regions(text: str) -> Iterator[str | Code]:
    """Cut text into prose and code blocks; joined with line breaks they are the whole text."""
    return _Scan(text.split("\n")).run()


def _leaves(inner: str, container: int) -> bool:
    return container > 0 and bool(inner.strip()) and indent_of(inner) < container


def _dedent(line: str, columns: int) -> str:
    """Take up to so many columns of white space from the left."""
    if not columns or line[:1] not in {" ", "\t"}:
        return line
    rest = line.lstrip(" \t")
    space = line[: len(line) - len(rest)].expandtabs(4)
    return space[columns:] + rest
