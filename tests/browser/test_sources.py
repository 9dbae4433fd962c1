"""A source opens in its document, by mouse and by keys; without a kernel it says where it is."""

from playwright.sync_api import expect

from tests.browser.axe import barriers
from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import OpenNotebook
from tests.browser.test_score_view import write_documents
from tests.browser.test_turn import ECHO, LOAD, WAIT, turn

ASK = f"{ECHO} -c it -k 2 --threshold -1\nWhat floats on water?"


def test_a_source_opens_in_its_document(open_cells: OpenCells, lab: Lab) -> None:
    write_documents(lab)
    notebook = open_cells([f"{LOAD}\n%rag add -c it papers", ASK])
    notebook.run(0)
    notebook.run(1)
    shown = turn(notebook, 1)
    expect(shown).to_have_attribute("data-state", "known", timeout=WAIT)
    shown.locator(".jan-Turn-sources > summary").click()
    first, second = (shown.locator(".jan-Turn-source").nth(n) for n in (0, 1))
    first.get_by_role("button", name="boats.md").click()
    expect(first.locator("mark")).to_contain_text("boat", timeout=WAIT)
    jump = second.get_by_role("button")
    jump.focus()
    notebook.page.keyboard.press("Enter")
    expect(second.locator("mark")).to_be_visible(timeout=WAIT)
    assert barriers(notebook.page, ".jan-Turn") == []
    notebook.screenshot("sources")
    notebook.use_theme("JupyterLab Dark")
    notebook.screenshot("sources dark")
    notebook.use_theme("JupyterLab Light")
    jump.focus()
    notebook.page.keyboard.press("Enter")
    expect(second.locator("mark")).to_be_hidden()
    notebook.save()
    notebook.close_kernel()

    anew = OpenNotebook.open(notebook.page, lab, notebook.path.name)
    shown = turn(anew, 1)
    expect(shown).to_have_attribute("data-state", "read-only", timeout=WAIT)
    shown.locator(".jan-Turn-sources > summary").click()
    row = shown.locator(".jan-Turn-source").first
    row.get_by_role("button", name="boats.md").click()
    expect(row.get_by_role("region")).to_contain_text("papers/boats.md › Boats · ")
    expect(row.get_by_role("region")).to_contain_text("once the kernel of this notebook")
    anew.screenshot("sources without a kernel")
    anew.run(0)
    expect(shown).to_have_attribute("data-state", "known", timeout=WAIT)
    row.get_by_role("button", name="boats.md").click(click_count=2)
    expect(row.locator("mark")).to_contain_text("boat", timeout=WAIT)
