"""Where a text has what a question asks for."""

from collections.abc import Sequence

from jan_magics.domain.segmentation import Phrase, Word, spans
from jan_magics.rag.keywords import terms


def marks(question: str, text: str) -> list[tuple[int, int]]:
    """Return the places of a question's words, as the search by words has them, ascending.

    Places are characters, half-open; they neither overlap nor touch.

    >>> marks("why 熊猫 and Boats?", "boats, 大熊猫")
    [(0, 5), (8, 10)]
    """
    words, asked = list(spans(text)), terms(question)
    found = sorted(
        place
        for at in range(len(words))
        for phrase in asked
        if (place := _place(words, at, phrase))
    )
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _place(words: Sequence[Word], at: int, phrase: Phrase) -> tuple[int, int] | None:
    """Return the place of a phrase that begins with a word, None where it does not stand there."""
    *before, last = phrase.words
    there = words[at : at + len(phrase.words)]
    if len(there) < len(phrase.words) or any(
        word.text != wanted for word, wanted in zip(there, before, strict=False)
    ):
        return None
    if phrase.open and there[-1].text.startswith(last):
        return there[0].start, there[-1].start + len(last)
    return (there[0].start, there[-1].end) if there[-1].text == last else None
