"""The numbers in brackets by which an answer names its sources, as models write them."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from jan_magics.domain.code_spans import Code, code_spans

_MARK: Final = re.compile(
    r"\[\[?(\s*\d{1,6}(?:\s*[,，、;；–—-]\s*\d{1,6})*\s*)\]\]?"
    r"|［(\s*\d{1,6}(?:\s*[,，、;；–—-]\s*\d{1,6})*\s*)］"
    r"|【(\s*\d{1,6}(?:\s*[,，、;；–—-]\s*\d{1,6})*\s*)(?:†[^【】\n]*+)?】"
)
_NUMBERS: Final = re.compile(r"(\d+)(?:\s*[–—-]\s*(\d+))?")


def source_marks(text: str) -> list[re.Match[str]]:
    """Return the marks of a text, in order. What stands in code or is a link of Markdown is none.

    >>> [mark[0] for mark in source_marks("froze [1], 关闭【2†a】 `x[3]` [4](url)")]
    ['[1]', '【2†a】']
    """
    code = code_spans(text)
    return [each for each in _MARK.finditer(text) if _names(text, each, code)]


def numbers_of(mark: re.Match[str], known: int) -> Iterator[int]:
    """Yield the numbers in brackets once each; a range gives those that there are, and its ends."""
    seen = set[int]()
    for found in _NUMBERS.finditer(next(filter(None, mark.groups()))):
        first, last = int(found[1]), int(found[2] or found[1])
        inside = range(max(first + 1, 1), min(last, known + 1))
        for n in (first, *inside, *([last] if found[2] else [])):
            if n not in seen:
                seen.add(n)
                yield n


def named_places(text: str, known: Collection[int]) -> Iterator[tuple[int, int, int]]:
    """Yield where a text of no code names a known source: its number, start and end (characters).

    A mark of one number is taken with its brackets, of several each number by itself.

    >>> list(named_places("It froze [1, 3]，关闭【2†a】", {1, 2}))
    [(1, 10, 11), (2, 18, 23)]
    """
    for mark in _MARK.finditer(text):
        group = next(n for n, inside in enumerate(mark.groups(), 1) if inside)
        numbers = list(re.finditer(r"\d+", mark[group]))
        for number in numbers:
            at = mark.start(group)
            alone = len(numbers) == 1
            start, end = mark.span() if alone else (at + number.start(), at + number.end())
            if int(number[0]) in known:
                yield int(number[0]), start, end


def without_marks(text: str, known: int) -> str:
    """Return a text without the marks that name one of so many sources; other numbers stay.

    >>> without_marks("It froze early [1, 2]. 桥关闭了【1】。 See [2024].", 2)
    'It froze early. 桥关闭了。 See [2024].'
    """
    # What is left around a mark may be one itself.
    while places := [_place(text, mark) for mark in source_marks(text) if _is_known(mark, known)]:
        pieces, at = [], 0
        for start, end in places:
            pieces.append(text[at:start])
            at = max(at, end)
        text = "".join((*pieces, text[at:]))
    return text


def _is_known(mark: re.Match[str], known: int) -> bool:
    return any(1 <= n <= known for n in numbers_of(mark, known))


def _place(text: str, mark: re.Match[str]) -> tuple[int, int]:
    """Return a mark with the blanks before it; at the beginning of a line with those behind it."""
    start, end = mark.span()
    before = text[:start].rstrip(" \t")
    if before and not before.endswith("\n"):
        return len(before), end
    return start, end + len(text[end:]) - len(text[end:].lstrip(" \t"))


def _names(text: str, mark: re.Match[str], code: Sequence[Code]) -> bool:
    start, end = mark.span()
    before = bisect_right(code, Code(start, len(text) + 1)) - 1
    if before >= 0 and start < code[before].end:
        return False
    if text[end : end + 1] == "(" or text[start - 1 : start] == "!":
        return False
    line = text.rfind("\n", 0, start) + 1
    if text[end : end + 1] == ":" and not text[line:start].strip():
        return False
    behind = len(text[line:start]) - len(text[line:start].rstrip("\\"))
    return behind % 2 == 0
