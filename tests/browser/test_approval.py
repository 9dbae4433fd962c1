"""A tool call asks by a button below the running cell; nothing of it is saved."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator

from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import THEMES, OpenNotebook
from tests.browser.waiting import expect
from tests.magics.test_tools import WEATHER, step
from tests.providers.loopback import Reply
from tests.providers.serving import serving_here

BEGUN = f"%load_ext jan_magics\n{WEATHER}"
CALL = step(("send_mail", {"to": "李 <b>&", "text": "Grüße\nsecond line"}), text="I will write.")
DONE = step(text="Sent.")
MAIL = (
    "import jan_magics as jan\n\n@jan.tool\ndef send_mail(to: str, text: str = '') -> str:\n"
    '    "Send a mail."\n    return f"sent to {to}"'
)


@contextmanager
def asking(open_cells: OpenCells, *steps: Reply) -> Iterator[OpenNotebook]:
    """Open a notebook whose last cell asks a model that answers with these steps."""
    with serving_here(*steps) as server:
        ask = f"%%chat -m {server.address}#m --tools send_mail -o answer\nWrite to 李."
        notebook = open_cells([BEGUN, MAIL, ask])
        notebook.run(0)
        notebook.run(1)
        yield notebook


def begin(notebook: OpenNotebook, cell: int) -> Locator:
    """Run a cell that will ask, and return the box with its question."""
    notebook.evaluate(
        "panel.content.deselectAll(); panel.content.activeCellIndex = argument;"
        "window.jupyterapp.commands.execute('notebook:run-cell')",
        cell,
    )
    box = notebook.page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .jan-Question")
    expect(box).to_be_visible()
    return box


def said(notebook: OpenNotebook, cell: int) -> Locator:
    return notebook.page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .jp-OutputArea")


@pytest.mark.parametrize(
    ("button", "result"),
    [("Run once", "sent to 李"), ("Don't run", "denied: the user has refused this call")],
)
def test_a_button_answers_while_the_cell_runs(
    open_cells: OpenCells, button: str, result: str
) -> None:
    with asking(open_cells, CALL, DONE) as notebook:
        box = begin(notebook, 2)
        expect(box).to_contain_text("The model wants to run send_mail")
        expect(box.locator("pre")).to_contain_text('"to": "李 <b>&"')
        box.get_by_role("button", name=button).click()
        expect(box).to_have_count(0)
        expect(said(notebook, 2)).to_contain_text("Sent.")
        expect(said(notebook, 2)).to_contain_text(result)
        saved = notebook.path.read_text(encoding="utf-8") + str(notebook.save())
        assert "jan-Question" not in saved
        assert "wants to run" not in saved


def test_always_asks_once_in_this_kernel(open_cells: OpenCells) -> None:
    with asking(open_cells, CALL, DONE, CALL, DONE) as notebook:
        begin(notebook, 2).get_by_role("button", name="Always in this kernel").click()
        expect(said(notebook, 2)).to_contain_text("Sent.")
        notebook.run(2)
        expect(notebook.page.locator(".jan-Question")).to_have_count(0)
        expect(said(notebook, 2)).to_contain_text("‹2/2›")


def test_keys_alone_are_enough_and_typing_elsewhere_says_nothing(open_cells: OpenCells) -> None:
    with asking(open_cells, CALL, DONE, CALL, DONE) as notebook:
        keys = notebook.page.keyboard
        box = begin(notebook, 2)
        # Nothing took the focus: whoever types meanwhile does not say yes.
        assert not box.evaluate("box => box.contains(document.activeElement)")
        keys.press("Enter")
        expect(box).to_be_visible()
        box.locator("pre").focus()
        keys.press("Tab")
        expect(box.get_by_role("button", name="Run once")).to_be_focused()
        keys.press("Enter")
        expect(said(notebook, 2)).to_contain_text("Sent.")
        box = begin(notebook, 2)
        box.locator("pre").focus()
        keys.press("Escape")
        expect(box).to_have_count(0)
        expect(said(notebook, 2)).to_contain_text("denied")


def test_a_page_that_is_loaded_anew_is_asked(open_cells: OpenCells, lab: Lab) -> None:
    with asking(open_cells, CALL, DONE) as notebook:
        notebook.save()
        anew = OpenNotebook.open(notebook.page, lab, notebook.path.name)
        anew.run(1)  # the page joins while the kernel is idle
        begin(anew, 2).get_by_role("button", name="Run once").click()
        expect(said(anew, 2)).to_contain_text("Sent.")


def test_a_cell_that_is_run_as_soon_as_the_page_is_loaded_is_asked(
    open_cells: OpenCells, lab: Lab
) -> None:
    with asking(open_cells, CALL, DONE, CALL, DONE) as notebook:
        notebook.save()
        for button, result in (("Don't run", "denied"), ("Run once", "sent to 李")):
            anew = OpenNotebook.open(notebook.page, lab, notebook.path.name, busy=True)
            # The cell is under way before the page has met the kernel, which is busy from then on.
            begin(anew, 2).get_by_role("button", name=button).click()
            expect(said(anew, 2)).to_contain_text("Sent.")
            expect(said(anew, 2)).to_contain_text(result)
            anew.save()


def test_a_page_that_is_loaded_while_a_question_is_open_shows_it(
    open_cells: OpenCells, lab: Lab
) -> None:
    with asking(open_cells, CALL, DONE) as notebook:
        notebook.save()
        begin(notebook, 2)
        anew = OpenNotebook.open(notebook.page, lab, notebook.path.name, busy=True)
        # In the cell that asks, whichever is looked at.
        box = anew.page.locator(".jp-Cell[data-windowed-list-index='2'] .jan-Question")
        box.get_by_role("button", name="Run once").click()
        expect(box).to_have_count(0)
        expect(said(anew, 2)).to_contain_text("Sent.")


def test_an_interrupt_takes_the_question_away(open_cells: OpenCells) -> None:
    with asking(open_cells, CALL, DONE) as notebook:
        box = begin(notebook, 2)
        notebook.command("notebook:interrupt-kernel")
        expect(box).to_have_count(0)
        expect(said(notebook, 2)).to_contain_text("Stopped")


def test_both_themes_show_the_question(open_cells: OpenCells) -> None:
    with asking(open_cells, CALL, DONE) as notebook:
        box = begin(notebook, 2)
        box.locator("pre").focus()
        notebook.page.keyboard.press("Tab")
        for theme in THEMES:
            notebook.use_theme(theme)
            notebook.screenshot(f"approval {theme}")
            colours = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
            text, background = box.evaluate(colours)
            assert text != background
        box.get_by_role("button", name="Run once").click()
        expect(said(notebook, 2)).to_contain_text("Sent.")
