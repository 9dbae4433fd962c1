"""A cell is a turn: running it again branches, on the same thread, and nothing is lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import Kernel, running_kernel

MESSAGES = "list(__import__('jan_magics').current().messages({}).text)"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    notebook = str(tmp_path / "work.ipynb")
    with running_kernel(tmp_path, JPY_SESSION_NAME=notebook, JAN_MODEL="offline:echo") as running:
        running.ok("%load_ext jan_magics")
        yield running


def path(kernel: Kernel) -> list[str]:
    found: list[str] = eval(kernel.ok(MESSAGES.format("")).result)  # noqa: S307 - a list of texts
    return found


def everything(kernel: Kernel) -> list[str]:
    found: list[str] = eval(kernel.ok(MESSAGES.format("all=True")).result)  # noqa: S307
    return found


def test_an_unchanged_cell_makes_another_answer(kernel: Kernel) -> None:
    kernel.ok("%%chat\none", cell_id="a")
    kernel.ok("%%chat\ntwo", cell_id="b")
    ran = kernel.ok("%%chat\none", cell_id="a")
    assert path(kernel) == ["one", "one"]
    assert everything(kernel) == ["one", "one", "two", "two", "one"]
    plain = ran.displays[-1]["text/plain"]
    assert "answer ‹2/2›" in plain
    assert "2 later messages stay on answer 1 · back: %chat undo" in plain


def test_the_table_of_messages_names_the_cell_that_asked(kernel: Kernel) -> None:
    kernel.ok("%%chat\n一", cell_id="a")
    kernel.ok("%%chat\ntwo", cell_id="b")
    kernel.ok("%chat retry")
    kernel.ok("__import__('jan_magics').current().send('three')")
    cells = kernel.ok("__import__('jan_magics').current().messages().cell.fillna('-').tolist()")
    assert cells.result == "['a', '-', 'b', '-', '-', '-']"


def test_a_changed_cell_makes_another_question(kernel: Kernel) -> None:
    kernel.ok("%%chat\none", cell_id="a")
    kernel.ok("%%chat\ntwo", cell_id="b")
    ran = kernel.ok("%%chat\none more", cell_id="a")
    assert path(kernel) == ["one more", "one more"]
    plain = ran.displays[-1]["text/plain"]
    assert "question ‹2/2›" in plain
    assert "2 later messages stay on question 1 · back: %chat undo" in plain
    assert "«one more» · question ‹2/2›" in kernel.ok("%chat go 2").result


def test_run_all_twice_gives_two_branches_and_no_duplicate(kernel: Kernel) -> None:
    for _ in range(2):
        kernel.ok("%%chat\none", cell_id="a")
        kernel.ok("%%chat\ntwo", cell_id="b")
    assert path(kernel) == ["one", "one", "two", "two"]
    assert len(everything(kernel)) == 7  # one question, two answers, each with its own follow-up


def test_a_loop_in_a_cell_appends(kernel: Kernel) -> None:
    loop = "for n in range(3):\n    get_ipython().run_cell_magic('chat', '', f'turn {n}')"
    kernel.ok(loop, cell_id="a")
    assert path(kernel) == ["turn 0", "turn 0", "turn 1", "turn 1", "turn 2", "turn 2"]


def test_without_cell_ids_every_call_appends(kernel: Kernel) -> None:
    kernel.ok("%%chat\none")
    kernel.ok("%%chat\none")
    assert path(kernel) == ["one"] * 4


def test_cells_know_their_turns_after_a_restart(kernel: Kernel) -> None:
    kernel.ok("%%chat\none", cell_id="a")
    kernel.restart()
    kernel.ok("%load_ext jan_magics")
    ran = kernel.ok("%%chat\none", cell_id="a")
    assert path(kernel) == ["one", "one"]
    assert len(everything(kernel)) == 3
    assert "(continued, 2 messages)" in ran.displays[-1]["text/plain"]


def test_the_name_that_the_footer_shows_leads_back(kernel: Kernel) -> None:
    assert "│ work (new)" in kernel.ok("%%chat\none", cell_id="a").displays[-1]["text/plain"]
    kernel.ok("%chat use other")
    assert "work, 2 messages" in kernel.ok("%chat use work").result
    kernel.ok("%chat new work")
    kernel.ok("%%chat\ntwo")
    assert everything(kernel) == ["one", "one", "two", "two"]
