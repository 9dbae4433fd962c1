"""An answer with small numbers behind what its sources hold. Its own text stays as it is."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from jan_magics.domain.code_spans import code_spans
from jan_magics.domain.retrieval import Citation, Hit
from jan_magics.rag.citations import naming
from jan_magics.rag.grounding import Grounding

_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def grounded(grounding: Grounding, hits: Sequence[Hit]) -> Iterator[Citation]:
    """Yield what supports the sentences of an answer as citations: n is the n-th hit, from 1."""
    numbers = {hit.chunk.id: n for n, hit in enumerate(hits, 1)}
    for row in grounding.rows:
        if row.supported and row.chunk in numbers:
            n = numbers[row.chunk]
            yield naming(n, hits[n - 1], (row.start, row.end), row.score, "grounding")


def footnoted(answer: str, citations: Iterable[Citation], prefix: str) -> str:
    """Return an answer with a raised number behind each cited place, a link to `#prefix-n`.

    What is inserted is placed, never searched for: no sign of the text has a meaning here. No
    number is set inside of code.
    """
    numbers = defaultdict[int, set[int]](set)
    for citation in citations:
        numbers[citation.answer_end].add(citation.n)
    code = code_spans(answer)
    pieces: list[str] = []
    at = 0
    for place in sorted(numbers):
        if any(each.holds(place) for each in code):
            continue
        links = "".join(f"[{raised(n)}](#{prefix}-{n})" for n in sorted(numbers[place]))
        pieces += [answer[at:place], links]
        at = place
    return "".join((*pieces, answer[at:]))


def raised(n: int) -> str:
    """Return a number in raised digits.

    >>> raised(12)
    '¹²'
    """
    return str(n).translate(_RAISED)
