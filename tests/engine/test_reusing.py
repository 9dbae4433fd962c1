"""`rerun = branch | reuse | append`: what running a cell again does."""

import pytest

from jan_magics.domain.errors import ServerFailed
from jan_magics.domain.overlays import Change
from jan_magics.engine.branches import begin
from jan_magics.engine.records import digest
from jan_magics.engine.undoing import undo
from tests.engine.threads import Kernel


def reusing(kernel: Kernel) -> None:
    kernel.settings["rerun"] = "reuse"
    kernel.open()


def test_an_unchanged_cell_gives_the_stored_answer(kernel: Kernel) -> None:
    first = kernel.ask("one", cell="a")
    kernel.ask("two", cell="b")
    records = kernel.session.view().records
    again = kernel.ask("one", cell="a", rerun="reuse")
    assert again.turn.answer == kernel.session.view().index[first.turn.answer.id]
    assert "stored answer" in again.flags
    assert again.lines == ()
    assert kernel.shown == []  # nobody was asked
    assert kernel.path() == ["one", "one", "two", "two"]
    assert kernel.session.view().records == records
    assert digest(again.turn.request) == digest(first.turn.request)


def test_the_setting_means_the_same_for_all_cells(kernel: Kernel) -> None:
    reusing(kernel)
    for _ in range(2):
        kernel.ask("one", cell="a")
        kernel.ask("two", cell="b")
    assert kernel.everything() == ["one", "one", "two", "two"]
    kernel.ask(aim="retry")  # who asks for another answer gets one
    assert len(kernel.everything()) == 5


def test_what_differs_is_asked(kernel: Kernel) -> None:
    reusing(kernel)
    kernel.ask("one", cell="a")
    kernel.ask("two", cell="b")
    for changed in (
        {"options": {"max_tokens": 9}},
        {"options": {"parameters": {"top_k": 3}}},
        {"system": "be brief"},
        {"model": "offline:quote"},
    ):
        assert not kernel.ask("two", cell="b", **changed).turn.stored, changed
    assert kernel.ask("two", cell="b").turn.stored  # the first, though others were asked since
    kernel.ask("other", cell="a")
    assert not kernel.ask("two", cell="b").turn.stored  # another path leads there


def test_changing_a_cell_back_shows_its_old_branch(kernel: Kernel) -> None:
    reusing(kernel)
    kernel.ask("one", cell="a")
    kernel.ask("two", cell="b")
    kernel.ask("uno", cell="a")
    back = kernel.ask("one", cell="a")
    assert back.turn.stored
    assert kernel.path() == ["one", "one", "two", "two"]
    undo(kernel.session)
    assert kernel.path() == ["uno", "uno"]


def test_a_root_branch_is_found_again(kernel: Kernel) -> None:
    reusing(kernel)
    for _ in range(2):
        begin(kernel.session, "notes")
        kernel.ask("one", cell="a")
        kernel.ask("two", cell="b")
    assert kernel.everything() == ["one", "one", "two", "two"]
    assert kernel.path() == ["one", "one", "two", "two"]


def test_an_answer_that_did_not_end_by_itself_is_asked_for_again(kernel: Kernel) -> None:
    with pytest.raises(ServerFailed):
        kernel.ask("one two", cell="a", options={"parameters": {"fail": "in"}})
    with pytest.raises(ServerFailed):
        kernel.ask("one two", cell="a", rerun="reuse", options={"parameters": {"fail": "in"}})
    assert len(kernel.everything()) == 3


def test_appending_makes_no_branch(kernel: Kernel) -> None:
    kernel.settings["rerun"] = "append"
    kernel.open()
    for _ in range(2):
        kernel.ask("one", cell="a")
    assert kernel.path() == ["one"] * 4
    assert not [each for each in kernel.session.view().records if isinstance(each, Change)]
