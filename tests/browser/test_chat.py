"""A `%%chat` cell runs in JupyterLab: the answer is painted, and what it says cannot act."""

from playwright.sync_api import expect

from tests.browser.conftest import OpenCells

# One sentence, so that the offline model quotes all of it: what it says is then as hostile as this.
PROMPT = "What is **bold** <img src=x onerror='document[\"title\"]=666'> in `code`?"


def test_an_answer_is_shown_and_saved(open_cells: OpenCells) -> None:
    notebook = open_cells(["%load_ext jan_magics", f"%%chat\n{PROMPT}"])
    notebook.run(0)
    notebook.run(1)
    output = notebook.page.locator(".jp-OutputArea-output").last
    expect(output).to_contain_text("What is bold")
    expect(output.locator("strong").first).to_have_text("bold")
    notebook.screenshot("answer")

    assert notebook.page.locator("[onerror]").count() == 0
    assert notebook.page.title() != "666"
    (display,) = notebook.save().cells[1].outputs
    turn = display.data["application/vnd.jan-magics.turn+json"]
    assert turn["prompt"].startswith("What is **bold**")
    assert {"text/plain", "text/html"} <= display.data.keys()
