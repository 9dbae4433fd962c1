"""The budget as a bar: it follows a prompt while it is typed, and its table has the numbers."""

import re

from tests.browser.conftest import OpenCells
from tests.browser.test_score_view import view_in
from tests.browser.waiting import expect

ASK = "%%chat -m offline:echo --window 1200\n" + "Some words about 熊猫 and boats. " * 25


def test_the_bar_follows_the_keyboard(open_cells: OpenCells) -> None:
    use = "%load_ext jan_magics\n%chat use --window 1200 --system 'Answer in two short sentences.'"
    notebook = open_cells([use, ASK, "%chat budget --live"])
    for cell in range(3):
        notebook.run(cell)
    view = view_in(notebook, 2)
    prompt = view.locator("tr[data-piece='prompt'] td").first
    expect(prompt).to_have_text("≈\u200910")
    view.get_by_role("textbox").click()
    notebook.page.keyboard.type("Why do pandas eat bamboo, 为什么? Tell me all. " * 6)
    expect(prompt).to_contain_text(re.compile(r"\d{2}"))
    expect(prompt).not_to_have_text("≈\u200910")
    expect(view.locator(".jan-piece.jan-prompt")).to_be_visible()
    expect(view.get_by_role("status")).to_contain_text("trimming from ")
    view.locator("tr[data-piece='history']").hover()
    expect(view.locator(".jan-piece.jan-pointed")).to_have_count(1)
    notebook.screenshot("budget")
    notebook.use_theme("JupyterLab Dark")
    notebook.screenshot("budget-dark")
    notebook.use_theme("JupyterLab Light")
