"""Citations as other programs write them: Anthropic's content blocks, Cohere's spans."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.retrieval import Citation


def citations_as(shape: str, answer: str, citations: Sequence[Citation]) -> Json:
    """Return an answer with its citations in the shape of `anthropic` or `cohere`.

    The text is the answer's own, numbers in brackets and all. Raises SettingError.
    """
    if shape not in _SHAPES:
        raise SettingError(
            f"no shape {shape!r} of citations", f"Name one of: {', '.join(map(repr, _SHAPES))}"
        )
    return _SHAPES[shape](answer, citations)


def _anthropic(answer: str, citations: Sequence[Citation]) -> Json:
    """Return content blocks of the Messages API; joined their texts are the answer.

    Documents are numbered from 0, in the order in which they are cited first.
    """
    sources = {source: n for n, source in enumerate(dict.fromkeys(c.source for c in citations))}
    places = {0, len(answer)}
    places |= {place for each in citations for place in (each.answer_start, each.answer_end)}
    made: list[Json] = []
    for start, end in pairwise(sorted(places)):
        held: list[Json] = [
            {
                "type": "char_location", "cited_text": each.cited_text,
                "document_index": sources[each.source], "document_title": each.source,
                "start_char_index": each.start, "end_char_index": each.end,
            }
            for each in citations if each.answer_start <= start and end <= each.answer_end
        ]  # fmt: skip
        block: dict[str, Json] = {"type": "text", "text": answer[start:end]}
        made.append({**block, "citations": held} if held else block)
    return made


def _cohere(answer: str, citations: Sequence[Citation]) -> Json:
    """Return a message of the Chat API, version 2: spans of its text, each with its sources."""
    spans: dict[tuple[int, int], list[Json]] = {}
    for each in citations:
        document: Json = {"id": each.chunk, "title": each.source, "snippet": each.cited_text}
        source: Json = {"type": "document", "id": each.chunk, "document": document}
        held = spans.setdefault((each.answer_start, each.answer_end), [])
        held += [source] if source not in held else []
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": answer}],
        "citations": [
            {
                "start": start, "end": end, "text": answer[start:end], "sources": held,
                "type": "TEXT_CONTENT",
            }
            for (start, end), held in sorted(spans.items())
        ],
    }  # fmt: skip


_SHAPES: Final[Mapping[str, Callable[[str, Sequence[Citation]], Json]]] = MappingProxyType(
    {"anthropic": _anthropic, "cohere": _cohere}
)
