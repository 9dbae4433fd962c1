"""The three tools by which a model looks things up, beside Jan's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.domain.retrieval import Chunk, Hit
from jan_magics.rag.attached import Attached, Retrieved
from jan_magics.rag.blocks import DATA
from jan_magics.rag.tools import Place, Scope, answer_call, hosted, tool_specs
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas


@dataclass
class Files:
    """One file of two chunks, in which a thread finds something and a project does not."""

    owner: str
    hits: bool
    file: Attached
    calls: list[object] = field(default_factory=list)

    def listed(self) -> Sequence[Attached]:
        return [self.file]

    def retrieve(
        self, query: str, k: int, threshold: float | None, files: Sequence[Attached] | None
    ) -> Retrieved:
        names = None if files is None else [file.id for file in files]
        self.calls += [self.owner, [len(query), 1], k, threshold, "auto", names]
        hit = Hit(Chunk("c", "f1", 0, 0, 1, 1), "a", "t", 1, 0.9, "cosine")
        return Retrieved((hit,) if self.hits else (), "auto")

    def chunks(self, file: Attached, first: int, last: int) -> Sequence[Hit]:
        self.calls += [self.owner, file.id, first, last]
        return [Hit(Chunk("c", file.id, 0, 0, 1, 1), file.name, "t", 1, nan, "order")]


def place_of(given: Mapping[str, Any]) -> Place | None:
    scope: Scope = "project" if given.get("scope") == "project" else "thread"
    owner = given.get("project_id" if scope == "project" else "thread_id")
    return Place(scope, owner) if owner else None


def run_call(given: Any) -> object:
    place = place_of(given["args"])
    file = Attached(given["args"].get("file_id", "f1"), "a", 2)
    files = Files(place.id if place else "", bool(place and place.scope == "thread"), file)
    made = answer_call(given["tool"], given["args"], place, files)
    payload = made.payload if made.ok else None
    return {"ok": made.ok, "payload": payload, "backend_call": files.calls or None}


def run_schema(given: Any) -> object:
    specs = tool_specs(given["retrieval_limit"])
    properties: Any = specs[1].parameters["properties"]
    bounds = {name: properties["top_k"][name] for name in ("minimum", "maximum", "default")}
    return {"names": [spec.name for spec in specs], "top_k": bounds}


def run_inject(given: Any) -> object:
    owner = given["project_id"] if given["scope"] == "project" else given["thread_id"]
    return hosted(given["model_args"], Place(given["scope"], owner))


def schema(limit: int) -> dict[str, object]:
    names = ["list_attachments", "retrieve", "get_chunks"]
    return {"names": names, "top_k": {"minimum": 1, "maximum": limit, "default": limit}}


def called(payload: Mapping[str, object], *call: object) -> dict[str, object]:
    return {"ok": True, "payload": payload, "backend_call": list(call)}


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {"rag.call_tool": run_call, "rag.tool_schema": run_schema, "rag.inject_context": run_inject}
)
BUILT_IN: Final = "our tools are built in: they have no server"
PASSAGE: Final = "a passage has a number and a source, and is said to be data"
ROW: Final[Mapping[str, object]] = MappingProxyType({
    "n": 1, "id": "c", "text": "t", "score": 0.9, "file_id": "f1", "source": "a",
    "chunk_file_order": 0,
})  # fmt: skip
THREAD: Final[Mapping[str, object]] = MappingProxyType({"thread_id": "t", "scope": "thread"})
FOUND: Final[Mapping[str, object]] = MappingProxyType(
    {**THREAD, "citations": [dict(ROW)], "mode": "auto", "about": DATA}
)
OURS: Final[Mapping[str, Ours]] = MappingProxyType({
    "rag.tool_schema/limit_five": Ours(schema(5), BUILT_IN),
    "rag.tool_schema/limit_fraction": Ours(schema(2), f"{BUILT_IN}; rows are whole"),
    "rag.tool_schema/limit_nan_string": Ours(schema(3), BUILT_IN),
    "rag.tool_schema/limit_null": Ours(schema(3), BUILT_IN),
    "rag.tool_schema/limit_numeric_string": Ours(schema(7), BUILT_IN),
    "rag.call_tool/retrieve_thread": Ours(
        called({**FOUND, "query": "abc"}, "t", [3, 1], 3, 0.3, "auto", None), PASSAGE
    ),
    "rag.call_tool/retrieve_file_ids_passed": Ours(
        called({**FOUND, "query": "q"}, "t", [1, 1], 3, 0.3, "auto", ["f1"]), PASSAGE
    ),
    "rag.call_tool/retrieve_project_uses_project_id": Ours(
        called(
            {"project_id": "p", "scope": "project", "query": "q", "citations": [], "mode": "auto"},
            "p", [1, 1], 3, 0.3, "auto", None,
        ),
        "only the place that is meant is named",
    ),
    "rag.call_tool/get_chunks_zero_is_valid": Ours(
        called(
            {
                **THREAD, "file_id": "f", "about": DATA,
                "chunks": [{
                    "n": 1, "id": "c", "text": "t", "file_id": "f", "source": "a",
                    "chunk_file_order": 0,
                }],
            },
            "t", "f", 0, 0,
        ),
        PASSAGE,
    ),
})  # fmt: skip


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_as_jan_does(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)
