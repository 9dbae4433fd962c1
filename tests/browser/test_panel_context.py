"""The panel's tree and budget: walked by keyboard, followed, and changed by four buttons."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.conftest import OpenCells
from tests.browser.notebook import THEMES
from tests.browser.panel import ECHO, close_panel, load, open_panel, section
from tests.browser.test_turn import SLOW, turn
from tests.browser.waiting import expect

BEHIND = SLOW.partition(" word99")[0].replace("%%chat", "%%chat --background")


@pytest.fixture(autouse=True)
def put_away(page: Page) -> Iterator[None]:
    """Leave the page that tests share as it was."""
    yield
    close_panel(page)


def press(context: Locator, name: str) -> None:
    """Press a button of the context once it can be pressed."""
    found = context.locator(f"[data-press={name}]")
    expect(found).to_have_attribute("aria-disabled", "false")
    found.click()


def test_the_tree_is_walked_by_keyboard(open_cells: OpenCells, tmp_path: Path) -> None:
    notebook = open_cells([load(tmp_path), f"{ECHO}\n第一个问题 🦊", "%chat rename walked"])
    panel = open_panel(notebook)
    notebook.run(0)
    notebook.run(1)
    notebook.edit(1, f"{ECHO}\nsecond")
    notebook.run(1)
    branches = section(panel, "branches")
    nodes = branches.get_by_role("treeitem")
    expect(nodes).to_have_count(4)
    head = branches.locator("[aria-current=true]")
    expect(head).to_contain_text("second")
    head.focus()
    notebook.page.keyboard.press("Home")
    expect(nodes.first).to_be_focused()
    found = nodes.filter(has_text="第一个问题 🦊")
    for _ in range(4):
        if notebook.page.locator(":focus").get_attribute("aria-selected") == "false":
            break
        notebook.page.keyboard.press("ArrowDown")
    notebook.page.keyboard.press("Enter")
    expect(found.first).to_have_attribute("aria-selected", "true")
    expect(branches.get_by_role("status")).to_contain_text("The path leads through")
    expect(head).to_contain_text("第一个问题 🦊")
    notebook.run(2)  # what is drawn anew for another reason leaves what was said
    expect(section(panel, "threads")).to_contain_text("walked")
    expect(branches.get_by_role("status")).to_contain_text("The path leads through")
    notebook.run(1)  # the prompt of the second: below what is shown now
    expect(nodes).not_to_have_count(4)
    expect(branches.get_by_role("status")).to_have_count(0)


def test_the_budget_and_its_four_buttons(open_cells: OpenCells, tmp_path: Path) -> None:
    ask = (
        "import jan_magics as jan\njan.current().use(window=700)\nfor n in range(9):\n    "
        "jan.current().send(f'{n} what is the answer to the question of questions, and of all of "
        "them?', model='offline:quote', show=False)"
    )
    notebook = open_cells([load(tmp_path) + "\n%config JanMagics.keep = 2", ask, BEHIND])
    panel = open_panel(notebook)
    notebook.run(0)
    notebook.run(1)
    context = section(panel, "context")
    said = context.get_by_role("status")
    expect(said).to_contain_text("of 700 tokens are sent")
    expect(section(panel, "branches")).to_contain_text("18 messages")
    before = said.text_content() or ""
    expect(context.locator("dt")).not_to_have_count(0)
    panel.screenshot(path=notebook.picture("panel context"), animations="disabled")
    press(context, "clear")
    expect(said).not_to_have_text(before)
    press(context, "restore")
    expect(said).to_have_text(before)
    press(context, "compact")
    undo = context.locator("[data-press=uncompact]")
    expect(undo).to_have_attribute("aria-disabled", "false")
    expect(context.locator("dt").filter(has_text="summary")).to_be_visible()
    press(context, "uncompact")
    expect(said).to_have_text(before)
    notebook.run(2)
    clear = context.locator("[data-press=clear]")
    expect(clear).to_have_attribute("aria-disabled", "true")
    expect(clear).to_have_attribute("title", re.compile("when the answer is over"))
    expect(said).to_contain_text("answering…")
    turn(notebook, 2).get_by_role("button", name="Stop").click()
    expect(clear).to_have_attribute("aria-disabled", "false")
    expect(said).not_to_contain_text("answering…")


def test_it_looks_as_the_theme_does(open_cells: OpenCells, tmp_path: Path) -> None:
    notebook = open_cells(
        [load(tmp_path), f"{ECHO} -t '红熊猫 🐼' --window 3000\n一 two", "%chat use '红熊猫 🐼'"]
    )
    panel = open_panel(notebook, 250)
    for cell in range(3):
        notebook.run(cell)
    said = section(panel, "context").get_by_role("status")
    for theme in THEMES:
        notebook.use_theme(theme)
        expect(said).to_contain_text("sent")
        expect(panel.locator("[aria-current=true]").first).to_be_visible()
        panel.screenshot(path=notebook.picture(f"panel {theme}"), animations="disabled")
