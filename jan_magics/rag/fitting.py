"""Chunks that an embedder would read only in part are cut again, at a space where there is one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Protocol, runtime_checkable

from jan_magics.domain.retrieval import Chunk, Document, Fingerprint, Recipe, chunk_id

_SPACES: Final = " \n\t\u3000"


@runtime_checkable
class Measuring(Protocol):
    """What an embedder with a limit knows besides: how long a text is for it."""

    def tokens(self, text: str) -> int:
        """Return the tokens that it reads of a text, its own marks included."""
        ...


def fitted(
    document: Document, recipe: Recipe, chunks: Sequence[Chunk], embedder: object, limit: int | None
) -> tuple[Chunk, ...]:
    """Return the chunks with those cut again that are longer than `limit` tokens of the embedder.

    Each piece says for whom in its warning, and all are numbered anew; the same where none was cut.
    """
    if limit is None or not isinstance(embedder, Measuring):
        return tuple(chunks)
    made: list[Chunk] = []
    for chunk in chunks:
        spans = list(pieces_of(document.text, chunk.start, chunk.end, limit, embedder))
        if len(spans) == 1:
            made.append(chunk)
            continue
        warning = f"split for {_name(embedder)}: it reads {limit} tokens"
        share = chunk.tokens / max(1, chunk.end - chunk.start)
        made += [
            replace(
                chunk, start=start, end=end, warning=warning, tokens=round(share * (end - start))
            )
            for start, end in spans
        ]
    return tuple(made) if len(made) == len(chunks) else _numbered(document, recipe, made)


def _name(embedder: object) -> str:
    fingerprint = getattr(embedder, "fingerprint", None)
    return fingerprint.id if isinstance(fingerprint, Fingerprint) else "the embedder"


def pieces_of(
    text: str, start: int, end: int, limit: int, embedder: Measuring
) -> Iterator[tuple[int, int]]:
    """Yield spans of a text that are not longer than `limit` tokens, in order, without gaps."""
    waiting = [(start, end)]
    while waiting:
        start, end = waiting.pop()
        if end - start < 2 or embedder.tokens(text[start:end]) <= limit:
            yield start, end
            continue
        middle = _space(text, start, end)
        waiting += [(middle, end), (start, middle)]


def _space(text: str, start: int, end: int) -> int:
    """Return where to cut near the middle: behind a space, or in the middle itself."""
    middle = (start + end) // 2
    low, high = start + (end - start) // 4, end - (end - start) // 4
    for reach in range(max(high - middle, middle - low)):
        for place in (middle - reach, middle + reach):
            if low < place < high and text[place - 1] in _SPACES:
                return place
    return middle


def _numbered(document: Document, recipe: Recipe, chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    seen: Counter[str] = Counter()
    numbered = []
    for index, chunk in enumerate(chunks):
        text = document.text[chunk.start : chunk.end]
        identity = chunk_id(document.source, recipe, text, seen[text])
        seen[text] += 1
        numbered.append(replace(chunk, id=identity, index=index))
    return tuple(numbered)
