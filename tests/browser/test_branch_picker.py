"""The tree of a thread, walked by keyboard; the notebook goes where one goes."""

from tests.browser.conftest import OpenCells
from tests.browser.test_score_view import view_in
from tests.browser.waiting import expect


def test_a_branch_is_chosen_by_keyboard(open_cells: OpenCells) -> None:
    ask = "%%chat -m offline:echo\n"
    cells = [
        "%load_ext jan_magics",
        f"{ask}Why is the sky blue? 天空为什么是蓝的？",
        f"{ask}And at night?",
    ]
    notebook = open_cells([*cells, "%chat tree --live", "%chat"])
    for cell in (0, 1, 2, 1, 3):
        notebook.run(cell)
    view = view_in(notebook, 3)
    here = view.locator("[aria-current='true']")
    expect(here).to_contain_text("offline:echo ‹2/2›")
    here.focus()
    notebook.page.keyboard.press("Home")
    notebook.page.keyboard.press("ArrowDown")
    expect(view.locator(":focus")).to_contain_text("offline:echo ‹1/2›")
    notebook.page.keyboard.press("Enter")
    expect(here).to_contain_text("And at night?")
    expect(view.get_by_role("status")).to_contain_text("The path leads through")
    expect(view.locator(":focus")).to_contain_text("offline:echo ‹1/2›")
    notebook.run(4)
    status = notebook.page.locator(".jp-Cell[data-windowed-list-index='4'] .jp-OutputArea")
    expect(status).to_contain_text("4 messages")
    notebook.screenshot("tree")
    notebook.use_theme("JupyterLab Dark")
    notebook.screenshot("tree-dark")
    notebook.use_theme("JupyterLab Light")
