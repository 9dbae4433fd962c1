"""The three tools by which a model looks things up, and what their calls are answered with.

Where is looked is the host's word alone: what a model says of threads and projects is overwritten.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from jan_magics.domain.errors import JanError
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ToolSpec
from jan_magics.domain.retrieval import Hit
from jan_magics.rag.attached import Attachments
from jan_magics.rag.blocks import DATA, escaped
from jan_magics.rag.citations import numbered
from jan_magics.rag.tool_arguments import (
    Unusable,
    file_of,
    files_of,
    limit_of,
    order_of,
    query_of,
    rows_of,
    with_text,
)

Scope: TypeAlias = Literal["thread", "project", "collection"]

LIMIT: Final = 3
THRESHOLD: Final = 0.3
MOST_CHUNKS: Final = 10
"""Chunks that one call of get_chunks gives."""
_PLACES: Final[Mapping[Scope, str]] = MappingProxyType(
    {"thread": "thread_id", "project": "project_id", "collection": "collection"}
)


_QUERY: Final[Json] = {"type": "string", "description": "What to look for, in a few words."}
_FILES: Final[Json] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Only in these files, by the ids that list_attachments gives.",
}
_RETRIEVE: Final = (
    "Find the passages of the attached files that matter for a query. Use the query only; never"
    " pass raw document text. Each passage has a number n to cite it by, as [n]."
)
_LISTING: Final = ToolSpec(
    "list_attachments",
    "List the attached files that can be searched, with their ids and sizes in chunks.",
    {"type": "object", "properties": {}},
)
_CHUNKS: Final = ToolSpec(
    "get_chunks",
    "Read the chunks of one file from start_order to end_order, both included, counted from 0;"
    f" {MOST_CHUNKS} at most. Use sparingly: retrieve first, then read what stands around a"
    " passage.",
    {
        "type": "object",
        "properties": {
            "file_id": {"type": "string", "description": "As list_attachments gives it."},
            "start_order": {"type": "integer", "minimum": 0},
            "end_order": {"type": "integer", "minimum": 0},
        },
        "required": ["file_id", "start_order", "end_order"],
    },
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn may look: what is attached to a thread or a project, or a named collection."""

    scope: Scope
    id: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What the host sets: the most rows of a call, and the least cosine; None = no threshold."""

    limit: object = LIMIT
    threshold: float | None = THRESHOLD


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a call is answered with: JSON, or what is wrong; and all hits by number until now.

    `hits` are those of the turn in the order of their numbers, for its citations.
    """

    payload: Json
    ok: bool
    hits: tuple[Hit, ...] = ()


def tool_specs(limit: object = LIMIT) -> tuple[ToolSpec, ...]:
    """Return the tools as a model sees them; no call of `retrieve` may ask for more rows.

    A limit that is no number of one or more is the setting's default.
    """
    most = limit_of(limit, LIMIT)
    rows: Json = {
        "type": "integer", "minimum": 1, "maximum": most, "default": most,
        "description": "How many passages at most.",
    }  # fmt: skip
    retrieve: dict[str, Json] = {
        "type": "object",
        "properties": {"query": _QUERY, "top_k": rows, "file_ids": _FILES},
        "required": ["query"],
    }
    return _LISTING, ToolSpec("retrieve", _RETRIEVE, retrieve), _CHUNKS


def hosted(given: Mapping[str, Json], place: Place) -> dict[str, Json]:
    """Return a model's arguments with the host's own place, whatever the model says of it.

    >>> hosted({"query": "q", "thread_id": "another"}, Place("project", "p"))
    {'query': 'q', 'project_id': 'p', 'scope': 'project'}
    """
    own = {name: value for name, value in given.items() if name not in _HOSTS}
    return {**own, _PLACES[place.scope]: place.id, "scope": place.scope}


