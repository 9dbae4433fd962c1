"""Notebook 7: the same answers and buttons, one notebook a page, without a status bar."""

from importlib.util import find_spec

import pytest
from playwright.sync_api import Page

from tests.browser import notebook as notebooks
from tests.browser.lab import Lab
from tests.browser.notebook import KERNEL_IS_READY, OpenNotebook
from tests.browser.panel import open_panel, section
from tests.browser.test_turn import ECHO, LOAD, SLOW, begin, turn
from tests.browser.waiting import expect
from tests.conftest import require


@pytest.fixture
def classic(blank: Page, lab: Lab) -> OpenNotebook:
    """A notebook of three cells in Notebook 7."""
    require("notebook", find_spec("notebook"), "no Notebook 7: pip install 'notebook>=7'")
    cells = [LOAD, SLOW, f"{ECHO}\nHow *blue* is it?", "%chat show --live"]
    notebooks.write(lab.root / "seven.ipynb", cells)
    blank.goto(f"{lab.url}/notebooks/seven.ipynb?token={lab.token}")
    blank.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
    blank.wait_for_function(KERNEL_IS_READY)
    return OpenNotebook(blank, lab.root / "seven.ipynb")


def test_an_answer_streams_and_has_its_buttons(classic: OpenNotebook) -> None:
    classic.run(0)
    begin(classic, 1)
    shown = turn(classic, 1)
    expect(shown).to_contain_text("word9 ")
    shown.get_by_role("button", name="Stop").click()
    expect(shown.get_by_role("button", name="Go on")).to_be_visible()
    classic.run(2)
    shown = turn(classic, 2)
    shown.get_by_role("button", name="Retry").click()
    expect(shown.locator(".jan-Turn-versions")).to_contain_text("2/2")
    classic.run(3)
    view = classic.page.locator(".jp-Cell[data-windowed-list-index='3'] .jan-view")
    expect(view.get_by_role("textbox", name="Ask: Enter sends")).to_be_visible()
    assert classic.page.locator(".jan-Status").count() == 0
    panel = open_panel(classic)
    expect(section(panel, "branches").get_by_role("treeitem")).not_to_have_count(0)
    classic.page.screenshot(path=classic.picture("notebook 7"), animations="disabled")
    classic.save()
    classic.close_kernel()
