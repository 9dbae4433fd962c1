"""Answers for those who see or move otherwise: high contrast, forced colours, no motion."""

from playwright.sync_api import Locator

from tests.browser.axe import barriers
from tests.browser.conftest import OpenCells
from tests.browser.notebook import OpenNotebook
from tests.browser.test_turn import CODE, ECHO, LOAD, SLOW, begin, turn
from tests.browser.waiting import expect

MOVING = """node => [node, ...node.querySelectorAll('*')].flatMap(each => each.getAnimations())
  .filter(each => each.playState === 'running').length"""
THEME = "JupyterLab Dark High Contrast"


def test_high_contrast(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, CODE, f"{ECHO}\ntwo"])
    notebook.run(0)
    notebook.use_theme(THEME)
    notebook.run(1)
    shown = turn(notebook, 1)
    shown.get_by_role("button", name="Retry").click()
    expect(shown.locator(".jan-Turn-versions")).to_contain_text("2/2")
    notebook.screenshot("turn high contrast")
    assert barriers(notebook.page, ".jan-Turn") == []
    notebook.use_theme("JupyterLab Light")


def test_nothing_moves_where_motion_is_reduced(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, SLOW])
    notebook.run(0)
    begin(notebook, 1)
    shown = turn(notebook, 1)
    expect(shown).to_contain_text("word3 ")
    assert shown.evaluate(MOVING) > 0
    notebook.page.emulate_media(reduced_motion="reduce")
    try:
        assert shown.evaluate(MOVING) == 0
    finally:
        notebook.page.emulate_media(reduced_motion="no-preference")
    shown.get_by_role("button", name="Stop").click()
    expect(shown.get_by_role("button", name="Go on")).to_be_visible()


def test_forced_colours_leave_buttons_and_marks(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, CODE, f"{ECHO}\ntwo"])
    for cell in range(3):
        notebook.run(cell)
    shown, page = turn(notebook, 1), notebook.page
    retry = shown.get_by_role("button", name="Retry")
    expect(retry).to_be_visible()
    try:
        page.emulate_media(forced_colors="active", color_scheme="light")
        check_forced(notebook, retry)
        notebook.screenshot("turn forced colours light")
        page.emulate_media(forced_colors="active", color_scheme="dark")
        check_forced(notebook, retry)
        notebook.screenshot("turn forced colours dark")
    finally:
        page.emulate_media(forced_colors="none", color_scheme="light")


def check_forced(notebook: OpenNotebook, button: Locator) -> None:
    """Expect that a button can be read, and the mark of a chat cell be seen."""
    page = notebook.page
    assert page.evaluate("matchMedia('(forced-colors: active)').matches")
    text, ground = (
        button.evaluate(f"button => getComputedStyle(button).{name}")
        for name in ("color", "backgroundColor")
    )
    assert text != ground
    mark = ".jp-Cell[data-jan-memory='context'] .jp-InputPrompt"
    filled, around = page.locator(mark).first.evaluate(
        "mark => [getComputedStyle(mark, '::after').backgroundColor,"
        " getComputedStyle(mark.closest('.jp-Notebook')).backgroundColor]"
    )
    assert filled != around
