"""What the tools of others gave an answer to cite: passages and web pages, as rows of sources."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Final

from jan_magics.domain.messages import Json, Message, ToolResultPart
from jan_magics.domain.source_marks import numbers_of, source_marks
from jan_magics.rag.tool_outputs import read_sources

_TEXTS: Final = ("text", "snippet", "content", "description", "summary")
"""Where tools put what a page says, the first one first."""


def tool_sources(answer: Message, text: str) -> list[dict[str, Any]]:
    """Return a row a source in the results of an answer's tools, each source once.

    A source keeps the number that its tool gave it, else has that of its place. `cited`: its
    number or its address stands in the text of the answer.
    """
    rows: dict[str, dict[str, Any]] = {}
    for given in _given(answer):
        row = _row(given)
        rows.setdefault(row["chunk"] or row["source"], row)
    listed = list(rows.values())
    known = max((row["n"] or place for place, row in enumerate(listed, 1)), default=0)
    cited = {n for mark in source_marks(text) for n in numbers_of(mark, known)}
    for place, row in enumerate(listed, 1):
        row["n"] = row["n"] or place
        row["cited"] = row["n"] in cited or (row["chunk"] is None and row["source"] in text)
    return listed


def _given(answer: Message) -> Iterator[Mapping[str, Json]]:
    for part in answer.parts:
        found = read_sources(part.output) if isinstance(part, ToolResultPart) else None
        yield from found.sources if found else ()


def _row(given: Mapping[str, Json]) -> dict[str, Any]:
    score = _real(given.get("score"))
    texts = (given.get(name) for name in _TEXTS)
    headings = given.get("headings")
    return {
        "n": _whole(given.get("n")), "score": score, "used": True,
        "source": _first(given, "url", "source", "file_id"),
        "headings": " › ".join(map(str, headings)) if isinstance(headings, list)
        else _first(given, "title"),
        "page": _whole(given.get("page")), "metric": None if score is None else "tool",
        "chunk": None if "url" in given else _first(given, "id"),
        "text": next((each for each in texts if isinstance(each, str)), None),
    }  # fmt: skip


def _first(given: Mapping[str, Json], *names: str) -> str | None:
    return next((each for name in names if isinstance(each := given.get(name), str)), None)


def _whole(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _real(value: Json) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if isfinite(value) else None
