"""Citations: the numbers in an answer, each with what it stands behind and what it names."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

from jan_magics.domain.retrieval import Citation, Hit
from jan_magics.domain.source_marks import numbers_of, source_marks
from jan_magics.rag.sentences import Sentence, sentences

_BETWEEN: Final = re.compile(r"[\s,，、;；]*")


@dataclass(frozen=True, slots=True)
class Marker:
    """A number in an answer, and the place of the brackets that it stands in (characters)."""

    n: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cited:
    """What an answer cites, in its order; `unknown` are numbers that name nothing, left out."""

    citations: tuple[Citation, ...]
    unknown: tuple[Marker, ...] = ()


def cite(answer: str, hits: Sequence[Hit]) -> Cited:
    """Return what the numbers of an answer name: n is the n-th of the hits, from 1.

    The place in the answer is what the number stands behind: its sentence, from the number before
    on. What stands in code, or is a link of Markdown, cites nothing.
    """
    marks, known = source_marks(answer), len(hits)
    if not marks:
        return Cited(())
    citations: list[Citation] = []
    unknown: list[Marker] = []
    for mark, (start, end) in zip(marks, _claims(answer, marks), strict=True):
        for n in numbers_of(mark, known):
            if not 1 <= n <= known:
                unknown.append(Marker(n, *mark.span()))
                continue
            score = hits[n - 1].score
            known_score = None if isnan(score) else score
            citations.append(naming(n, hits[n - 1], (start, end), known_score, "marker"))
    return Cited(tuple(citations), tuple(unknown))


def naming(n: int, hit: Hit, place: tuple[int, int], score: float | None, method: str) -> Citation:
    """Return the citation of a hit, by its number, at a place of the answer."""
    chunk = hit.chunk
    return Citation(
        n, chunk.id, hit.source, chunk.start, chunk.end, hit.text, *place, score, method
    )


def numbered(known: Sequence[Hit], found: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return hits with further ones behind them, each chunk once: a number names one for ever."""
    taken = {hit.chunk.id for hit in known}
    fresh = {hit.chunk.id: hit for hit in reversed(found) if hit.chunk.id not in taken}
    return (*known, *reversed(fresh.values()))


def _claims(answer: str, marks: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield for each mark the place that it stands behind; neighbours share theirs."""
    units = sentences(answer)
    starts = [unit.start for unit in units]
    groups = list(_groups(answer, marks))
    for number, group in enumerate(groups):
        first, last = group[0].start(), group[-1].end()
        at = bisect_right(starts, first) - 1
        unit = units[at] if at >= 0 and first < units[at].end else Sentence(first, last, "")
        before = groups[number - 1][-1].end() if number else 0
        after = groups[number + 1][0].start() if number + 1 < len(groups) else len(answer)
        claim = _said(answer, max(unit.start, before), first)
        if claim is None:  # it stands before what it is the source of
            claim = _said(answer, last, min(unit.end, after))
        yield from [claim or (first, last)] * len(group)


def _groups(answer: str, marks: Sequence[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    group: list[re.Match[str]] = []
    for mark in marks:
        if group and not _BETWEEN.fullmatch(answer, group[-1].end(), mark.start()):
            yield group
            group = []
        group.append(mark)
    yield group


def _said(answer: str, start: int, end: int) -> tuple[int, int] | None:
    """Return a place without the blanks and stops around it, None where nothing is said there."""
    piece = answer[start:end]
    said = piece.rstrip()
    bare = said.lstrip(" \t\r\n.,;:!?。！？；，、：)）")
    if not any(char.isalnum() for char in bare):
        return None
    return start + len(said) - len(bare), start + len(said)
