"""Any unique beginning of an id is the id."""

import pytest

from jan_magics.domain.errors import MessageNotFound, ThreadError
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.ids import SHORTEST, full_id, short_ids
from tests.domain.trees import message

IDS = ("a1b2c3d4e5", "a1b2c3d4e6", "a1ffffffff", "b000000000", "b0000000001")


@pytest.fixture
def index() -> TreeIndex:
    return TreeIndex([message(name, None, n) for n, name in enumerate(IDS)])


def test_shown_ids_are_unique_and_short(index: TreeIndex) -> None:
    short = short_ids(index)
    assert [short[name] for name in IDS] == [
        "a1b2c3d4e5", "a1b2c3d4e6", "a1ffff", "b000000000", "b0000000001",
    ]  # fmt: skip
    assert all(full_id(index, short[name]) == name for name in IDS)
    assert all(len(each) >= SHORTEST for each in short.values())
    assert short_ids(TreeIndex()) == {}


def test_what_several_begin_with_is_told_with_more_of_it(index: TreeIndex) -> None:
    with pytest.raises(ThreadError, match="2 messages") as caught:
        full_id(index, "a1b2")
    assert "a1b2c3d4e5, a1b2c3d4e6" in caught.value.next_step
    assert full_id(index, "b000000000") == "b000000000"  # a whole id is never ambiguous


@pytest.mark.parametrize(
    ("prefix", "said", "step"),
    [
        ("1", "'1' is a number", "%chat go N"),
        ("000", "'000' is a number", "%chat tree"),
        ("b00", "'b00' is too short", "at least 4 characters"),
        ("一二三", "'一二三' is too short", "at least 4 characters"),
    ],
)
def test_what_is_too_short_names_nothing(
    index: TreeIndex, prefix: str, said: str, step: str
) -> None:
    with pytest.raises(ThreadError, match=said) as caught:
        full_id(index, prefix)
    assert step in caught.value.next_step


@pytest.mark.parametrize("prefix", ["cccc", "", "a1b2c3d4e5f"])
def test_what_nothing_begins_with_is_not_found(index: TreeIndex, prefix: str) -> None:
    with pytest.raises(MessageNotFound):
        full_id(index, prefix)
