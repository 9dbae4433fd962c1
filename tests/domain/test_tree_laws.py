"""Laws of the tree: nothing becomes invisible, and Jan shows what we show.

The first kind of thread is wild: whatever a foreign hand, a crash or a merge may leave behind. The
second is one that only we wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.branching import (
    ERROR_MARKS,
    attach,
    backfill,
    delete,
    fork,
    make_sibling,
    repair_detached,
    select,
    settle_links,
)
from jan_magics.domain.messages import UNLINKED, Message, Parent, TextPart
from jan_magics.domain.tree import Changes, TreeIndex
from tests.domain import jan_algebra
from tests.domain.trees import at, links, message, names, stored

NAMES = ("u1", "a1", "u2", "a2", "u3", "a3", "u4", "a4")
GONE = ("gone1", "gone2", "gone3")
PARENTS: tuple[Parent, ...] = (UNLINKED, None, *GONE, *NAMES)


@st.composite
def wild_indexes(draw: st.DrawFn) -> TreeIndex:
    order = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=len(NAMES)))
    pointers = st.one_of(st.none(), st.sampled_from((*NAMES, *GONE)))
    messages = [
        message(
            name,
            draw(st.sampled_from(PARENTS)),
            draw(st.integers(0, 5)),
            draw(pointers),
        )
        for name in order
    ]
    tombstones = draw(st.dictionaries(st.sampled_from(GONE), pointers))
    return TreeIndex(messages, active_root_id=draw(pointers), tombstones=tombstones)


def path_through(index: TreeIndex, identifier: str) -> tuple[Message, ...]:
    """Return the path through a message to its last active descendant."""
    path = [*index.path_to(identifier)]
    while below := index.active_child(path[-1].id):
        path.append(below)
    return tuple(path)


def assert_whole(index: TreeIndex) -> None:
    """Every message is on a path, and paths, children and versions say the same."""
    for each in index.messages:
        path = path_through(index, each.id)
        assert each in path
        assert len(set(names(path))) == len(path)
        assert index.parent(path[0].id) is None
        for above, below in pairwise(path):
            assert index.parent(below.id) == above.id
        assert index.active_child(path[-1].id) is None
        siblings = index.siblings(each.id)
        n, m = index.version(each.id)
        assert (siblings[n - 1], len(siblings)) == (each, m)
        assert all(each in index.children(above.id) for above in index.path_to(each.id)[-2:-1])
    assert bool(index.path()) == bool(len(index))


@given(wild_indexes())
def test_every_message_is_reached(index: TreeIndex) -> None:
    assert_whole(index)


@given(wild_indexes())
def test_usable_links_are_followed(index: TreeIndex) -> None:
    for each in index.messages:
        if each.parent_id is None:
            assert index.parent(each.id) is None
    for each in index.path():
        assert path_through(index, each.id) == index.path()


@given(wild_indexes(), st.data())
def test_a_switch_shows_the_message_and_moves_none(index: TreeIndex, data: st.DataObject) -> None:
    for name in data.draw(st.permutations(names(index.messages))):
        changes = select(index, name)
        changed = index.after(changes)
        assert changed.path() == stored(index, changes).path()
        assert names(changed.path()) == names(path_through(index, name))
        assert links(changed) == links(index)
        assert select(changed, name) == Changes()
        index = changed


@given(wild_indexes(), st.data())
def test_no_order_of_deletions_hides_a_message(index: TreeIndex, data: st.DataObject) -> None:
    order = data.draw(st.permutations(names(index.messages)))
    for count, name in enumerate(order, start=1):
        index = index.after(delete(index, name))
        assert len(index) == len(order) - count
        assert_whole(index)


@given(wild_indexes())
def test_settled_links_show_the_same_to_jan(index: TreeIndex) -> None:
    settled = stored(index, settle_links(index))
    assert links(settled) == links(index)
    assert names(settled.path()) == names(index.path())
    assert settle_links(settled) == Changes()
    assert jan_algebra.active_path(settled.messages, settled.root_id) == list(settled.path())


@given(wild_indexes())
def test_repair_is_idempotent_and_hides_nothing(index: TreeIndex) -> None:
    repaired = stored(index, repair_detached(index))
    assert repair_detached(repaired) == Changes()
    assert_whole(repaired)


@given(wild_indexes())
def test_backfill_is_idempotent(index: TreeIndex) -> None:
    filled = backfill(index.path())
    assert backfill(filled) == ()
    assert not filled or names(TreeIndex(filled).path()) == names(index.path())


@given(wild_indexes(), st.sets(st.sampled_from(sorted(ERROR_MARKS))), st.text() | st.none())
def test_a_new_version_stands_beside_its_source(
    index: TreeIndex, marks: set[str], text: str | None
) -> None:
    for each in index.messages:
        source = Message(each.id, "t", each.role, each.parts, each.created_at, each.parent_id,
                         each.active_child_id, dict.fromkeys(marks, "x") | {"kept": 1})  # fmt: skip
        sibling = make_sibling(source, "new", at(9), text)
        assert sibling.active_child_id is None
        assert sibling.metadata == {"kept": 1}
        assert sibling.parts == (each.parts if text is None else (TextPart(text),))
        changed = index.after(fork(index, each.id, "new", at(9), text))
        assert changed.parent("new") == index.parent(each.id)
        assert names(changed.path()) == [*names(index.path_to(each.id))[:-1], "new"]
        assert_whole(changed)


# ------------------------------------------------------------------------- threads that we wrote


@dataclass(frozen=True)
class Step:
    """One act of a user; `target` picks a message, `pause` is the time before it."""

    act: str
    target: int
    pause: int


STEPS = st.builds(
    Step,
    st.sampled_from(("ask", "ask", "answer", "retry", "edit", "go", "new", "delete")),
    st.integers(0, 30),
    st.integers(0, 1),
)


def act(index: TreeIndex, step: Step, number: int, time: int) -> Changes:
    """Do what the engine does for that act."""
    new = {
        "new": message(f"u{number}", None, time),
        "answer": message(f"a{number}", time=time),
        "ask": message(f"u{number}", time=time),
    }
    if step.act in new or not len(index):
        return attach(index, new.get(step.act, new["ask"]))
    target = index.messages[step.target % len(index)]
    question = index.nearest_user(target.id)
    if step.act == "retry" and question is not None:
        return attach(index, message(f"a{number}", question.id, time))
    if step.act in ("retry", "edit"):
        return fork(index, target.id, f"{target.id[0]}{number}", at(time), "edited")
    return select(index, target.id) if step.act == "go" else delete(index, target.id)


def assert_jan_agrees(index: TreeIndex) -> None:
    messages = index.messages
    assert jan_algebra.active_path(messages, index.root_id) == list(index.path())
    assert jan_algebra.has_branching(messages) or not index.linked
    for each in messages if index.linked else ():
        assert jan_algebra.siblings(messages, each) == list(index.siblings(each.id))
        assert jan_algebra.active_child(messages, each) == index.active_child(each.id)


@given(st.integers(0, 4), st.lists(STEPS, max_size=12))
def test_jan_shows_the_path_that_we_show(legacy: int, steps: Sequence[Step]) -> None:
    index = TreeIndex([message(name, time=0) for name in NAMES[:legacy]])
    time = 1
    for number, step in enumerate(steps, start=10):
        time += step.pause
        changes = act(index, step, number, time)
        anew = stored(index, changes)
        index = index.after(changes)
        assert index.path() == anew.path()
        assert (links(index), index.leaves) == (links(anew), anew.leaves)
        assert_whole(index)
        assert_jan_agrees(index)


@given(st.integers(0, 4), st.lists(STEPS, max_size=12), st.integers(0, 30))
def test_a_deletion_takes_one_message_from_the_path(
    legacy: int, steps: Sequence[Step], target: int
) -> None:
    index = TreeIndex([message(name, time=0) for name in NAMES[:legacy]])
    for number, step in enumerate(steps, start=10):
        index = index.after(act(index, step, number, number))
    if not len(index):
        return
    gone = index.messages[target % len(index)].id
    left = [name for name in names(index.path()) if name != gone]
    after = names(index.after(delete(index, gone)).path())
    was_head = names(index.path())[-1:] == [gone]
    assert after == left or (was_head and after[: len(left)] == left)
