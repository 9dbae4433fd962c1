"""Dollars in an answer: formulas are set, prices stay text."""

from tests.browser.conftest import OpenCells
from tests.browser.test_turn import ECHO, LOAD, turn
from tests.browser.waiting import expect


def test_prices_are_no_formulas(open_cells: OpenCells) -> None:
    text = "Costs $5 and $10 today, 一张$20，两张$35, with $x^2$ of it."
    notebook = open_cells([LOAD, f"{ECHO}\n{text}"])
    notebook.run(0)
    notebook.run(1)
    body = turn(notebook, 1).locator(".jan-Turn-body")
    expect(body.locator("mjx-container")).to_have_count(1)
    expect(body).to_contain_text("Costs $5 and $10 today, 一张$20，两张$35, with")
