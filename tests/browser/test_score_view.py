"""A search as a view: the threshold by keyboard, what falls out, a chunk in its document."""

from playwright.sync_api import Locator

from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import OpenNotebook
from tests.browser.waiting import expect
from tests.widgets.test_score_view import DOCUMENTS

SEARCH = "%rag search -c it -k 3 --live a boat on water"


def write_documents(lab: Lab) -> None:
    folder = lab.root / "papers"
    folder.mkdir(exist_ok=True)
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")


def view_in(notebook: OpenNotebook, cell: int) -> Locator:
    """Return the view that a cell shows."""
    return notebook.page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .jan-view")


def test_a_threshold_moves_by_keyboard(open_cells: OpenCells, lab: Lab) -> None:
    write_documents(lab)
    notebook = open_cells(["%load_ext jan_magics\n%rag add -c it papers", SEARCH])
    notebook.page.set_viewport_size({"width": 1100, "height": 1900})
    notebook.run(0)
    notebook.run(1)
    view = view_in(notebook, 1)
    hits, out = view.locator(".jan-hit"), view.locator(".jan-hit.jan-out")
    expect(hits.first).to_contain_text("boats.md")
    expect(view.get_by_role("status")).to_contain_text("3 of ")
    before = out.count()
    expect(view.locator(".jan-scales")).to_contain_text("vector\u00a01 · bm25")
    expect(hits.first.locator(".jan-spoken").nth(1)).to_have_text(", a full bar is 1")
    widths = view.locator(".jan-track").evaluate_all("all => all.map(each => each.offsetWidth)")
    assert max(widths) - min(widths) <= 1  # else bars of one name could not be compared
    notebook.screenshot("scores")

    slider = view.get_by_role("slider", name="Threshold (cosine)")
    slider.focus()
    notebook.page.keyboard.press("End")
    expect(out).to_have_count(hits.count())
    expect(view).to_contain_text("out: below the threshold")
    notebook.page.keyboard.press("Home")
    expect(out).to_have_count(before)
    slider.fill("0.3")
    expect(view.locator("code")).to_have_text("--threshold 0.30")

    hits.first.get_by_role("button", name="In the document").focus()
    notebook.page.keyboard.press("Enter")
    expect(hits.first.locator("mark")).to_contain_text("boat")
    assert notebook.page.locator(".jan-view img, .jan-view script").count() == 0
    notebook.screenshot("scores-threshold")
    notebook.use_theme("JupyterLab Dark")
    notebook.screenshot("scores-dark")
    notebook.use_theme("JupyterLab Light")


def test_the_view_speaks_chinese(open_cells: OpenCells, lab: Lab) -> None:
    write_documents(lab)
    chinese = "%config JanMagics.language = 'zh'"
    notebook = open_cells([f"%load_ext jan_magics\n%rag add -c it papers\n{chinese}", SEARCH])
    notebook.run(0)
    notebook.run(1)
    view = view_in(notebook, 1)
    expect(view.get_by_role("slider", name="阈值（余弦）")).to_be_visible()
    expect(view.get_by_role("status")).to_contain_text("使用 ")
    expect(view.locator(".jan-scales")).to_contain_text("满格为 score")
    notebook.screenshot("scores-chinese")
