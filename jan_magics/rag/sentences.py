"""The sentences of a Markdown text, with their places in it. Code belongs to no sentence's end."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from jan_magics.domain.code_spans import Code, code_spans
from jan_magics.rag.stops import ends_here

MARK: Final = (
    r"(?:\[\^?\s*\d[\d\s,，、;；–—~-]*\]|［\s*\d[\d\s,，、;；–—~-]*］|【\s*\d[^【】\n]{0,40}】)"
)
"""A number in brackets that names a source, as models write it."""
_STOP: Final = re.compile(r"[.!?…。！？；｡．]++")
_CLOSERS: Final = re.compile(rf"(?:[\"'”’»›」』）)】》〉*_~]|{MARK})*+")
_AFTERWARDS: Final = re.compile(rf"(?:[ \t]{MARK})++(?=\s*+(?:\Z|[^\sa-z]))")
_HEADING: Final = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]+|$)")
_LEAD: Final = re.compile(r"(?:[ \t]*+(?:>|(?:[-*+•]|\d{1,9}[.)、])(?=[ \t])))*+[ \t]*+")
_RULE: Final = re.compile(r"[ \t>]*+(?:[-*_=+|:][ \t\r]*+)++")
_LINK: Final = re.compile(r"(!?)\[([^\[\]\n]*+)\]\([^()\s]*+(?:[ \t]+\"[^\"\n]*+\")?\)")
_MARKS: Final = re.compile(rf"[ \t]*+{MARK}")
_EMPHASIS: Final = re.compile(
    r"\*\*++|~~|(?<![\w*_])[*_]{1,3}+(?=\S)|(?<=[^\s*_])[*_]{1,3}+(?!\w)|`++"
    r"|(?<=\n)[ \t]*+(?:>[ \t]?+)++"
)
_CLAIM: Final = 3
"""The weight of the shortest sentence that says something: a word counts 2, a Chinese sign 1."""
_WORD: Final = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])|[^\W_\u3040-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: `text[start:end]`, in characters; `plain` is what it says, without Markdown.

    `heading`: it names what follows and claims nothing.
    """

    start: int
    end: int
    plain: str
    heading: bool = False

    @property
    def claims(self) -> bool:
        """Tell whether it says anything that a source could hold: "Yes." does not."""
        weight = 0
        for word in _WORD.finditer(self.plain):
            weight += 1 if word[1] else 2
            if weight >= _CLAIM:
                return not self.heading
        return False


def sentences(text: str) -> tuple[Sentence, ...]:
    """Return all sentences outside of code blocks, in order, short ones and headings too.

    A sentence ends at its stop (Chinese and full-width ones, too), with closing quotes and the
    numbers of its sources; also where its paragraph, list item, table row or quote ends.
    """
    code = code_spans(text)
    kept = [(each.start, each.end) for each in code]
    kept += [link.span() for link in _LINK.finditer(text)]
    found: list[Sentence] = []
    for start, end, heading in _units(text, [each for each in code if each.block]):
        pieces = [(start, end)] if heading else _pieces(text, start, end, sorted(kept))
        found += [
            Sentence(first, last, plain(text[first:last]), heading)
            for first, last in (_trimmed(text, *piece) for piece in pieces)
            if first < last
        ]
    return tuple(found)


def plain(text: str) -> str:
    """Return what a piece of Markdown says: no marks, addresses or numbers of sources."""
    bare = _MARKS.sub("", _LINK.sub(r"\2", text))
    return " ".join(_EMPHASIS.sub("", bare).replace("|", " ").split())


def _units(text: str, blocks: Sequence[Code]) -> Iterator[tuple[int, int, bool]]:
    """Yield what no sentence reaches over: paragraphs, items, rows; and whether it is a heading."""
    skipped = {block.start: block.end for block in blocks}
    start, at, last = -1, 0, 0
    while at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        lead = at + len((_LEAD.match(line) or [""])[0])
        inner = text[lead:end]
        heading = _HEADING.match(inner)
        blank = at in skipped or not inner.strip() or _RULE.fullmatch(line)
        alone = blank or heading or inner[0] == "|"
        if start >= 0 and (alone or text[at:lead].strip(" \t>")):
            yield start, last, False
            start = -1
        if alone and not blank:
            yield lead + (heading.end() if heading else 0), end, bool(heading)
        elif not alone and start < 0:
            start = lead
        last = end
        at = skipped.get(at, end) + 1
    if start >= 0:
        yield start, last, False


def _pieces(
    text: str, start: int, end: int, kept: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Cut a unit into sentences; `kept` are the places in which none ends, ascending."""
    row = text[start] == "|"
    for stop in () if row else _STOP.finditer(text, start, end):
        after = bisect_right(kept, (stop.start(), len(text)))
        if after and stop.start() < kept[after - 1][1]:
            continue
        closed = _CLOSERS.match(text, stop.end(), end)
        last = closed.end() if closed else stop.end()
        if ends_here(text, (start, end), stop, last):
            following = _AFTERWARDS.match(text, last, end)
            last = following.end() if following else last
            yield start, last
            start = last
    yield start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
