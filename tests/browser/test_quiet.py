"""Where no chat can be, the extension says nothing; where two versions meet, which one is older."""

from collections.abc import Iterator
from contextlib import contextmanager

import nbformat
import pytest
from playwright.sync_api import ConsoleMessage, Page

from tests.browser import other_kernel
from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import KERNEL_IS_READY, METADATA, PANEL, OpenNotebook
from tests.browser.panel import close_panel, open_panel
from tests.browser.waiting import expect

NOTICE = ".Toastify__toast"
STATUS = ".jan-Status"
CHAT = "%%chat\nWho is there?"
# What a kernel with another version of us says on the wire.
OTHER_VERSION = """from comm import create_comm, get_comm_manager
about = {{"protocol": {protocol}, "version": "{protocol}.0"}}
def welcome(comm, message):
    comm.send({{"kind": "welcome", **about}})
get_comm_manager().register_target("jan-magics.page", welcome)
get_comm_manager().register_target("jan-magics.ctl", lambda comm, message: None)
hello = create_comm(target_name="jan-magics.hello", data=about)"""


@contextmanager
def quiet(page: Page) -> Iterator[None]:
    """See that our code says nothing, neither on the page nor in the console."""
    said: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # Of slow machines JupyterLab warns by itself: plugins that take long to activate.
        if message.type == "error" and "jan" in f"{message.location} {message.text}":
            said.append(message.text)

    page.on("console", note)
    try:
        yield
    finally:
        page.remove_listener("console", note)
    assert said == []
    assert page.locator(NOTICE).count() == 0
    status = page.locator(STATUS)
    assert status.count() == 0 or status.inner_text() == ""


def test_a_python_kernel_without_the_magics(open_cells: OpenCells, page: Page) -> None:
    with quiet(page):
        notebook = open_cells(["6 * 7", CHAT])
        notebook.run(0)
        expect(page.locator(".jp-OutputArea-output").first).to_have_text("42")
        enabled = "name => window.jupyterapp.commands.isEnabled(name)"
        assert not page.evaluate(enabled, "jan-magics:stop")
        assert not page.evaluate(enabled, "jan-magics:retry")


def test_a_kernel_of_another_language(page: Page, lab: Lab) -> None:
    spec = {"name": other_kernel.NAME, "display_name": "Parrot", "language": other_kernel.NAME}
    book = nbformat.v4.new_notebook(metadata={"kernelspec": spec})
    book.cells = [nbformat.v4.new_code_cell(source) for source in ("hello", CHAT)]
    nbformat.write(book, lab.root / "parrot.ipynb")
    with quiet(page):
        notebook = OpenNotebook.show(page, lab, "parrot.ipynb")
        notebook.run(0)
        expect(page.locator(".jp-OutputArea-output").first).to_have_text("hello")
        notebook.run(1)
        expect(page.locator(".jp-OutputArea-output").last).to_have_text(CHAT)
        panel = open_panel(notebook)
        expect(panel).to_contain_text(f"need a Python kernel; this one speaks {other_kernel.NAME}")
        close_panel(page)
    notebook.close_kernel(wait=False)


def test_no_kernel_at_all(open_cells: OpenCells, page: Page, lab: Lab) -> None:
    open_cells(["1"]).close_kernel()
    book = nbformat.v4.new_notebook(metadata=METADATA, cells=[nbformat.v4.new_code_cell(CHAT)])
    nbformat.write(book, lab.root / "alone.ipynb")
    with quiet(page):
        OpenNotebook.show(page, lab, "alone.ipynb", kernel=False)
        expect(page.locator(".jan-MagicLine")).to_have_text("%%chat")
        assert page.evaluate(f"() => {PANEL}.sessionContext.session") is None


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        (0, "Upgrade jan-magics in the kernel's environment"),
        (99, "Upgrade jan-magics where JupyterLab runs"),
    ],
    ids=["the kernel is older", "the page is older"],
)
def test_two_versions_that_do_not_understand_each_other(
    open_cells: OpenCells, page: Page, protocol: int, said: str
) -> None:
    notebook = open_cells([OTHER_VERSION.format(protocol=protocol)])
    notebook.run(0)
    notice = page.locator(NOTICE, has_text=said)
    expect(notice).to_be_visible()
    expect(page.locator(STATUS)).to_have_text(said)
    page.wait_for_function(KERNEL_IS_READY)
    page.screenshot(path=notebook.picture(f"versions {protocol}"), animations="disabled")
    notice.get_by_role("button", name="Hide notification").click()
    expect(notice).to_have_count(0)
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:dismiss-notification', {})")
