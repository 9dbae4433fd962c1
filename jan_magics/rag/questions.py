"""Questions whose answers are known, from the documents' own headings, glossaries and FAQs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, zip_longest

from jan_magics.domain.code_spans import code_spans
from jan_magics.domain.errors import SettingError
from jan_magics.domain.retrieval import Document
from jan_magics.rag.entries import asked, glossary, titled
from jan_magics.rag.headings import sections


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question and the place that answers it: `document.text[start:end] == text`."""

    question: str
    source: str
    start: int
    end: int
    text: str


def known_items(documents: Iterable[Document], n: int = 50) -> tuple[KnownItem, ...]:
    """Return at most n questions with their answers, in the order of the documents.

    FAQ entries, glossary entries and headings take turns, each kind drawn from all documents; the
    same documents give the same questions. A heading that several sections have asks nothing.

    Raises:
        SettingError: when `n` is no number of questions.
    """
    if n < 1:
        raise SettingError(f"{n!r} questions cannot be made", "Ask for one or more: -n 50")
    kinds: tuple[list[KnownItem], ...] = ([], [], [])
    places: dict[KnownItem, tuple[int, int]] = {}
    for number, document in enumerate(documents):
        for kind, item in _items(document):
            kinds[kind].append(item)
            places.setdefault(item, (number, item.start))
    drawn = [sorted(set(kind), key=_draw) for kind in (*kinds[:2], _unambiguous(kinds[2]))]
    turns = chain.from_iterable(zip_longest(*drawn))
    chosen = [item for item in turns if item is not None][:n]
    return tuple(sorted(chosen, key=lambda item: places[item]))


def _items(document: Document) -> Iterator[tuple[int, KnownItem]]:
    """Yield the questions of a document, each place once, with the number of their kind."""
    if document.kind in {"code", "table"}:
        return
    text, found, taken = document.text, sections(document.text), set[int]()
    code = [each for each in code_spans(text) if each.block]
    for kind, entries in enumerate((asked, glossary, titled)):
        for entry in entries(text, found):
            in_code = any(each.start < entry.at < each.end for each in code)
            if entry.start not in taken and not in_code:
                taken.add(entry.start)
                place = (entry.start, entry.end)
                answer = text[entry.start : entry.end]
                yield kind, KnownItem(entry.question, document.source, *place, answer)


def _unambiguous(items: Iterable[KnownItem]) -> list[KnownItem]:
    listed = list(items)
    often = Counter(_folded(item.question) for item in listed)
    return [item for item in listed if often[_folded(item.question)] == 1]


def _folded(question: str) -> str:
    return re.sub(r"[\W_]+", " ", question.casefold()).strip()


def _draw(item: KnownItem) -> tuple[str, int]:
    """Return what orders questions as if they were drawn, but the same each time."""
    named = f"{item.question}\0{item.source}".encode("utf-8", "surrogatepass")
    return sha256(named).hexdigest(), item.start
