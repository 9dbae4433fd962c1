"""What a text is built of: headings with their paths, and blocks that are better left whole."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from jan_magics.domain.retrieval import Kind

# Each begins with the end of the line before: with a sign to look for, a search is many times
# faster than with "^".
_MARK: Final = re.compile(
    r"\n[ ]{0,3}(?:(#{1,6})[ \t]+([^\r\n]*\S)[ \t]*|(`{3,}|~{3,})([^\r\n]*))(?=\r?(?:\n|\Z))"
)
_CLOSING_SIGNS: Final = re.compile(r"(?:\A|[ \t]+)#+\Z")
_UNDERLINE: Final = re.compile(r"\n[ ]{0,3}(=+|--+)[ \t]*(?=\r?(?:\n|\Z))")
_PLAIN_LINE: Final = re.compile(r"[ ]{0,3}[^\s#>|`~=*+-]")
_TITLE: Final = re.compile(
    r"\n(?:([=\-~^*\"'`#+.:_])\1{2,}[ \t]*\r?\n[ \t]*)?(\S[^\r\n]*)"
    r"\r?\n(([=\-~^*\"'`#+.:_])\4{2,})[ \t]*(?=\r?(?:\n|\Z))"
)
_TABLE: Final = re.compile(r"\n[ ]{0,3}\|[^\n]*(?:\n[ ]{0,3}\|[^\n]*)*")
_DEFINITION: Final = re.compile(
    r"\n([ \t]*)(?:(?:export|default|public|private|protected|static|async|pub|abstract|final)"
    r"[ \t]+)*(?:class|def|func|fn|function|interface|struct|enum|trait|impl|module|namespace)"
    r"[ \t]+([^\s({:<;,=]+)"
)
_ABOVE: Final = ("@", "#", "//", "/*", "*", "--")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, the end of its line, and the titles above it with its own."""

    start: int
    end: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """Headings and blocks (start, end) of a text, both in its order.

    `starts` are those of the headings; `sections` those of headings that follow on text.
    """

    headings: tuple[Heading, ...] = ()
    blocks: tuple[tuple[int, int], ...] = ()
    starts: tuple[int, ...] = ()
    sections: tuple[int, ...] = ()

    def path_at(self, text: str, start: int, end: int) -> tuple[str, ...]:
        """Return the titles above a span; of headings that it begins with, the last one's."""
        n = bisect_right(self.starts, start) - 1 if self.starts else -1
        if n < 0:
            return ()
        known = self.headings
        while (
            known[n].start >= start
            and n + 1 < len(known)
            and known[n + 1].end <= end
            and not text[known[n].end : known[n + 1].start].strip()
        ):
            n += 1
        return known[n].path

    def block_at(self, place: int) -> tuple[int, int] | None:
        """Return the block that a place lies inside of, None where it is in none."""
        n = bisect_right(self.blocks, (place, place)) - 1
        found = self.blocks[n] if n >= 0 else (place, place)
        return found if found[0] < place < found[1] else None


def structure_of(text: str, kind: Kind) -> Structure:
    """Return the headings and blocks of a text of that kind; of code, its definitions."""
    match kind:
        case "markdown":
            return _markdown(text)
        case "rst":
            return _structure(text, _titles(text))
        case "code":
            return _structure(text, _definitions(text))
        case _:
            return Structure()


def _structure(
    text: str,
    levels: Iterable[tuple[int, int, int, str]],
    blocks: Iterable[tuple[int, int]] = (),
) -> Structure:
    """Put titles (start, end, level, title) below one another."""
    above: list[tuple[int, str]] = []
    headings, sections, before = [], [], 0
    for start, end, level, title in levels:
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, title))
        headings.append(Heading(start, end, tuple(each for _, each in above)))
        if text[before:start].strip():
            sections.append(start)
        before = end
    starts = tuple(each.start for each in headings)
    return Structure(tuple(headings), tuple(blocks), starts, tuple(sections))


def _markdown(text: str) -> Structure:
    titles, blocks = [], []
    fence, opened = "", 0
    if "#" in text or "`" in text or "~" in text:
        for mark in _MARK.finditer("\n" + text):
            signs, title, ticks, info = mark.groups()
            if ticks and not fence and not (ticks[0] == "`" and "`" in info):
                fence, opened = ticks, mark.start()
            elif ticks and fence and ticks.startswith(fence) and not info.strip():
                blocks.append((opened, mark.end() - 1))
                fence = ""
            elif signs and not fence and (name := _CLOSING_SIGNS.sub("", title)):
                titles.append((mark.start(), mark.end() - 1, len(signs), name))
    if fence:
        blocks.append((opened, len(text)))
    inside = Structure(blocks=tuple(blocks))
    titles += [each for each in _underlined(text) if not inside.block_at(each[0] + 1)]
    if "|" in text:
        tables = ((each.start(), each.end() - 1) for each in _TABLE.finditer("\n" + text))
        blocks += [each for each in tables if not inside.block_at(each[0] + 1)]
    return _structure(text, sorted(titles), sorted(blocks))


def _underlined(text: str) -> Iterator[tuple[int, int, int, str]]:
    if "=" not in text and "-" not in text:
        return
    for mark in _UNDERLINE.finditer(text):
        line = mark.start()
        start = text.rfind("\n", 0, line) + 1
        above = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : start].strip()
        if not above and _PLAIN_LINE.match(text, start, line):
            yield start, mark.end(), 1 if mark[1][0] == "=" else 2, text[start:line].strip()


def _titles(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield the titles of reStructuredText: its signs rank in the order of their appearance."""
    ranks: list[tuple[bool, str]] = []
    for mark in _TITLE.finditer("\n" + text):
        over, title, line, sign = mark.groups()
        if len(line) < len(title.rstrip()) or (over and over != sign):
            continue
        style = (bool(over), sign)
        if style not in ranks:
            ranks.append(style)
        yield mark.start(), mark.end() - 1, ranks.index(style) + 1, title.strip()


def _definitions(text: str) -> Iterator[tuple[int, int, int, str]]:
    for mark in _DEFINITION.finditer("\n" + text):
        start = _with_what_belongs_to_it(text, mark.start())
        yield start, mark.end() - 1, len(mark[1].expandtabs(4)), mark[2]


def _with_what_belongs_to_it(text: str, start: int) -> int:
    """Return where the decorators and comments directly above a definition begin."""
    while start:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip().startswith(_ABOVE):
            break
        start = above
    return start
