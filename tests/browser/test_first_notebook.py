"""The first notebook of the project, run from top to bottom in JupyterLab."""

import shutil
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.lab import Lab
from tests.browser.notebook import PANEL, OpenNotebook

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "01_first_chat.ipynb"
ALL_DONE = f"""() => [...{PANEL}.content.model.cells].every(cell =>
  cell.type !== 'code' || (cell.executionCount !== null && cell.executionState !== 'running'))"""


def test_the_first_notebook_runs_to_its_end(page: Page, lab: Lab) -> None:
    shutil.copy(NOTEBOOK, lab.root / NOTEBOOK.name)
    page.set_viewport_size({"width": 1000, "height": 3600})
    notebook = OpenNotebook.open(page, lab, NOTEBOOK.name)
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(ALL_DONE)
    assert page.locator(".jp-RenderedText[data-mime-type*='error']").count() == 0
    expect(page.locator(".jp-OutputArea", has_text="01_first_chat (new)").first).to_be_visible()
    notebook.screenshot("first-notebook")
    notebook.close_kernel()
