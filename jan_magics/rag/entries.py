"""What a text answers by itself: questions with answers, terms with meanings, titled sections."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from jan_magics.rag.headings import Section
from jan_magics.rag.sentences import plain

SHORTEST: Final = 20
"""Characters of an answer; Chinese says as much in a third of them."""
ENOUGH: Final = 300
"""Characters after which an answer takes no further paragraph."""
LONGEST: Final = 1_200
_PARAGRAPH: Final = re.compile(r"\n[ \t\r]*\n\s*")
_ASKS: Final = re.compile(r"[^\n]*[?？]\s*\Z")
_QUESTION: Final = re.compile(
    r"^[ \t>]*+(?:[-*+]|\d{1,3}[.)])?[ \t]*+(?:"
    r"(?:\*\*|__)?(?:Q(?:uestion)?[ \t]*\d*|问题?|質問)[ \t]*+[:：.](?P<asked>[^\n]+)"
    r"|(?:\*\*|__)(?P<bold>[^\n*]+[?？])(?:\*\*|__)[ \t]*\r?$)",
    re.MULTILINE | re.IGNORECASE,
)
_ANSWER: Final = re.compile(
    r"\s*(?:[-*+][ \t]+)?(?:\*\*|__)?(?:A(?:nswer)?|答案?|回答)[ \t]*\d*[ \t]*[:：.]"
    r"(?:\*\*|__)?[ \t]*",
    re.IGNORECASE,
)
_TERM: Final = re.compile(
    r"^[ \t]*+(?:[-*+•][ \t]++)?(?:\*\*|__)(?P<bold>[^\n*]{1,60}?)(?:[:：](?:\*\*|__)|(?:\*\*|__)"
    r"[ \t]*(?:[:：]|[–—]|--?(?=\s)))[ \t]*(?P<meaning>\S[^\n]*)$"
    r"|^(?P<defined>[^\s:#>|*-][^\n]{0,60}?)[ \t]*\r?\n(?:[ \t]*\r?\n)?:[ \t]+(?P<means>\S[^\n]*)$",
    re.MULTILINE,
)
_LISTED: Final = re.compile(
    r"^[ \t]*+(?:[-*+•][ \t]++)?(?P<term>[^\s:：|#>*-][^\n:：|]{0,60}?)[ \t]*"
    r"(?:[:：][ \t]*|[ \t][–—-][ \t]+|——)(?P<meaning>[^\s:：][^\n]*)$"
    r"|^\|[ \t]*(?P<cell>[^\n|]{1,60}?)[ \t]*\|[ \t]*(?P<second>[^\n|]+?)[ \t]*\|"
    r"|^(?P<block>[^\s:：|#>*-][^\n:：|]{0,60}?)[ \t]*\r?\n(?P<inner>[ \t]{2,}\S[^\n]*)$",
    re.MULTILINE,
)
_GLOSSARY: Final = re.compile(
    r"glossary|terminology|definitions?\b|\bterms\b|vocabulary|glossar|术语|词汇|名词|用語|用语",
    re.IGNORECASE,
)
_GENERIC: Final = re.compile(
    r"(?:\d+(?:\.\d+)*\.?\s*)?(?:introduction|overview|contents?|table of contents|summary|about|"
    r"notes?|references?|examples?|usage|description|appendix|conclusions?|background|see also|"
    r"links?|terms|terminology|definitions|changelog|license|todo|misc(?:ellaneous)?|faqs?|"
    r"glossary|术语表?|用語|"
    r"简介|概述|目录|总结|参考(?:文献|资料)?|示例|说明|附录|背景|概要|目次|はじめに|まとめ)",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """A question, and the place of its answer in the text (characters, half-open).

    `at` is where the text asks it.
    """

    question: str
    start: int
    end: int
    at: int


def asked(text: str, found: Sequence[Section]) -> Iterator[Entry]:
    """Yield the questions that a text asks and answers itself: headings, `Q:`, bold lines."""
    for section in found:
        if _ASKS.fullmatch(section.title):
            yield from _entry(text, section.title, section.start, section.last)
    questions = list(_QUESTION.finditer(text))
    edges = sorted([each.start() for each in questions] + [each.end for each in found])
    for match in questions:
        question = plain(match["asked"] or match["bold"])
        after = bisect_right(edges, match.start())
        end = edges[after] if after < len(edges) else len(text)
        answer = _ANSWER.match(text, match.end(), end)
        if answer or _ASKS.fullmatch(question):
            yield from _entry(text, question, answer.end() if answer else match.end(), end)


def glossary(text: str, found: Sequence[Section]) -> Iterator[Entry]:
    """Yield terms that a text explains: bold ones, definition lists, and those of a glossary."""
    yield from _terms(text, _TERM, 0, len(text))
    for section in found:
        if _GLOSSARY.search(section.title):
            yield from _terms(text, _LISTED, section.start, section.last)


def titled(text: str, found: Sequence[Section]) -> Iterator[Entry]:
    """Yield sections by their titles, a short one with the title above it."""
    for section in found:
        if _GENERIC.fullmatch(section.title) or _ASKS.fullmatch(section.title):
            continue
        yield from _entry(text, _named(section), section.start, section.end)


def _terms(text: str, pattern: re.Pattern[str], start: int, end: int) -> Iterator[Entry]:
    for match in pattern.finditer(text, start, end):
        groups = {name: value for name, value in match.groupdict().items() if value}
        (_, term), (where, meaning) = list(groups.items())[:2]
        name = plain(term).strip(" .:：")
        if set(meaning) <= set(" -:|=") or len(name.split()) > 6 or _ASKS.fullmatch(name):
            continue
        yield from _entry(text, _what_is(name, meaning), match.start(where), match.end(where))


def _entry(text: str, question: str, start: int, end: int) -> Iterator[Entry]:
    """Yield an entry where there is an answer: its first paragraphs, until they say enough."""
    at, piece = start, text[start:end]
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    last = start
    while last < end and last - start < ENOUGH:
        gap = _PARAGRAPH.search(text, last + 1, end)
        edge = gap.start() if gap else end
        if last > start and edge - start > LONGEST:
            break
        last = edge
        if gap and text.startswith("#", gap.end()):
            break
    last = min(last, start + LONGEST)
    last = start + len(text[start:last].rstrip())
    weight = last - start + 2 * len(_CHINESE.findall(text, start, last))
    if weight >= SHORTEST and question:
        yield Entry(question, start, last, at)


def _named(section: Section) -> str:
    title = section.title
    short = len(title.split()) < 3 and len(_CHINESE.findall(title)) < 5
    parent = section.parents[-1] if section.parents and short else ""
    return f"{parent}: {title}" if parent and not _GENERIC.fullmatch(parent) else title


def _what_is(term: str, meaning: str) -> str:
    if _KANA.search(term + meaning):
        return f"{term}とは何ですか？"
    return f"什么是{term}？" if _CHINESE.search(term + meaning) else f"What is {term}?"
