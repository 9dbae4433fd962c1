"""The index of a thread: links as written, and a place for what has none."""

from dataclasses import dataclass, field
from types import MappingProxyType

import pytest

from jan_magics.domain.branching import attach, delete, select
from jan_magics.domain.errors import MessageNotFound
from jan_magics.domain.messages import Message
from jan_magics.domain.tree import Changes, TreeIndex
from tests.domain.trees import links, message, names, stored

FORKED = (
    message("u1", None, 1),
    message("a1", "u1", 2),
    message("u2", "a1", 3),
    message("a2", "u1", 4),
    message("u3", "a2", 5),
    message("a3", "u3", 6),
)


@dataclass(frozen=True)
class Case:
    id: str
    given: tuple[Message, ...]
    want: list[str]
    root: str | None = None
    tombstones: dict[str, str | None] = field(default_factory=dict)


PATHS = (
    Case("empty thread", (), []),
    Case(
        "no link keeps the order of writing", (message("u1", time=9), message("a1")), ["u1", "a1"]
    ),
    Case(
        "a named child is no link",
        (message("u1", time=9, active="a1"), message("a1")),
        ["u1", "a1"],
    ),
    Case("newest child by default", FORKED, ["u1", "a2", "u3", "a3"]),
    Case(
        "named child",
        (message("u1", None, 1, "a1"), *FORKED[1:]),
        ["u1", "a1", "u2"],
    ),
    Case(
        "a child named that is none falls back to the newest",
        (message("u1", None, 1, "u2"), *FORKED[1:]),
        ["u1", "a2", "u3", "a3"],
    ),
    Case("newest root by default", (*FORKED, message("u9", None, 9)), ["u9"]),
    Case("named root", (*FORKED, message("u9", None, 9)), ["u1", "a2", "u3", "a3"], root="u1"),
    Case("a root named that is none", (*FORKED, message("u9", None, 9)), ["u9"], root="a1"),
    Case(
        "equal times keep the order of writing",
        (message("u1", None), message("a1", "u1"), message("a2", "u1")),
        ["u1", "a2"],
    ),
    Case(
        "an orphan hangs below the message before it",
        (message("u1", None, 1), message("a1", "gone", 2), message("u2", "a1", 3)),
        ["u1", "a1", "u2"],
    ),
    Case(
        "an orphan hangs below the tombstone's parent",
        (*FORKED, message("a4", "gone", 9)),
        ["u1", "a2", "u3", "a4"],
        tombstones={"gone": "u3"},
    ),
    Case(
        "tombstones lead on to the first that is left",
        (*FORKED, message("a4", "gone", 9)),
        ["u1", "a4"],
        tombstones={"gone": "gone2", "gone2": "u1"},
    ),
    Case(
        "a deleted root leaves roots",
        (message("u1", None, 1), message("a1", "gone", 2)),
        ["a1"],
        tombstones={"gone": None},
    ),
    Case(
        "a ring of tombstones is no place",
        (message("u1", None, 1), message("a1", "gone", 2)),
        ["u1", "a1"],
        tombstones={"gone": "gone2", "gone2": "gone"},
    ),
    Case(
        "no root is left",
        (message("a1", "gone", 2), message("u2", "a1", 3)),
        ["a1", "u2"],
    ),
    Case(
        "a cycle is cut above its earliest message",
        (message("u1", None, 1), message("u3", "a2", 4), message("a2", "u3", 3)),
        ["u1", "a2", "u3"],
    ),
    Case(
        "its own parent",
        (message("u1", None, 1), message("a1", "a1", 2)),
        ["u1", "a1"],
    ),
    Case(
        "a tombstone that leads back to the message itself",
        (message("u1", None, 1), message("a1", "gone", 2)),
        ["u1", "a1"],
        tombstones={"gone": "a1"},
    ),
    Case(
        "legacy messages after branched ones",
        (*FORKED, message("u8", time=8), message("a9", time=9)),
        ["u1", "a2", "u3", "a3", "u8", "a9"],
    ),
    Case(
        "a legacy message before all others becomes the root",
        (message("u1", time=1), message("a1", "u1", 2)),
        ["u1", "a1"],
    ),
    Case(
        "a child older than its lost parent's place",
        (message("u1", None, 1), message("a2", "a1", 0), message("a1", "gone", 2)),
        ["u1", "a1", "a2"],
    ),
)


@pytest.mark.parametrize("case", PATHS, ids=lambda case: case.id)
def test_active_path(case: Case) -> None:
    index = TreeIndex(case.given, active_root_id=case.root, tombstones=case.tombstones)
    assert names(index.path()) == case.want


