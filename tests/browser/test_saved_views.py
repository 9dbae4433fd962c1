"""A live view in a saved notebook: alive while its kernel is, else the text that it was made of."""

from playwright.sync_api import Locator

from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import OpenNotebook
from tests.browser.test_turn import ECHO, LOAD
from tests.browser.waiting import expect

TRUSTED = "return panel.content.model.cells.get(argument).trusted"


def output(notebook: OpenNotebook, cell: int) -> Locator:
    return notebook.page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .jp-OutputArea")


def test_a_view_reads_well_without_its_kernel(open_cells: OpenCells, lab: Lab) -> None:
    notebook = open_cells([LOAD, f"{ECHO}\nHow *blue* is it?", "%chat show --live"])
    for cell in range(3):
        notebook.run(cell)
    shown = output(notebook, 2)
    box = shown.get_by_role("textbox", name="Ask: Enter sends")
    expect(box).to_be_visible()
    notebook.save()

    anew = OpenNotebook.open(notebook.page, lab, notebook.path.name)
    expect(box).to_be_visible()  # the kernel goes on, and so does its view
    anew.restart_kernel()
    expect(box).to_have_count(0)
    expect(shown).to_contain_text("How blue is it?")
    anew.close_kernel()

    anew.reopen(kernel=False)
    expect(shown).to_contain_text("How blue is it?")
    expect(shown).not_to_contain_text("Loading widget")
    assert "*" not in shown.inner_text()
    assert anew.evaluate(TRUSTED, 2)
    assert anew.evaluate("return panel.sessionContext.session") is None
    anew.screenshot("view without a kernel")
