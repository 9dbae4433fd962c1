"""The sentences of a Markdown text, with their places in it. Code belongs to no sentence's end."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

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
_TABLE_RULE: Final = re.compile(r"^[ \t>]*+(?=[^\n]*\|)(?=[^\n]*-)[-:|][-:| \t\r]*+$", re.MULTILINE)
_LINK: Final = re.compile(r"(!?)\[([^\[\]\n]*+)\]\([^()\s]*+(?:[ \t]+\"[^\"\n]*+\")?\)")
_MARKS: Final = re.compile(rf"[ \t]*+{MARK}")
_EMPHASIS: Final = re.compile(
    r"\*\*++|~~|(?<![\w*_])[*_]{1,3}+(?=\S)|(?<=[^\s*_])[*_]{1,3}+(?!\w)|`++"
    r"|(?<=\n)[ \t]*+(?:>[ \t]?+)++"
)
_CLAIM: Final = 3
"""The weight of the shortest sentence that says something: a word counts 2, a Chinese sign 1."""
_WORD: Final = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])|[^\W_\u3040-\u9fff]+")

Kind: TypeAlias = Literal["text", "heading", "row", "code"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: `text[start:end]`, in characters; `plain` is what it says, without Markdown.

    Only a text claims anything: a heading names what follows, and neither the row of a table nor
    what is nothing but code is a sentence that could be compared with one.
    """

    start: int
    end: int
    plain: str
    kind: Kind = "text"

    @property
    def claims(self) -> bool:
        """Tell whether it says anything that a source could hold: "Yes." does not."""
        weight = 0
        for word in _WORD.finditer(self.plain):
            weight += 1 if word[1] else 2
            if weight >= _CLAIM:
                return self.kind == "text"
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
    for start, end, kind in _units(text, [each for each in code if each.block]):
        pieces = _pieces(text, start, end, sorted(kept)) if kind == "text" else [(start, end)]
        found += [
            Sentence(first, last, plain(text[first:last]), _kind(text, first, last, kind, code))
            for first, last in (_trimmed(text, *piece) for piece in pieces)
            if first < last
        ]
    return tuple(found)


def plain(text: str) -> str:
    """Return what a piece of Markdown says: no marks, addresses or numbers of sources."""
    bare = _MARKS.sub("", _LINK.sub(r"\2", text))
    return " ".join(_EMPHASIS.sub("", bare).replace("|", " ").split())


def _kind(text: str, start: int, end: int, kind: Kind, code: Sequence[Code]) -> Kind:
    """Return the kind of a piece: where nothing is said beside inline code, it is code."""
    inside = [each for each in code if start <= each.start and each.end <= end]
    if kind != "text" or not inside:
        return kind
    pieces = pairwise((start, *(at for each in inside for at in (each.start, each.end)), end))
    said = "".join(text[at:to] for at, to in list(pieces)[::2])
    return kind if any(char.isalnum() for char in said) else "code"


def _rows(text: str) -> frozenset[int]:
    """Return where the lines of tables begin: around a line of dashes and bars, with bars."""
    found = set[int]()
    for rule in _TABLE_RULE.finditer(text):
        at = text.rfind("\n", 0, max(rule.start() - 1, 0)) + 1
        if "|" in text[at : rule.start()]:
            found.add(at)
        end = rule.end()
        while end < len(text):
            at, end = end + 1, text.find("\n", end + 1)
            end = len(text) if end < 0 else end
            if "|" not in text[at:end]:
                break
            found.add(at)
    return frozenset(found)


def _units(text: str, blocks: Sequence[Code]) -> Iterator[tuple[int, int, Kind]]:
    """Yield what no sentence reaches over, with its kind: paragraphs, items, headings, rows."""
    skipped, rows = {block.start: block.end for block in blocks}, _rows(text)
    start, at, last = -1, 0, 0
    while at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        lead = at + len((_LEAD.match(line) or [""])[0])
        inner = text[lead:end]
        heading = _HEADING.match(inner)
        blank = at in skipped or not inner.strip() or _RULE.fullmatch(line)
        alone = blank or heading or inner[0] == "|" or at in rows
        if start >= 0 and (alone or text[at:lead].strip(" \t>")):
            yield start, last, "text"
            start = -1
        if alone and not blank:
            yield lead + (heading.end() if heading else 0), end, "heading" if heading else "row"
        elif not alone and start < 0:
            start = lead
        last = end
        at = skipped.get(at, end) + 1
    if start >= 0:
        yield start, last, "text"


def _pieces(
    text: str, start: int, end: int, kept: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Cut a unit into sentences; `kept` are the places in which none ends, ascending."""
    for stop in _STOP.finditer(text, start, end):
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
