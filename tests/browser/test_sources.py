"""A source opens in its document, by mouse and by keys; without a kernel it says where it is."""

from tests.browser.axe import barriers
from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import OpenNotebook
from tests.browser.test_score_view import view_in, write_documents
from tests.browser.test_turn import ECHO, LOAD, turn
from tests.browser.waiting import expect

ASK = f"{ECHO} -c it -k 2 --threshold -1\nWhat floats [2] on water 【1】? `x[1]` and [9]"


def asked(open_cells: OpenCells, lab: Lab, *more: str) -> OpenNotebook:
    """Open a notebook with an answer that was given documents, in its second cell."""
    write_documents(lab)
    notebook = open_cells([f"{LOAD}\n%rag add -c it papers", ASK, *more])
    for cell in range(2 + len(more)):
        notebook.run(cell)
    return notebook


def test_a_source_opens_in_its_document(open_cells: OpenCells, lab: Lab) -> None:
    notebook = asked(open_cells, lab)
    shown = turn(notebook, 1)
    expect(shown).to_have_attribute("data-state", "known")
    shown.locator(".jan-Turn-sources > summary").click()
    first, second = (shown.locator(".jan-Turn-source").nth(n) for n in (0, 1))
    first.get_by_role("button", name="boats.md").click()
    expect(first.locator("mark")).to_contain_text("boat")
    jump = second.get_by_role("button")
    jump.press("Enter")
    expect(second.locator("mark")).to_be_visible()
    assert barriers(notebook.page, ".jan-Turn") == []
    notebook.screenshot("sources")
    notebook.use_theme("JupyterLab Dark")
    assert barriers(notebook.page, ".jan-Turn") == []
    notebook.screenshot("sources dark")
    notebook.use_theme("JupyterLab Light")
    jump.focus()
    notebook.page.keyboard.press("Enter")
    expect(second.locator("mark")).to_be_hidden()


def test_without_a_kernel_a_source_says_where_it_is(open_cells: OpenCells, lab: Lab) -> None:
    notebook = asked(open_cells, lab)
    expect(turn(notebook, 1)).to_have_attribute("data-state", "known")
    notebook.save()
    notebook.close_kernel()
    anew = notebook.reopen()
    shown = turn(anew, 1)
    expect(shown).to_have_attribute("data-state", "read-only")
    shown.locator(".jan-Turn-sources > summary").click()
    row = shown.locator(".jan-Turn-source").first
    row.get_by_role("button", name="boats.md").click()
    expect(row.get_by_role("region")).to_contain_text("papers/boats.md › Boats · ")
    expect(row.get_by_role("region")).to_contain_text("once the kernel of this notebook")
    anew.screenshot("sources without a kernel")
    anew.run(0)
    expect(shown).to_have_attribute("data-state", "known")
    row.get_by_role("button", name="boats.md").click(click_count=2)
    expect(row.locator("mark")).to_contain_text("boat")


def test_a_number_in_an_answer_leads_to_its_source(open_cells: OpenCells, lab: Lab) -> None:
    notebook = asked(open_cells, lab, "%chat show --live")
    keys, shown = notebook.page.keyboard, turn(notebook, 1)
    two, one = (shown.locator(".jan-Turn-body a", has_text=mark) for mark in ("[2]", "【1】"))
    rows = shown.locator(".jan-Turn-source")
    expect(rows.first).to_be_hidden()
    two.click()
    expect(rows.nth(1).get_by_role("button")).to_be_focused()
    keys.press("Escape")
    expect(two).to_be_focused()
    keys.press("Tab")
    expect(one).to_be_focused()
    keys.press("Enter")
    expect(rows.first.get_by_role("button", name="boats.md")).to_be_focused()
    assert shown.locator(".jan-Turn-body :is(code, pre) a").count() == 0
    assert shown.locator(".jan-Turn-body a", has_text="9").count() == 0
    assert barriers(notebook.page, ".jan-Turn") == []
    notebook.screenshot("sources by number")

    answer = view_in(notebook, 2).locator("article.jan-from-assistant:visible")
    answer.locator(".jan-sources > summary").focus()
    keys.press("Shift+Tab")
    expect(answer.locator(".jan-prose a", has_text="【1】")).to_be_focused()
    keys.press("Enter")
    source = answer.locator(".jan-sources li").first
    expect(source).to_be_focused()
    expect(source).to_contain_text("boats.md · ")
    assert barriers(notebook.page, ".jan-view") == []
