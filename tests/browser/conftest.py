"""One server and one browser for all browser tests, a fresh page for each.

Package scope, not session scope: Playwright keeps an event loop running in the main thread, and
tests elsewhere that start a loop of their own would fail beside it.
"""

from collections.abc import Callable, Iterator, Sequence

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import notebook
from tests.browser.lab import Lab, running_lab
from tests.browser.notebook import OpenNotebook

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip

OpenCells = Callable[[Sequence[str]], OpenNotebook]


@pytest.fixture(scope="package")
def lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab; not started where there is no browser to look at it."""
    with running_lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """A running Chromium."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own; an error that no script caught fails the test."""
    # Tall, because JupyterLab leaves out cells that are off the screen.
    context = browser.new_context(viewport={"width": 1100, "height": 1400})
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert not errors


@pytest.fixture
def open_cells(page: Page, lab: Lab) -> Iterator[OpenCells]:
    """Open a new notebook that has these code cells."""
    opened: list[OpenNotebook] = []

    def open_notebook(sources: Sequence[str]) -> OpenNotebook:
        name = f"notebook-{len(list(lab.root.iterdir()))}.ipynb"
        notebook.write(lab.root / name, sources)
        opened.append(OpenNotebook.open(page, lab, name))
        return opened[-1]

    yield open_notebook
    for last in opened[-1:]:  # the page shows the last one
        last.close_kernel()
