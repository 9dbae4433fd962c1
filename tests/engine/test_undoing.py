"""Undo takes back what was changed, also after a restart; what was sent stays sent."""

import pytest

from jan_magics.domain.errors import ServerFailed, ThreadError
from jan_magics.engine.branches import begin, drop, edit_answer, go
from jan_magics.engine.undoing import bring_back, delete_thread, rename_thread, undo
from jan_magics.storage.upkeep import Upkeep
from tests.engine.threads import Kernel


def test_a_branch_that_a_cell_left_comes_back(kernel: Kernel) -> None:
    kernel.ask("one", cell="a")
    kernel.ask("two", cell="b")
    kernel.ask("one", cell="a")
    assert kernel.path() == ["one", "one"]
    kernel.open()
    said, view = undo(kernel.session)
    assert said == "the change of branch; the path leads to «two» again"
    assert kernel.path() == ["one", "one", "two", "two"] == [*kernel.path()]
    assert view.path() == kernel.session.view().path()
    with pytest.raises(ThreadError, match="no change to take back"):
        undo(kernel.session)


def test_each_undo_goes_one_further_back(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask(aim="retry")
    first, second = (message.id for message in kernel.session.view().index.messages[1:])
    go(kernel.session, 1)
    drop(kernel.session, kernel.id(0))
    edit_answer(kernel.session, kernel.id(1), "mine")
    ends = []
    for _ in range(3):
        undo(kernel.session)
        view = kernel.session.view()
        ends.append((view.path()[-1].id, len(view.hidden)))
    assert ends == [(first, 1), (first, 0), (second, 0)]
    go(kernel.session, 1)  # a new change is the last again
    undo(kernel.session)
    assert kernel.id(1) == second


def test_a_sent_turn_is_no_change(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask("two")
    with pytest.raises(ThreadError) as caught:
        undo(kernel.session)
    assert "%chat tree" in caught.value.next_step
    assert kernel.path() == ["one", "one", "two", "two"]


def shown(kernel: Kernel) -> list[str]:
    return [message.id for message in kernel.session.view().path()]


def test_each_version_that_was_left_is_one_step_back(kernel: Kernel) -> None:
    for cell in ("a", "b", "c"):
        kernel.ask(cell, cell=cell)
    paths = [shown(kernel)]
    for again in ("b", "b", "b changed", "b changed"):
        kernel.ask(again, cell="b")
        paths.append(shown(kernel))
    kernel.ask(aim="retry")
    kernel.open()
    for path in reversed(paths):
        undo(kernel.session)
        assert shown(kernel) == path
    with pytest.raises(ThreadError, match="no change to take back"):
        undo(kernel.session)


def test_a_turn_that_failed_without_a_word_is_no_step(kernel: Kernel) -> None:
    kernel.ask("one")
    first = shown(kernel)
    kernel.ask(aim="retry")
    with pytest.raises(ServerFailed):
        kernel.ask(aim="retry", options={"parameters": {"fail": "before"}})
    undo(kernel.session)
    assert shown(kernel) == first


def test_a_root_branch_is_taken_back_before_and_after_its_first_turn(kernel: Kernel) -> None:
    begin(kernel.session, "notes")
    kernel.ask("one")
    begin(kernel.session, "notes")
    undo(kernel.session)
    assert kernel.path() == ["one", "one"]
    begin(kernel.session, "notes")
    kernel.ask("two")
    assert kernel.path() == ["two", "two"]
    undo(kernel.session)
    assert kernel.path() == ["one", "one"]
    kernel.ask("three")
    assert kernel.path() == ["one", "one", "three", "three"]


def test_undoing_a_leap_from_a_branch_that_had_not_begun(kernel: Kernel) -> None:
    begin(kernel.session, "notes")
    kernel.ask("one")
    begin(kernel.session, "notes")
    go(kernel.session, 1)
    undo(kernel.session)
    assert kernel.path() == []
    undo(kernel.session)
    assert kernel.path() == ["one", "one"]


def test_a_deleted_thread_comes_back(kernel: Kernel) -> None:
    kernel.ask("mine")
    begin(kernel.session, "notes")
    kernel.ask("one")
    delete_thread(kernel.session, "notes")
    assert kernel.path() == ["mine", "mine"]  # the notebook's own
    kernel.open()
    said, _ = undo(kernel.session)
    assert said == "the deletion of notes"
    begin(kernel.session, "notes")
    go(kernel.session, "prev")
    assert kernel.path() == ["one", "one"]


def test_undo_passes_over_a_thread_that_is_back(kernel: Kernel) -> None:
    kernel.ask("mine")
    begin(kernel.session, "notes")
    kernel.ask("one")
    kernel.ask(aim="retry")
    go(kernel.session, 1)
    begin(kernel.session, "other")
    kernel.ask("two")
    other = kernel.session.current()
    begin(kernel.session, "notes")
    go(kernel.session, "prev")
    assert other
    delete_thread(kernel.session, "other")
    bring_back(kernel.session, other.id)
    assert kernel.session.threads.existing("other") == other
    said, _ = undo(kernel.session)
    assert said.startswith("the change of branch")


@pytest.mark.parametrize("restarted", [False, True])
def test_the_only_thread_comes_back(kernel: Kernel, restarted: bool) -> None:
    kernel.ask("one")
    thread = kernel.session.current()
    assert thread
    delete_thread(kernel.session, thread.id)
    assert kernel.path() == []
    if restarted:
        kernel.open()
    undo(kernel.session)
    assert kernel.path() == ["one", "one"]


def test_a_name_comes_back(kernel: Kernel) -> None:
    begin(kernel.session, "notes")
    kernel.ask("one")
    rename_thread(kernel.session, None, "papers")
    said, _ = undo(kernel.session)
    assert said == "the new name; it is 'notes' again"
    current = kernel.session.current()
    assert current
    assert current.title == "notes"


def test_a_notebook_without_a_name_has_its_own_again(kernel: Kernel) -> None:
    kernel.ask("one")
    rename_thread(kernel.session, None, "papers")
    assert undo(kernel.session)[0] == "the new name; it is 'work' again"


@pytest.mark.parametrize("asked", [True, False], ids=["noted in the thread", "noted by the kernel"])
def test_a_thread_gone_for_good_is_told_once(kernel: Kernel, asked: bool) -> None:
    if asked:
        kernel.ask("one")
        drop(kernel.session, kernel.id(0))
    kernel.ask("two", thread="other")
    delete_thread(kernel.session, "other")
    store = kernel.session.engine.store
    assert isinstance(store, Upkeep)
    store.vacuum()
    with pytest.raises(ThreadError, match="'other' is gone for good") as caught:
        undo(kernel.session)
    assert caught.value.next_step.endswith("%chat undo")
    if asked:
        kernel.open()
        assert undo(kernel.session)[0] == "the drop of «one»"
    with pytest.raises(ThreadError, match="no change to take back"):
        undo(kernel.session)
