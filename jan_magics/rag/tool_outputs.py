"""The sources in what a tool gave back: chunks of a retrieval tool, or pages of a web search."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from jan_magics.domain.messages import Json

_LISTS: Final = ("results", "citations", "sources", "data")
"""Where tools put pages, the first one first."""


@dataclass(frozen=True, slots=True)
class ToolSources:
    """Sources as a tool gave them: chunks with `id`, `text` and `file_id`, or pages with `url`.

    `scope` and `project` are known of chunks, `query` of pages, where the tool says them.
    """

    kind: Literal["rag", "web"]
    sources: tuple[Mapping[str, Json], ...]
    query: str | None = None
    scope: Literal["thread", "project"] | None = None
    project: str | None = None


def read_sources(output: Json) -> ToolSources | None:
    """Return the sources in the output of a tool, None where there are none.

    Looked for in JSON that stands as text in the output, in its items or in its `content`, then
    in the output itself. Chunks go before pages.
    """
    for candidate in (*_parsed(output), output):
        if found := _chunks(candidate) or _pages(candidate):
            return found
    return None


def _parsed(output: Json) -> Iterator[Json]:
    content = output.get("content") if isinstance(output, dict) else output
    for item in content if isinstance(content, list) else [content]:
        text = item.get("text") if isinstance(item, dict) else item
        if isinstance(text, str):
            try:
                yield json.loads(text)
            except (ValueError, RecursionError):
                continue


def _chunks(value: Json) -> ToolSources | None:
    listed = value.get("citations") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(listed, list):
        return None
    held = tuple(
        each
        for each in listed
        if isinstance(each, dict)
        and all(isinstance(each.get(name), str) for name in ("id", "text", "file_id"))
    )
    if not held:
        return None
    scope: Literal["thread", "project"] = "project" if value.get("scope") == "project" else "thread"
    project = value.get("project_id")
    known = project if isinstance(project, str) and project else None
    return ToolSources("rag", held, scope=scope, project=known)


def _pages(value: Json) -> ToolSources | None:
    for listed in [value.get(name) for name in _LISTS] if isinstance(value, dict) else [value]:
        held = tuple(
            each
            for each in (listed if isinstance(listed, list) else [])
            if isinstance(each, dict) and _is_address(each.get("url"))
        )
        if held:
            query = value.get("query") if isinstance(value, dict) else None
            return ToolSources("web", held, query if isinstance(query, str) else None)
    return None


def _is_address(url: Json) -> bool:
    return isinstance(url, str) and url.startswith(("http://", "https://"))
