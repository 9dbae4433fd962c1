"""What is typed finds the thread that is meant, also after somebody else has changed its name."""

import pytest

from jan_magics.api.tables import threads_table
from jan_magics.domain.errors import AmbiguousThread, ThreadError
from jan_magics.engine.branches import begin
from jan_magics.engine.naming import existing_thread, own, plain_name
from jan_magics.engine.undoing import delete_thread, rename_thread, undo
from tests.engine.threads import Kernel


@pytest.fixture
def other(kernel: Kernel) -> Kernel:
    """A second kernel in the same data folder; its clock goes on from a later time."""
    return Kernel(kernel.folder, kernel.store, count=1000)


@pytest.mark.parametrize("typed", ["a  b", "a\tb", " a b ", "a\u3000b", "a\nb"])
def test_a_name_is_found_again_as_it_was_typed(kernel: Kernel, typed: str) -> None:
    kernel.ask("one", thread=typed)
    kernel.ask("two", thread=typed)
    kernel.open()
    kernel.ask("three", thread=typed)
    store = kernel.session.engine.store
    assert [(row.thread.title, row.messages) for row in store.threads()] == [("a b", 6)]
    assert existing_thread(store, typed).title == "a b"


def test_a_title_of_others_with_two_spaces_is_found(kernel: Kernel) -> None:
    store = kernel.session.engine.store
    thread = kernel.session.engine.new_thread("两  个", {})
    assert existing_thread(store, "两  个").id == existing_thread(store, "两 个").id == thread.id
    assert plain_name("e\u0301") == plain_name("é")


def test_what_sticks_is_the_thread_and_not_its_name(kernel: Kernel, other: Kernel) -> None:
    begin(kernel.session, "old")
    kernel.ask("one")
    other.ask("two", thread="old")
    rename_thread(other.session, "old", "new")
    kernel.ask("three")
    store = kernel.session.engine.store
    assert [(row.thread.title, row.messages) for row in store.threads()] == [("new", 6)]


def test_a_turn_in_a_thread_that_was_deleted_is_an_error(kernel: Kernel, other: Kernel) -> None:
    begin(kernel.session, "notes")
    kernel.ask("one")
    delete_thread(other.session, "notes")
    with pytest.raises(ThreadError, match="the thread 'notes' was deleted") as caught:
        kernel.ask("two")
    assert "%chat undo" in caught.value.next_step
    assert len(kernel.session.engine.store.threads()) == 0
    assert undo(kernel.session)[0] == "the deletion of notes"
    kernel.ask("two")
    assert kernel.path() == ["one", "one", "two", "two"]


@pytest.mark.parametrize("restarted", [False, True])
def test_the_notebook_goes_on_in_its_thread_that_came_back(kernel: Kernel, restarted: bool) -> None:
    kernel.ask("one", cell="a")
    first = kernel.session.current()
    assert first
    delete_thread(kernel.session, first.id)
    kernel.ask("two", cell="b")
    if restarted:
        kernel.open()
    assert undo(kernel.session)[0] == "the deletion of work"
    assert kernel.path() == ["one", "one"]
    kernel.open()
    kernel.ask("three", cell="c")
    assert kernel.path() == ["one", "one", "three", "three"]
    titles = threads_table(kernel.session.engine.store.threads()).title
    assert "" not in titles.tolist()


def test_a_second_thread_without_a_name_is_told_apart(kernel: Kernel) -> None:
    kernel.ask("one")
    begin(kernel.session, None)
    kernel.ask("two")
    store = kernel.session.engine.store
    assert [*threads_table(store.threads()).title] == ["work 2", "work"]
    kernel.open()
    kernel.ask("three", thread="work 2")
    kernel.ask("four", thread="work")
    assert sorted(row.messages for row in store.threads()) == [4, 4]
    second = existing_thread(store, store.threads()[1].thread.id)
    store.update_thread(second.id, metadata={"jan_magics": {**own(second), "number": None}})
    with pytest.raises(AmbiguousThread) as caught:
        kernel.ask("five", thread="work")
    assert second.id in caught.value.ids
