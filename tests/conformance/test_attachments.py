"""Where attached files go, beside Jan's, and what we do otherwise."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.domain.messages import FilePart
from jan_magics.engine.attachments import in_order, route
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas

READ: Final = "a file is read once, before it is decided where it goes, and by the same readers"
COUNTED: Final = "tokens are always counted: there is no mode for when they are not"
NO_ID: Final = "an image is a part of its question, and needs no id"
MEDIA: Final = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}


def run_route(given: Any) -> object:
    options, rows = given["options"], given["attachments"]
    media = in_order(
        FilePart(MEDIA[each["type"]], each["name"].encode())
        for each in rows
        if each["type"] != "document"
    )
    shown = [(None, None, None) for _ in media]
    calls: list[list[str]] = []
    documents = (each for each in rows if each["type"] == "document")
    shown.extend(_document(each, options, given["parse"], calls) for each in documents)
    modes, ids, inline = zip(*shown, strict=True)
    return {
        "modes": list(modes), "ids": list(ids), "inline": list(inline),
        "has_embedded": any(ids), "calls": calls,
    }  # fmt: skip


def _document(
    row: Mapping[str, Any], options: Mapping[str, Any], text: str, calls: list[list[str]]
) -> tuple[Any, Any, Any]:
    if row.get("processed"):
        return row.get("injectionMode"), row.get("id"), row.get("inlineContent")
    calls.append(["parse"])
    wanted = row.get("parseMode") or options.get("parsePreference") or "auto"
    chosen = options.get("choices", {}).get(row["path"])
    wanted = chosen or ("embeddings" if wanted == "prompt" else wanted)
    tokens = options.get("est", 1 if wanted == "inline" and text else None)
    project = options.get("projectId")
    mode = route(tokens, options.get("contextThreshold", 0), wanted=wanted, project=bool(project))
    if mode == "inline":
        return mode, None, text
    calls.append(["project" if project else "thread", row["name"]])
    return mode, "P" if project else "D", None


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType({"attachments.route": run_route})


def embedded(owner: str = "thread", name: str = "D") -> dict[str, Any]:
    return {
        "modes": ["embeddings"], "ids": [name], "inline": [None], "has_embedded": True,
        "calls": [["parse"], [owner, "d.pdf"]],
    }  # fmt: skip


OURS: Final[Mapping[str, Ours]] = MappingProxyType({
    "attachments.route/auto_fallback_inline": Ours(embedded(), COUNTED),
    "attachments.route/doc_mode_overrides_pref": Ours(embedded(), READ),
    "attachments.route/doc_failure_raises": Ours(
        embedded(), "a file that fails is a line in the footer, and the others are sent"
    ),
    "attachments.route/project_forces_embed": Ours(embedded("project", "P"), READ),
    "attachments.route/order_images_audio_video_docs": Ours(
        {
            "modes": [None, None, None, "embeddings"], "ids": [None, None, None, "D"],
            "inline": [None, None, None, None], "has_embedded": True,
            "calls": [["parse"], ["thread", "d.pdf"]],
        },
        NO_ID,
    ),
})  # fmt: skip


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_where_files_go(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    known = {case.values[0].id for case in of_areas(ADAPTERS)}
    assert OURS.keys() <= known