def test_view_leaves_stored_links_alone() -> None:
    index = TreeIndex([*FORKED, message("a8", "gone", 8), message("u9", time=9)])
    assert (index["a8"].parent_id, index.parent("a8")) == ("gone", "a3")
    assert index["u9"] == message("u9", time=9)


def test_orphans_of_one_lost_parent_stay_siblings() -> None:
    index = TreeIndex([*FORKED, message("a9", "gone", 9), message("a8", "gone", 8)])
    assert names(index.siblings("a9")) == ["a8", "a9"]
    assert index.parent("a9") == "a3"


def test_versions_count_from_one_by_time() -> None:
    index = TreeIndex(FORKED)
    assert [index.version(name) for name in ("u1", "a1", "a2", "u2")] == [
        (1, 1),
        (1, 2),
        (2, 2),
        (1, 1),
    ]


def test_questions_about_one_message() -> None:
    index = TreeIndex(FORKED)
    child, user = index.active_child("u1"), index.nearest_user("a2")
    assert names(index.children("u1")) == ["a1", "a2"]
    assert child is not None
    assert user is not None
    assert (child.id, user.id) == ("a2", "u1")
    assert index.active_child("a3") is None
    assert index.nearest_user("u3") is index["u3"]
    assert names(index.path_to("u2")) == ["u1", "a1", "u2"]


def test_questions_about_the_whole() -> None:
    index, empty = TreeIndex(FORKED), TreeIndex()
    assert (len(index), index.leaves, index.linked, index.head()) == (6, 2, True, index["a3"])
    assert (len(empty), empty.leaves, empty.linked, empty.head()) == (0, 0, False, None)
    assert empty.active_root() is None
    assert "a1" in index
    assert "a9" not in index


@pytest.mark.parametrize(
    "ask",
    ["parent", "children", "active_child", "siblings", "version", "path_to"],
)
def test_unknown_message(ask: str) -> None:
    with pytest.raises(MessageNotFound, match="no message 'zz'"):
        getattr(TreeIndex(FORKED), ask)("zz")


def test_first_of_two_with_one_id_counts() -> None:
    index = TreeIndex([message("u1", None, 1), message("u1", "u1", 2), message("a1", "u1", 3)])
    assert names(index.path()) == ["u1", "a1"]
    assert index["u1"].parent_id is None


def test_index_takes_no_later_change_of_its_arguments() -> None:
    tombstones: dict[str, str | None] = {"gone": "u1"}
    index = TreeIndex([*FORKED, message("a9", "gone", 9)], tombstones=tombstones)
    tombstones["gone"] = "u3"
    assert index.resolve("gone") == "u1"
    assert index.resolve("nobody") == "nobody"


AFTER: MappingProxyType[str, Changes] = MappingProxyType(
    {
        "nothing": Changes(),
        "a switch": select(TreeIndex(FORKED), "u2"),
        "a deletion": delete(TreeIndex(FORKED), "a2"),
        "a new message at the head": attach(TreeIndex(FORKED), message("u9", time=9)),
        "a new root": attach(TreeIndex(FORKED), message("u9", None, 9)),
        "a new message that is older": Changes((message("a0", "u1", 0),)),
        "a new message without a link": Changes((message("u9", time=9),)),
        "a new message below nobody": Changes((message("u9", "gone", 9),)),
        "two new messages": Changes((message("u9", "a3", 9), message("a9", "u9", 10))),
        "a moved message": Changes((message("u2", "u1", 3),)),
        "another time": Changes((message("a1", "u1", 9),)),
    }
)


@pytest.mark.parametrize("changes", AFTER.values(), ids=AFTER.keys())
def test_after_changes_the_index_is_as_if_built_anew(changes: Changes) -> None:
    index = TreeIndex(FORKED)
    before = names(index.path())
    changed, anew = index.after(changes), stored(index, changes)
    assert changed.path() == anew.path()
    assert links(changed) == links(anew)
    assert [names(changed.children(name)) for name in names(anew.messages)] == [
        names(anew.children(name)) for name in names(anew.messages)
    ]
    assert names(index.path()) == before


def test_a_child_written_after_its_parent_was_deleted_is_found() -> None:
    index = TreeIndex(FORKED)
    index = index.after(delete(index, "a2")).after(Changes((message("u9", "a2", 9),)))
    assert index.parent("u9") == "u1"


def test_deep_threads_need_no_recursion() -> None:
    chain = [message("m0", None)]
    chain += [message(f"m{n}", f"m{n - 1}", n) for n in range(1, 20_000)]
    ring = [message("m0", "m19999"), *chain[1:]]
    assert len(TreeIndex(chain).path()) == len(TreeIndex(ring).path()) == 20_000
