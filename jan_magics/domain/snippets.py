"""The place in a text where a query was found, with its words marked as «…»."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from jan_magics.domain.segmentation import Phrase, Word, spans

BEFORE: Final = 40
"""Characters shown in front of the first word that was found."""
LENGTH: Final = 140
_BLANK: Final = re.compile(r"\s+")


def snippet(text: str, phrases: Sequence[Phrase]) -> str:
    """Return the place where the first phrase stands, on one line; "…" where it was cut."""
    at = _near(text, phrases)
    shown = _marked(text, phrases, at) if at is not None else None
    if shown is None:
        first = min((start for start, _ in _found(list(spans(text)), phrases)), default=0)
        shown = _marked(text, phrases, first) or _line(text[:LENGTH])
    return shown


def _near(text: str, phrases: Iterable[Phrase]) -> int | None:
    """Guess where the first word stands, without reading all words of a long text."""
    words = "|".join(re.escape(phrase.words[0]) for phrase in phrases)
    found = re.compile(rf"(?<![^\W_])(?:{words})|{words}", re.IGNORECASE).search(text)
    return found.start() if found else None


def _marked(text: str, phrases: Sequence[Phrase], at: int) -> str | None:
    start = _edge(text, at - BEFORE)
    end = min(len(text), start + LENGTH)
    piece = text[start:end]
    marks = _found(list(spans(piece)), phrases)
    if not marks:
        return None
    shown: list[str] = []
    position = 0
    for begin, stop in marks:
        shown += [piece[position:begin], "«", piece[begin:stop], "»"]
        position = stop
    shown.append(piece[position:])
    return ("…" if start else "") + _line("".join(shown)) + ("…" if end < len(text) else "")


def _edge(text: str, start: int) -> int:
    """Return a place at the beginning of a word, where one is near."""
    if start <= 0:
        return 0
    blank = _BLANK.search(text, start, start + BEFORE // 2)
    return blank.end() if blank else start


def _line(text: str) -> str:
    return _BLANK.sub(" ", text).strip()


def _found(words: Sequence[Word], phrases: Iterable[Phrase]) -> list[tuple[int, int]]:
    """Return where phrases stand, from the first on; what touches is joined."""
    marks = [mark for phrase in phrases for mark in _places(words, phrase)]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(marks):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _places(words: Sequence[Word], phrase: Phrase) -> list[tuple[int, int]]:
    size = len(phrase.words)
    *exact, last = phrase.words
    places = []
    for at in range(len(words) - size + 1):
        final = words[at + size - 1]
        fits = final.text.startswith(last) if phrase.open else final.text == last
        if fits and all(words[at + n].text == word for n, word in enumerate(exact)):
            # Of a pair of neighbours only the first was asked for.
            pair = phrase.open and len(last) == 1 and len(final.text) == final.end - final.start
            end = final.start + 1 if pair and not last.isascii() else final.end
            places.append((words[at].start, end))
    return places
