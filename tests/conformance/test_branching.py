"""Branches as Jan sees them, and where nothing may become invisible although Jan hides it."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.domain.branching import (
    backfill,
    make_sibling,
    plan_continuation,
    repair_detached,
)
from jan_magics.domain.links import has_branching
from jan_magics.domain.messages import UNLINKED, FilePart, Message, Parent, Part, TextPart
from jan_magics.domain.tree import TreeIndex
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas
from tests.domain import jan_algebra

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
LINKS: Final = ("parentId", "activeChildId")


# ------------------------------------------------------------------- JSON of the vectors <-> values


def parent_of(metadata: Mapping[str, Any]) -> Parent:
    parent = metadata.get("parentId", UNLINKED)
    return parent if parent is None or isinstance(parent, str) else UNLINKED


def part_of(item: Mapping[str, Any]) -> Part:
    if item["type"] == "text":
        return TextPart(item["text"]["value"])
    assert item["type"] == "image_url"
    return FilePart("image/*", url=item["image_url"]["url"])


def item_of(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": {"value": part.text, "annotations": []}}
    assert isinstance(part, FilePart)
    return {"type": "image_url", "image_url": {"url": part.url}}


def message_of(row: Mapping[str, Any]) -> Message:
    metadata = row.get("metadata", {})
    return Message(
        id=row["id"],
        thread_id=row.get("thread_id", "t"),
        role=row["role"],
        parts=tuple(map(part_of, row.get("content", ()))),
        created_at=EPOCH + timedelta(milliseconds=row.get("created_at", 0)),
        parent_id=parent_of(metadata),
        active_child_id=metadata.get("activeChildId"),
        metadata={key: value for key, value in metadata.items() if key not in LINKS},
        extra={key: row[key] for key in ("status", "completed_at") if key in row},
    )


def messages_of(rows: Iterable[Mapping[str, Any]]) -> list[Message]:
    return [message_of(row) for row in rows]


def index_of(given: Mapping[str, Any]) -> TreeIndex:
    return TreeIndex(messages_of(given["messages"]), active_root_id=given.get("active_root_id"))


def links_of(messages: Iterable[Message]) -> list[dict[str, Any]]:
    return [{"id": message.id, "parentId": message.parent_id} for message in messages]


# ---------------------------------------------------------------------------------------- adapters


def run_has_branching(given: Any) -> object:
    return has_branching(messages_of(given["messages"]))


def run_siblings(given: Any) -> object:
    index = index_of(given)
    number, count = index.version(given["message_id"])
    siblings = [message.id for message in index.siblings(given["message_id"])]
    return {"sibling_ids": siblings, "index": number, "count": count}


def run_active_path(given: Any) -> object:
    return [message.id for message in index_of(given).path()]


def run_backfill(given: Any) -> object:
    if given["path"] == "result of linear":
        linear = next(v for v in VECTORS if v.id == "branching.backfill/linear")
        return links_of(backfill(backfill(messages_of(linear.given["path"]))))
    return links_of(backfill(messages_of(given["path"])))


def run_make_sibling(given: Any) -> object:
    source = message_of(given["source"])
    now = EPOCH + timedelta(milliseconds=given["created_at"])
    sibling = make_sibling(source, given["id"], now, given["text"])
    time = (sibling.created_at - EPOCH) // timedelta(milliseconds=1)
    written = {"completed_at": time, "status": "ready"} | dict(sibling.extra)
    return written | {
        "id": sibling.id,
        "role": sibling.role,
        "created_at": time,
        "content": list(map(item_of, sibling.parts)),
        "metadata": {"parentId": sibling.parent_id, **sibling.metadata},
    }


def run_repair_detached(given: Any) -> object:
    index = index_of(given)
    changes = repair_detached(index)
    path = [message.id for message in index.after(changes).path()]
    return {"writes": links_of(changes.save), "path_after": path}


def run_plan_continuation(given: Any) -> object:
    plan = plan_continuation(
        index_of(given),
        reply_id=given["reply_id"],
        partial_id=given["partial_id"],
        fallback_parent_id=given["fallback_parent_id"],
    )
    return {"parentId": plan.parent_id, "deletePartialId": plan.delete_partial_id}


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {
        "branching.has_branching": run_has_branching,
        "branching.siblings": run_siblings,
        "branching.active_path": run_active_path,
        "branching.backfill": run_backfill,
        "branching.make_sibling": run_make_sibling,
        "branching.repair_detached": run_repair_detached,
        "branching.plan_continuation": run_plan_continuation,
    }
)

OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "branching.active_path/non_string_parent_is_legacy": Ours(
            ["u", "n"], "legacy messages in a branched thread stay reachable"
        ),
        "branching.active_path/orphan_subtree_hidden": Ours(
            ["r", "x", "y"], "when a parent was deleted nothing becomes invisible"
        ),
        "branching.active_path/self_parent_child_of_root_unreachable": Ours(
            ["r", "s"], "no cycle or self-parent hides a message"
        ),
    }
)

VECTORS: Final[tuple[Vector, ...]] = tuple(case.values[0] for case in of_areas(ADAPTERS))


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_branching(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    assert OURS.keys() <= {vector.id for vector in VECTORS}


# The law that Jan shows the path we show is worth what the reference algebra is worth.


@pytest.mark.parametrize("vector", of_areas({"branching.active_path": run_active_path}))
def test_reference_algebra_is_jans(vector: Vector) -> None:
    messages = messages_of(vector.given["messages"])
    path = jan_algebra.active_path(messages, vector.given["active_root_id"])
    assert [message.id for message in path] == vector.expected


@pytest.mark.parametrize("vector", of_areas({"branching.siblings": run_siblings}))
def test_reference_siblings_are_jans(vector: Vector) -> None:
    messages = messages_of(vector.given["messages"])
    one = next(message for message in messages if message.id == vector.given["message_id"])
    siblings = [message.id for message in jan_algebra.siblings(messages, one)]
    assert siblings == vector.expected["sibling_ids"]