def answer_call(
    name: str,
    given: Mapping[str, Json],
    place: Place | None,
    attachments: Attachments,
    terms: Terms | None = None,
    known: Sequence[Hit] = (),
) -> ToolAnswer:
    """Answer a call; what goes wrong is an answer as well. `known` are the turn's hits so far."""
    fault: str | None = None
    if place is None or not place.id:
        fault = "nothing is attached: there is no thread and no project here"
    elif name not in _CALLS:
        fault = f"no tool {name!r}; there are: {', '.join(_CALLS)}"
    else:
        try:
            payload, hits = _CALLS[name](given, attachments, terms or Terms(), tuple(known))
            return ToolAnswer({**hosted({}, place), **payload}, ok=True, hits=hits)
        except Unusable as unusable:
            fault = str(unusable)
        except JanError as error:
            fault = error.message
    return ToolAnswer(fault, ok=False, hits=tuple(known))


def _list(
    given: Mapping[str, Json], attachments: Attachments, terms: Terms, known: tuple[Hit, ...]
) -> tuple[dict[str, Json], tuple[Hit, ...]]:
    listed: list[Json] = [
        {"id": each.id, "name": escaped(each.name), "chunk_count": each.chunks}
        for each in attachments.listed()
    ]
    return {"attachments": listed}, known


def _retrieve(
    given: Mapping[str, Json], attachments: Attachments, terms: Terms, known: tuple[Hit, ...]
) -> tuple[dict[str, Json], tuple[Hit, ...]]:
    query = query_of(given)
    k = rows_of(given.get("top_k"), limit_of(terms.limit, LIMIT))
    files = files_of(given, attachments.listed() if given.get("file_ids") else ())
    found = attachments.retrieve(query, k, terms.threshold, files)
    hits = numbered(known, found.hits[:k])
    cited: list[Json] = [_row(hit, hits) for hit in found.hits[:k]]
    notes: list[Json] = [*found.notes]
    return {
        "query": query,
        "citations": cited,
        "mode": found.mode,
        **({"about": DATA} if cited else {}),
        **({"notes": notes} if notes else {}),
    }, hits


def _chunks(
    given: Mapping[str, Json], attachments: Attachments, terms: Terms, known: tuple[Hit, ...]
) -> tuple[dict[str, Json], tuple[Hit, ...]]:
    name, (first, last) = with_text(given, "file_id"), order_of(given)
    file = file_of(name, attachments.listed())
    read = attachments.chunks(file, first, min(last, first + MOST_CHUNKS - 1))
    if not read:
        raise Unusable(f"{file.name!r} has {file.chunks} chunks, counted from 0: none at {first}")
    hits = numbered(known, read)
    end = read[-1].chunk.index
    left = min(last, file.chunks - 1) - end
    more: dict[str, Json] = (
        {"notes": [f"{left} more chunks: go on with start_order {end + 1}"]} if left > 0 else {}
    )
    listed: list[Json] = [_row(hit, hits) for hit in read]
    return {"file_id": file.id, "chunks": listed, "about": DATA, **more}, hits


def _row(hit: Hit, hits: Sequence[Hit]) -> Json:
    number = next(n for n, each in enumerate(hits, 1) if each.chunk.id == hit.chunk.id)
    chunk = hit.chunk
    row: dict[str, Json] = {"n": number, "id": chunk.id, "text": escaped(hit.text)}
    row |= {} if isnan(hit.score) else {"score": round(hit.score, 4)}
    row |= {"file_id": chunk.document_id, "source": escaped(hit.source)}
    row |= {"chunk_file_order": chunk.index}
    row |= {"headings": [escaped(each) for each in chunk.headings]} if chunk.headings else {}
    return row | ({} if chunk.page is None else {"page": chunk.page})


_HOSTS: Final = frozenset({*_PLACES.values(), "scope"})
_Call: TypeAlias = Callable[
    [Mapping[str, Json], Attachments, Terms, tuple[Hit, ...]],
    tuple[dict[str, Json], tuple[Hit, ...]],
]
_CALLS: Final[Mapping[str, _Call]] = MappingProxyType(
    {"list_attachments": _list, "retrieve": _retrieve, "get_chunks": _chunks}
)
