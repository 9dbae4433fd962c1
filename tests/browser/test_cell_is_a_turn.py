"""A cell is a turn, in a real JupyterLab: run again, renamed, restarted, opened anew, copied."""

import shutil

from playwright.sync_api import Page

from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import OpenNotebook
from tests.browser.waiting import expect

CELLS = (
    "%load_ext jan_magics\nimport jan_magics as jan",
    "%%chat -m offline:echo\none",
    "%%chat -m offline:echo\ntwo",
    "chat = jan.current()\nprint(*chat.messages().text, len(chat.messages(all=True)))",
)


def check_run(notebook: OpenNotebook, footer: str, messages: int, version: str = "") -> None:
    """Run all cells; expect the footer of the first turn, and how many messages there are."""
    notebook.run_all()
    output = ".jp-Cell[data-windowed-list-index='{}'] .jp-OutputArea"
    expect(notebook.page.locator(output.format(1))).to_contain_text(footer)
    # Beside the words once the kernel has confirmed the turn.
    expect(notebook.page.locator(output.format(1))).to_contain_text(version)
    expect(notebook.page.locator(output.format(3))).to_have_text(f"one one two two {messages}")


def test_run_all_again_renamed_and_restarted(open_cells: OpenCells) -> None:
    notebook = open_cells(CELLS)
    check_run(notebook, f"{notebook.path.stem} (new)", 4)
    check_run(notebook, "‹2/2›", 7)
    notebook = notebook.rename("renamed.ipynb")
    check_run(notebook, "‹3/3›", 10)
    notebook.restart_kernel()
    check_run(notebook, "(continued, 4 messages) · answer", 13, "‹4/4›")
    notebook.screenshot("cell-is-a-turn")


def test_opened_anew_and_copied(open_cells: OpenCells, page: Page, lab: Lab) -> None:
    notebook = open_cells(CELLS)
    check_run(notebook, f"{notebook.path.stem} (new)", 4)
    notebook = notebook.rename("anew.ipynb")
    check_run(notebook, "‹2/2›", 7)
    notebook.save()
    notebook.close_kernel()

    notebook = notebook.reopen()
    check_run(notebook, "anew (continued, 4 messages) · answer", 10, "‹3/3›")
    notebook.save()
    notebook.close_kernel()

    shutil.copy(notebook.path, lab.root / "duplicate.ipynb")
    notebook = OpenNotebook.show(page, lab, "duplicate.ipynb")
    check_run(notebook, "duplicate (continued, 4 messages) · answer", 7, "‹2/2›")
    notebook.save()
    notebook.close_kernel()
