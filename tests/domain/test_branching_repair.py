"""Plans for what goes and for what was found broken: deletion, repair, continuation."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from jan_magics.domain.branching import (
    Continuation,
    delete,
    plan_continuation,
    repair_detached,
    select,
    settle_links,
)
from jan_magics.domain.errors import MessageNotFound
from jan_magics.domain.messages import Message, Parent
from jan_magics.domain.tree import KEEP, Changes, TreeIndex
from tests.domain.trees import FORKED, LEGACY, ROOTS, links, message, names, parents, stored


@dataclass(frozen=True)
class Delete:
    id: str
    given: tuple[Message, ...]
    gone: str
    want: list[str]
    saved: dict[str, Parent]
    root: object = KEEP
    named: str | None = None


DELETED = (
    Delete("the middle of the path", FORKED, "a2", ["u1", "u3"], {"u3": "u1"}),
    Delete("the head", FORKED, "u3", ["u1", "a2"], {}),
    Delete(
        "another branch, whose children are newer",
        (*FORKED[:4], message("u3", "a1", 5)),
        "a1",
        ["u1", "a2"],
        {"u2": "u1", "u3": "u1", "u1": None},
    ),
    Delete(
        "a version that is shown gives way to the newest",
        (message("u1", None, 1, "a1"), message("a1", "u1", 2), message("a2", "u1", 3)),
        "a1",
        ["u1", "a2"],
        {"u1": None},
    ),
    Delete(
        "the only answer",
        (message("u1", None, 1, "a1"), message("a1", "u1", 2)),
        "a1",
        ["u1"],
        {"u1": None},
    ),
    Delete("a root gives way to its child", FORKED, "u1", ["a2", "u3"], {"a1": None, "a2": None}),
    Delete(
        "a root that was named", FORKED, "u1", ["a2", "u3"], {"a1": None, "a2": None}, "a2", "u1"
    ),
    Delete("one root of two", ROOTS, "u9", ["u1", "a2", "u3"], {}, "u1", "u9"),
    Delete(
        "a root that is not shown",
        (message("u1", None, 1), message("u2", None, 2), message("a1", "u1", 3)),
        "u1",
        ["u2"],
        {"a1": None},
        "u2",
    ),
    Delete("the last message", (message("u1", None, 1),), "u1", [], {}, None, "u1"),
    Delete("a legacy message", LEGACY, "a1", ["u1", "u2", "a2"], {}),
    Delete(
        "equal times leave nothing to chance",
        (message("u1", None), message("a3", "u1"), message("a2", "u1"), message("u3", "a3")),
        "a3",
        ["u1", "a2"],
        {"u3": "u1", "u1": None},
    ),
    Delete(
        "legacy children take the place",
        (*FORKED, message("u8", time=8)),
        "u3",
        ["u1", "a2", "u8"],
        {"u8": "a2"},
    ),
)


@pytest.mark.parametrize("case", DELETED, ids=lambda case: case.id)
def test_delete(case: Delete) -> None:
    index = TreeIndex(case.given, active_root_id=case.named)
    changes = delete(index, case.gone)
    assert parents(changes) == case.saved
    assert (changes.active_root_id, changes.deleted) == (case.root, (case.gone,))
    assert names(stored(index, changes).path()) == case.want


def test_repair_links_answers_that_lost_their_question() -> None:
    index = TreeIndex(
        [
            message("u1", None, 1),
            message("a1", None, 2),
            message("u2", "u1", 3),
            message("a2", time=4),
        ]
    )
    changes = repair_detached(index)
    assert parents(changes) == {"a1": "u1", "u2": "a1", "a2": "u2"}
    assert repair_detached(stored(index, changes)) == Changes()


REPAIRED = (
    ("legacy thread", LEGACY),
    ("empty thread", ()),
    ("no question before", (message("a1", None, 1), message("u1", None, 2))),
    (
        "versions of an opening answer",
        (message("a1", None, 1), message("u1", "a1", 2), message("a2", None, 3)),
    ),
    ("healthy", FORKED),
)


@pytest.mark.parametrize(
    "given", [given for _, given in REPAIRED], ids=[name for name, _ in REPAIRED]
)
def test_repair_leaves_alone(given: tuple[Message, ...]) -> None:
    assert repair_detached(TreeIndex(given)) == Changes()


def test_repair_moves_no_question_that_is_older_than_the_answer() -> None:
    older = [message("u1", None, 1), message("u2", "u1", 2), message("u3", "u1", 3)]
    index = TreeIndex([*older, message("u4", "u3", 0), message("a9", time=9)])
    assert parents(repair_detached(index)) == {"a9": "u3"}


def test_settling_writes_the_view() -> None:
    index = TreeIndex([*FORKED, message("a8", "gone", 8), message("u9", time=9)])
    changes = settle_links(index)
    assert parents(changes) == {"a8": "u3", "u9": "a8"}
    assert links(stored(index, changes)) == links(index)
    assert settle_links(TreeIndex(LEGACY)) == Changes()


@dataclass(frozen=True)
class Continued:
    id: str
    partial: str | None
    fallback: str | None
    want: Continuation
    reply: str = "new"


@pytest.mark.parametrize(
    "case",
    [
        Continued("beside the partial answer", "a2", None, Continuation("u1", "a2")),
        Continued("the reply itself is kept", "a2", None, Continuation("u1", None), "a2"),
        Continued("a partial answer that is gone", "zz", "u1", Continuation("u1", None)),
        Continued("no partial answer", None, "u3", Continuation("u3", None)),
        Continued("a partial answer without a question", "u1", "u3", Continuation("u3", "u1")),
    ],
    ids=lambda case: case.id,
)
def test_continuation(case: Continued) -> None:
    plan = plan_continuation(
        TreeIndex(FORKED),
        reply_id=case.reply,
        partial_id=case.partial,
        fallback_parent_id=case.fallback,
    )
    assert plan == case.want


@pytest.mark.parametrize("plan", [select, delete])
def test_unknown_message(plan: Callable[[TreeIndex, str], Changes]) -> None:
    with pytest.raises(MessageNotFound, match="no message 'zz'"):
        plan(TreeIndex(FORKED), "zz")
