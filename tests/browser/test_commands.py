"""Chat cells by toolbar, shortcut and palette, and the status bar that follows them."""

from tests.browser.conftest import OpenCells
from tests.browser.test_turn import ECHO, LOAD, SLOW, begin, turn
from tests.browser.waiting import expect

STATUS = ".jan-Status"


def test_by_toolbar_shortcut_and_palette(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD])
    page = notebook.page
    notebook.run(0)
    assert page.locator(STATUS).count() == 0 or not page.locator(STATUS).is_visible()
    page.get_by_role("button", name="Insert a chat cell below").click()
    page.keyboard.type("--help")  # below the magic line
    expect(notebook.lines(1).nth(1)).to_have_text("--help")
    notebook.edit(1, f"{ECHO} --window 4000\n" + "你好 " * 300)
    page.keyboard.press("Alt+Shift+Enter")
    shown = turn(notebook, 1)
    expect(shown.get_by_role("button", name="Retry")).to_be_visible()
    assert notebook.evaluate("return panel.content.activeCellIndex") == 1
    expect(page.locator(STATUS)).to_contain_text("offline:echo · ")
    expect(page.locator(STATUS)).to_contain_text("% of the budget")

    before = page.locator(STATUS).text_content() or ""
    notebook.edit(0, "%chat clear")
    notebook.run(0)
    expect(page.locator(STATUS)).not_to_have_text(before)
    notebook.edit(0, "%chat clear --off")
    notebook.run(0)
    expect(page.locator(STATUS)).to_have_text(before)
    notebook.evaluate("panel.content.activeCellIndex = 1")

    page.keyboard.press("Alt+Shift+R")
    versions = shown.locator(".jan-Turn-versions")
    expect(versions).to_contain_text("2/2")
    page.keyboard.press("Alt+Shift+<")
    expect(versions).to_contain_text("1/2")
    enabled = "name => window.jupyterapp.commands.isEnabled(name)"
    assert page.evaluate(enabled, "jan-magics:next-version")
    assert not page.evaluate(enabled, "jan-magics:previous-version")
    assert not page.evaluate(enabled, "jan-magics:stop")

    page.keyboard.press("Control+Shift+C")
    page.keyboard.type("new chat cell")
    expect(page.locator(".lm-CommandPalette-itemLabel").first).to_have_text("New chat cell below")
    page.screenshot(path=notebook.picture("commands"), animations="disabled")


def test_stop_by_shortcut(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, SLOW])
    notebook.run(0)
    begin(notebook, 1)
    expect(turn(notebook, 1)).to_contain_text("word9 ")
    notebook.evaluate("panel.content.activate()")
    notebook.page.keyboard.press("Alt+Shift+S")
    expect(turn(notebook, 1).get_by_role("button", name="Go on")).to_be_visible()
