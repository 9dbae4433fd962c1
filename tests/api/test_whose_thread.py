"""Whose thread: a notebook keeps its thread when it is moved, renamed, copied or made anew."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from jan_magics.api.host import Showing
from jan_magics.engine.asking import Asking
from jan_magics.engine.undoing import delete_thread
from tests.notebook_host import NotebookHost, footer, write

A, B, C = "0a1b2c3d", "4e5f6a7b", "8c9d0e1f"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A notebook that has asked once, in a kernel that has ended."""
    notebook = write(tmp_path / "first.ipynb", {A: "one", B: "two"})
    with NotebookHost(notebook) as kernel:
        assert "first (new)" in footer(kernel.ask("one", A))
    return notebook


def test_a_fresh_kernel_continues(first: Path) -> None:
    with NotebookHost(first) as kernel:
        assert "first (continued, 2 messages)" in footer(kernel.ask("two", B))
        assert kernel.path() == ["one", "one", "two", "two"]


def test_a_moved_notebook_keeps_its_thread(first: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    moved = first.rename(tmp_path / "sub" / "moved.ipynb")
    with NotebookHost(moved) as kernel:
        assert "moved (continued, 2 messages) · answer ‹2/2›" in footer(kernel.ask("one", A))
        assert kernel.threads() == [("moved.ipynb", "", 3)]


@pytest.mark.parametrize(("cell", "new"), [(A, C), ("cell-1", "cell-3")])
@pytest.mark.parametrize("moved", [True, False])
def test_a_new_cell_that_runs_first_finds_the_thread(
    tmp_path: Path, cell: str, new: str, *, moved: bool
) -> None:
    old = write(tmp_path / "old.ipynb", {cell: "as it was saved"})
    with NotebookHost(old) as kernel:
        kernel.ask("one", cell)  # run, and not saved as it was run
    there = write(tmp_path / "new.ipynb", {cell: "as it was saved", new: "three"})
    if moved:
        old.unlink()
    with NotebookHost(there) as kernel:
        # A command looks before anything is asked; it changes nothing.
        kernel.running = (new, "%chat show")
        assert kernel.path() == ["one", "one"]
        assert "new (continued, 2 messages)" in footer(kernel.ask("three", new))
        assert len(kernel.threads()) == (1 if moved else 2)
    with NotebookHost(there) as kernel:
        kernel.running = (new, "%chat retry")
        kernel.host.ask(Asking(aim="retry"), Showing(show=False))
        assert kernel.path() == ["one", "one", "three", "three"]


def test_a_copied_notebook_gets_a_copy(first: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(first, tmp_path / "copy.ipynb"))
    with NotebookHost(copy) as kernel:
        ran = kernel.ask("another", A)
        assert "copy (continued, 2 messages) · question ‹2/2›" in footer(ran)
        assert kernel.path() == ["another", "another"]
        assert kernel.path(everything=True) == ["one", "one", "another", "another"]
        assert kernel.threads() == [("copy.ipynb", "", 4), ("first.ipynb", "", 2)]
    with NotebookHost(first) as kernel:
        kernel.ask("two", B)
        assert kernel.path() == ["one", "one", "two", "two"]
    with NotebookHost(copy) as kernel:
        assert "copy (continued, 2 messages)" in footer(kernel.ask("another", A))
        assert len(kernel.threads()) == 2


def test_a_copy_answers_as_the_same_assistant(first: Path, tmp_path: Path) -> None:
    with NotebookHost(first) as kernel:
        session = kernel.host.session()
        row = session.assistants.create("poet")
        session.assistants.save(replace(row.assistant, instructions="Only rhyme."), row.path)
        session.sticky = replace(session.sticky, assistant="poet")
        kernel.ask("two", B)
    with NotebookHost(Path(shutil.copy(first, tmp_path / "copy.ipynb"))) as kernel:
        assert kernel.ask("three", C).sent["system"] == "Only rhyme."


def test_a_copy_takes_the_active_path_only(first: Path, tmp_path: Path) -> None:
    with NotebookHost(first) as kernel:
        kernel.ask("two", B)
        kernel.ask("one more", A)
    with NotebookHost(Path(shutil.copy(first, tmp_path / "copy.ipynb"))) as kernel:
        kernel.ask("two", B)  # its question is on the branch that was not copied
        assert kernel.path(everything=True) == ["one more", "one more", "two", "two"]


def test_a_notebook_made_anew_at_the_same_path_is_new(first: Path) -> None:
    write(first, {C: "one"})
    with NotebookHost(first) as kernel:
        assert "first 2 (new)" in footer(kernel.ask("one", C))
        assert kernel.threads() == [("first.ipynb", "", 2)] * 2


def test_a_notebook_with_plain_ids_is_known_by_its_code_too(tmp_path: Path) -> None:
    first = write(tmp_path / "first.ipynb", {"c1": "one"})
    with NotebookHost(first) as kernel:
        kernel.ask("one", "c1")
    with NotebookHost(write(tmp_path / "other.ipynb", {"c1": "other"})) as kernel:
        assert "other (new)" in footer(kernel.ask("other", "c1"))
    with NotebookHost(Path(shutil.copy(first, tmp_path / "copy.ipynb"))) as kernel:
        assert "copy (continued, 2 messages)" in footer(kernel.ask("one", "c1"))


def test_a_notebook_renamed_while_its_kernel_lives(first: Path, tmp_path: Path) -> None:
    renamed = first.rename(tmp_path / "renamed.ipynb")
    with NotebookHost(first) as restarted:  # with the former name, which is all it was told
        assert "(continued, 2 messages)" in footer(restarted.ask("three", C))
    write(first, {"deadbeef": "another"})
    with NotebookHost(renamed) as kernel:
        assert "renamed (continued, 4 messages) · answer ‹2/2›" in footer(kernel.ask("three", C))
        assert kernel.threads() == [("renamed.ipynb", "", 5)]


def test_going_on_after_the_thread_was_deleted(first: Path, tmp_path: Path) -> None:
    with NotebookHost(Path(shutil.copy(first, tmp_path / "copy.ipynb"))) as kernel:
        thread = kernel.ask("one", A).thread
        delete_thread(kernel.host.session(), thread)
        assert kernel.path() == []
        assert "copy (new)" in footer(kernel.ask("one", A))
        assert kernel.threads() == [("copy.ipynb", "", 2), ("first.ipynb", "", 2)]


def test_a_deleted_thread_that_comes_back_is_the_own_again(first: Path) -> None:
    with NotebookHost(first) as kernel:
        thread = kernel.ask("two", B).thread
        session = kernel.host.session()
        delete_thread(session, thread)
        session.engine.store.restore_thread(thread)
        assert kernel.path() == ["one", "one", "two", "two"]


def test_two_kernels_on_one_notebook(first: Path) -> None:
    with NotebookHost(first) as one, NotebookHost(first) as two:
        one.ask("one", A)
        two.ask("two", B)
        one.ask("two", B)
        assert one.path() == two.path() == ["one", "one", "two", "two"]
        assert one.threads() == [("first.ipynb", "", 6)]
        two.ask("three", C)
    with NotebookHost(write(first, {C: "three"})) as later:  # both have told their cells
        assert "(continued, 6 messages)" in footer(later.ask("four", "deadbeef"))


def test_a_name_wins_and_a_thread_with_a_name_is_nobodys_own(first: Path) -> None:
    with NotebookHost(first) as kernel:
        assert "notes (new)" in footer(kernel.ask("two", B, "notes"))
        assert "first (continued, 2 messages)" in footer(kernel.ask("two", B))
        assert kernel.threads() == [("first.ipynb", "", 4), ("first.ipynb", "notes", 2)]
        kernel.host.session().threads.create("notes")
        assert len(kernel.threads()) == 2


def test_copies_may_share_a_thread_with_a_name(first: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(first, tmp_path / "copy.ipynb"))
    with NotebookHost(first) as kernel:
        kernel.ask("one", A, "notes")
        assert kernel.ask("one", A, "notes").versions == 2
    with NotebookHost(copy) as kernel:  # its own first call there, below what the other said
        assert kernel.ask("one", A, "notes").versions == 1
    renamed = first.rename(tmp_path / "renamed.ipynb")
    with NotebookHost(renamed) as kernel:
        ran = kernel.ask("one", A, "notes")
        assert "‹3/3›" in footer(ran)
        assert "2 later messages stay on answer 2" in footer(ran)


def test_every_run_without_cell_ids_begins_at_the_root(first: Path) -> None:
    for run in range(2):
        with NotebookHost(first) as kernel:
            begun = kernel.ask("red")
            assert [m["text"] for m in begun.sent["messages"]] == ["red"]
            assert "first (new)" in footer(begun)
            kernel.ask("blue")
            assert kernel.path() == ["red", "red", "blue", "blue"]
            assert kernel.threads() == [("first.ipynb", "", 2 + 4 * (run + 1))]


def test_two_runs_at_once_do_not_see_each_other(first: Path) -> None:
    with NotebookHost(first) as one, NotebookHost(first) as two:
        one.ask("one")
        two.ask("two")
        again = one.ask("one again")
        assert [m["text"] for m in again.sent["messages"]] == ["one", "one", "one again"]
        assert one.path() == ["one", "one", "one again", "one again"]


def test_a_run_without_cell_ids_may_show_stored_answers_again(first: Path) -> None:
    for _ in range(2):
        with NotebookHost(first) as kernel:
            for text in ("red", "blue"):
                kernel.ask(text, rerun="reuse")
            assert kernel.path() == ["red", "red", "blue", "blue"]
            assert kernel.threads() == [("first.ipynb", "", 6)]


def test_without_a_notebook_each_kernel_has_a_thread_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        with NotebookHost(None) as kernel:
            assert "unnamed (new)" in footer(kernel.ask("one", A))
            assert "‹2/2›" in footer(kernel.ask("one", A))
    with NotebookHost(None) as kernel:
        assert kernel.threads() == [("", "", 3)] * 2
