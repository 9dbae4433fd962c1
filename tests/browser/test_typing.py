"""What is typed into a chat cell moves the gauges, and keys for the whole page work everywhere."""

from tests.browser.conftest import OpenCells
from tests.browser.panel import open_panel, section
from tests.browser.test_turn import ECHO, LOAD, SLOW, turn
from tests.browser.waiting import expect

BESIDE = SLOW.replace("%%chat", "%%chat -t beside --background")
GROWN = """length => [...document.querySelectorAll('.jan-Turn[data-state=running]')]
  .some(each => each.textContent.length > length)"""


def test_gauges_follow_a_prompt_that_is_typed_into_a_cell(open_cells: OpenCells) -> None:
    notebook = open_cells(
        [LOAD, f"{ECHO} --window 4000\none", "%chat budget --live", f"{ECHO}\n", BESIDE]
    )
    for cell in (0, 1, 2, 4):
        notebook.run(cell)
    panel = open_panel(notebook)
    said = section(panel, "context").get_by_role("status")
    expect(said).to_contain_text("sent")
    inside = notebook.page.locator(".jan-view").get_by_role("status")
    expect(inside).to_contain_text("sent")
    before, before_inside = said.text_content() or "", inside.text_content() or ""
    notebook.lines(3).nth(1).click()
    notebook.page.keyboard.insert_text("many more words 你好 " * 40)
    expect(said).not_to_have_text(before)
    expect(inside).not_to_have_text(before_inside)
    typed, beside = said.text_content() or "", turn(notebook, 4)
    grown = len(beside.text_content() or "") + 50
    notebook.page.wait_for_function(GROWN, arg=grown)
    expect(said).to_have_text(typed)  # an answer that grows elsewhere says nothing about it
    beside.get_by_role("button", name="Stop").click()
    notebook.lines(1).nth(1).click()  # nobody types there
    expect(said).to_have_text(before)
    expect(inside).to_have_text(before_inside)


def test_a_notebook_is_saved_by_key_from_a_button_of_a_turn(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, f"{ECHO}\none"])
    notebook.run(0)
    notebook.run(1)
    retry = turn(notebook, 1).get_by_role("button", name="Retry")
    expect(retry).to_be_visible()
    assert notebook.dirty
    retry.focus()
    notebook.page.keyboard.press("Control+s")
    notebook.page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    notebook.page.keyboard.press("s")  # a letter alone is no key of the page
    expect(retry).to_be_focused()


def test_turns_of_a_deleted_thread_are_read_only(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, f"{ECHO} -t gone\none", "1"])
    notebook.run(0)
    notebook.run(1)
    retry = turn(notebook, 1).get_by_role("button", name="Retry")
    expect(retry).to_be_visible()
    notebook.edit(2, "%chat delete gone")
    notebook.run(2)
    expect(retry).to_have_count(0)
