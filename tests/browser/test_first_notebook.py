"""The first notebooks of the project, run from top to bottom in JupyterLab."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.lab import Lab
from tests.browser.notebook import PANEL, OpenNotebook
from tests.browser.waiting import expect

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
ALL_DONE = f"""() => [...{PANEL}.content.model.cells].every(cell =>
  cell.type !== 'code' || (cell.executionCount !== null && cell.executionState !== 'running'))"""


@pytest.mark.parametrize(
    ("name", "thread"),
    [("01_first_chat", "01_first_chat"), ("00_tour", "tour"), ("zh/00_tour", "导览")],
    ids=["first", "tour", "中文"],
)
def test_a_notebook_runs_to_its_end(page: Page, lab: Lab, name: str, thread: str) -> None:
    plain = name.replace("/", "-")
    shutil.copy(NOTEBOOKS / f"{name}.ipynb", lab.root / f"{plain}.ipynb")
    page.set_viewport_size({"width": 1000, "height": 3600})
    notebook = OpenNotebook.show(page, lab, f"{plain}.ipynb")
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(ALL_DONE)
    assert page.locator(".jp-RenderedText[data-mime-type*='error']").count() == 0
    expect(page.locator(".jp-OutputArea", has_text=thread).first).to_be_visible()
    notebook.screenshot(plain)
    notebook.close_kernel(wait=False)
