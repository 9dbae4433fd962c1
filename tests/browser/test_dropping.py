"""Files that are dropped on a chat cell are attached; those of the desktop come beside it first."""

from playwright.sync_api import Locator

from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import OpenNotebook
from tests.browser.panel import close_panel, open_panel
from tests.browser.test_turn import ECHO, LOAD, turn
from tests.browser.waiting import expect

BROWSED = "() => window.jupyterapp.commands.execute('filebrowser:go-to-path', {path: ''})"
DROP = """([cell, name, content]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([content], name, {type: 'text/plain'}));
  for (const kind of ['dragenter', 'dragover', 'drop']) {
    const about = {bubbles: true, cancelable: true, dataTransfer: carried};
    cell.dispatchEvent(new DragEvent(kind, about));
  }
}"""


def editor(notebook: OpenNotebook, cell: int) -> Locator:
    return notebook.page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .cm-content")


def source(notebook: OpenNotebook, cell: int) -> str:
    found: str = notebook.evaluate(
        "return panel.content.model.cells.get(argument).sharedModel.getSource()", cell
    )
    return found


def drop_from_desktop(notebook: OpenNotebook, cell: int, name: str, content: str) -> None:
    drop_on(editor(notebook, cell), name, content)


def drop_on(place: Locator, name: str, content: str) -> None:
    # As a browser does it; a real drag would begin outside of it.
    place.page.evaluate(DROP, [place.element_handle(), name, content])


def test_a_file_of_the_file_browser_is_attached(open_cells: OpenCells, lab: Lab) -> None:
    (lab.root / "the plan 中.md").write_text("The boat leaves at noon.", encoding="utf-8")
    notebook = open_cells([LOAD, f"{ECHO}\nWhen does it leave?", "x = 1"])
    notebook.run(0)
    page = notebook.page
    page.evaluate(BROWSED)
    marked = page.locator(".jp-Cell.jan-mod-dropping")
    row = page.locator(".jp-DirListing-item", has_text="the plan 中.md")
    row.hover()
    page.mouse.down()
    for cell in (2, 1):  # over Python it is JupyterLab's own
        box = editor(notebook, cell).bounding_box()
        assert box
        page.mouse.move(box["x"] + 60, box["y"] + 8, steps=4)
        expect(marked).to_have_count(1 if cell == 1 else 0)
    notebook.screenshot("dropping over a chat cell")
    page.mouse.up()
    expect(marked).to_have_count(0)
    assert source(notebook, 1) == f'{ECHO} --attach "the plan 中.md"\nWhen does it leave?'
    notebook.run(1)
    expect(turn(notebook, 1)).to_contain_text("The boat leaves at noon.")


def test_a_file_of_the_desktop_is_uploaded_after_asking(open_cells: OpenCells, lab: Lab) -> None:
    notebook = open_cells([LOAD, f"{ECHO}\nWhy?", "x = 1"])
    page, dialog = notebook.page, notebook.page.locator(".jp-Dialog")
    text = "Wörter 中文\n" * 120_000  # of several pieces
    drop_from_desktop(notebook, 1, "desk.txt", text)
    expect(dialog).to_contain_text("desk.txt will be uploaded beside the notebook")
    page.screenshot(path=notebook.picture("dropping asks"), animations="disabled")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert source(notebook, 1) == f"{ECHO}\nWhy?"
    assert not (lab.root / "desk.txt").exists()

    drop_from_desktop(notebook, 1, "desk.txt", text)
    dialog.get_by_role("button", name="Upload and attach").click()
    expect(editor(notebook, 1)).to_contain_text("--attach desk.txt")
    assert (lab.root / "desk.txt").read_text(encoding="utf-8") == text

    drop_from_desktop(notebook, 1, "desk.txt", "another")
    expect(dialog).to_contain_text("desk.txt is beside the notebook already")
    dialog.get_by_role("button", name="Keep both").click()
    expect(editor(notebook, 1)).to_contain_text('--attach "desk (2).txt"')
    assert (lab.root / "desk.txt").read_text(encoding="utf-8") == text
    assert (lab.root / "desk (2).txt").read_text(encoding="utf-8") == "another"

    drop_from_desktop(notebook, 1, "desk.txt", "third")
    dialog.get_by_role("button", name="Replace").click()
    expect(dialog).to_have_count(0)
    page.wait_for_function(
        "([url, token]) => fetch(`${url}/api/contents/desk.txt?token=${token}`)"
        ".then(reply => reply.json()).then(found => found.content === 'third')",
        arg=[lab.url, lab.token],
    )
    assert source(notebook, 1).count("desk.txt") == 1


def test_a_file_that_is_dropped_on_the_panel_is_for_the_current_cell_or_a_new_one(
    open_cells: OpenCells, lab: Lab
) -> None:
    notebook = open_cells([LOAD, f"{ECHO}\nWhy?", "x = 1"])
    notebook.run(0)
    panel, dialog = open_panel(notebook), notebook.page.locator(".jp-Dialog")
    for cell, name in ((1, "one.txt"), (2, "两.txt")):
        editor(notebook, cell).click()
        drop_on(panel, name, "text")
        dialog.get_by_role("button", name="Upload and attach").click()
        expect(dialog).to_have_count(0)
    expect(editor(notebook, 3)).to_contain_text("--attach 两.txt")
    assert source(notebook, 1) == f"{ECHO} --attach one.txt\nWhy?"
    assert source(notebook, 2) == "x = 1"
    assert source(notebook, 3).startswith("%%chat --attach")
    assert (lab.root / "两.txt").read_text(encoding="utf-8") == "text"
    close_panel(notebook.page)
