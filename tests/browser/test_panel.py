"""The panel at the left: it follows the notebook in front, and finds, opens and names threads."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenCells
from tests.browser.panel import (
    ECHO,
    LOAD,
    close_panel,
    load,
    make_threads,
    open_panel,
    section,
    titles,
)
from tests.browser.waiting import expect


@pytest.fixture(autouse=True)
def put_away(page: Page) -> Iterator[None]:
    """Leave the page that tests share as it was."""
    yield
    close_panel(page)


def test_it_is_quiet_where_nobody_answers(open_cells: OpenCells, tmp_path: Path) -> None:
    notebook = open_cells([load(tmp_path), f"{ECHO}\none"])
    panel = open_panel(notebook)
    quiet = panel.locator(".jan-Panel-nobody")
    expect(quiet).to_contain_text("not loaded in this kernel")
    expect(quiet.locator("code")).to_have_text(LOAD)
    expect(panel.locator(".jan-Panel-head")).to_have_text(notebook.path.name)
    notebook.page.screenshot(path=notebook.picture("panel nobody"), animations="disabled")
    notebook.run(0)
    expect(section(panel, "threads")).to_be_visible()
    expect(quiet).to_be_hidden()
    expect(panel).to_contain_text("No threads yet")
    notebook.run(1)
    expect(section(panel, "threads").locator("[aria-current=true]")).to_contain_text("2 messages")
    notebook.close_kernel()
    expect(quiet).to_contain_text("has no kernel")


def test_without_a_notebook_it_says_what_to_open(open_cells: OpenCells, page: Page) -> None:
    open_cells(["1"]).close_kernel()
    close_panel(page)
    page.evaluate("[...window.jupyterapp.shell.widgets('main')].forEach(each => each.dispose())")
    page.locator(".jp-SideBar.jp-mod-left [data-id=jan-magics-panel]").click()
    expect(page.locator("#jan-magics-panel")).to_contain_text("Open a notebook")


def test_threads_are_found_and_opened_by_keyboard(open_cells: OpenCells, tmp_path: Path) -> None:
    names = ["boats", "红熊猫的一天 🐼 " + "很长的标题" * 12, "a title that goes on " * 8]
    ask = f"{ECHO} -t sails\nA red *sail*"
    notebook = open_cells([load(tmp_path), make_threads(names), ask, "%chat"])
    for number in range(3):
        notebook.run(number)
    panel = open_panel(notebook, 250)
    threads = section(panel, "threads")
    rows = threads.locator(".jan-Panel-item")
    expect(rows).to_have_count(4)
    assert titles(panel)[0] == "sails"
    panel.screenshot(path=notebook.picture("panel threads narrow"), animations="disabled")

    search = threads.get_by_role("searchbox")
    search.fill("red sail")
    expect(rows).to_have_count(1)
    expect(rows.locator("mark")).to_have_text(["red", "sail"])
    panel.screenshot(path=notebook.picture("panel threads found"), animations="disabled")
    search.fill("熊猫")
    expect(rows).to_have_count(1)
    search.fill("")
    expect(rows).to_have_count(4)

    search.press("ArrowDown")
    notebook.page.keyboard.press("End")
    expect(notebook.page.locator(":focus")).to_contain_text("boats")
    notebook.page.keyboard.press("Enter")
    expect(threads.locator("[aria-current=true]")).to_contain_text("boats")
    notebook.run(3)
    cell = notebook.page.locator(".jp-Cell[data-windowed-list-index='3']")
    expect(cell).to_contain_text("boats")


def test_threads_are_named_deleted_and_brought_back(open_cells: OpenCells, tmp_path: Path) -> None:
    begin = make_threads(["sails", "boats"])
    notebook = open_cells([load(tmp_path), f"{begin}\njan.current().use(thread='boats')"])
    panel = open_panel(notebook, 250)
    notebook.run(0)
    notebook.run(1)
    threads = section(panel, "threads")
    rows = threads.locator(".jan-Panel-item")
    current = threads.locator("[aria-current=true]")
    expect(current).to_contain_text("boats")
    keyboard = notebook.page.keyboard
    current.focus()
    keyboard.press("F2")
    expect(threads.get_by_role("textbox", name="New name")).to_be_focused()
    keyboard.type("船 <b>&")
    keyboard.press("Enter")
    expect(current).to_contain_text("船 <b>&")
    expect(current).to_be_focused()
    keyboard.press("F2")
    keyboard.type("sails")
    keyboard.press("Enter")
    expect(threads.get_by_role("alert")).to_contain_text("exists already")
    keyboard.press("Escape")
    keyboard.press("Delete")
    expect(rows).to_have_count(1)
    notice = threads.locator(".jan-Panel-notice")
    expect(notice).to_contain_text("船 <b>&")
    panel.screenshot(path=notebook.picture("panel deleted"), animations="disabled")
    notice.get_by_role("button", name="Undo").press("Enter")
    expect(current).to_contain_text("船 <b>&")
    expect(notice).to_be_hidden()
    threads.get_by_role("button", name="New thread").click()
    expect(rows).to_have_count(3)


def test_it_follows_cells_and_the_notebook_in_front(open_cells: OpenCells, tmp_path: Path) -> None:
    notebook = open_cells(
        [load(tmp_path), f"{ECHO} -t one\n1", "%chat use one", "%chat rename one 一"]
    )
    panel = open_panel(notebook)
    notebook.run(0)
    notebook.run(1)
    expect(panel.locator(".jan-Panel-title")).to_have_text(["one"])
    notebook.run(2)
    current = panel.locator("[aria-current=true] .jan-Panel-title")
    expect(current).to_have_text("one")
    notebook.run(3)
    expect(current).to_have_text("一")
    assert not notebook.save().metadata.get("widgets")
