"""A question leaves with its answer or its kernel, and whoever used keys goes on with keys."""

from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import OpenNotebook
from tests.browser.test_approval import CALL, DONE, asking, begin, said
from tests.browser.waiting import expect


def test_the_focus_goes_to_the_cell(open_cells: OpenCells) -> None:
    with asking(open_cells, CALL, DONE) as notebook:
        box = begin(notebook, 2)
        box.get_by_role("button", name="Run once").focus()
        notebook.page.keyboard.press("Enter")
        expect(box).to_have_count(0)
        assert notebook.evaluate("return panel.content.node.contains(document.activeElement)")
        expect(said(notebook, 2)).to_contain_text("Sent.")


def test_a_page_that_is_loaded_meanwhile_knows_that_the_turn_runs(
    open_cells: OpenCells, lab: Lab
) -> None:
    with asking(open_cells, CALL, DONE) as notebook:
        notebook.save()
        begin(notebook, 2)
        notebook.save()  # with the turn as it runs
        anew = OpenNotebook.open(notebook.page, lab, notebook.path.name, busy=True)
        expect(said(anew, 2).get_by_role("button", name="Stop")).to_be_visible()
        expect(said(anew, 2)).not_to_contain_text("left unfinished")
        anew.page.locator(".jan-Question").get_by_role("button", name="Run once").click()
        expect(said(anew, 2)).to_contain_text("Sent.")


def test_it_goes_with_its_kernel(open_cells: OpenCells) -> None:
    with asking(open_cells, CALL, DONE) as notebook:
        box = begin(notebook, 2)
        notebook.evaluate("return panel.sessionContext.session.kernel.restart()")
        expect(box).to_have_count(0)
