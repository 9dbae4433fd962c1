"""One server, one browser and one page for all browser tests, a notebook for each.

Package scope, not session scope: Playwright keeps an event loop running in the main thread, and
tests elsewhere that start a loop of their own would fail beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    ViewportSize,
    sync_playwright,
)

from tests.browser import notebook
from tests.browser.lab import Lab, running_lab
from tests.browser.notebook import OpenNotebook

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip

OURS = "/extensions/jan-magics/"
# These fail by themselves: ipywidgets without a kernel, Notebook 7 while it loads, and a comm of
# JupyterLab whose kernel ends before it has a subshell.
OTHERS = (
    "/extensions/@jupyter-widgets/", "/static/notebook/", "subshell creation failed",
    "Canceled future for create_subshell_request",
)  # fmt: skip
# Tall, because JupyterLab leaves out cells that are off the screen.
SIZE: ViewportSize = {"width": 1100, "height": 1400}


class OpenCells(Protocol):
    """Opens a new notebook that has these code cells, with a kernel unless told."""

    def __call__(self, sources: Sequence[str], *, kernel: bool = True) -> OpenNotebook: ...


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


@dataclass
class Desk:
    """One page for test after test: JupyterLab is loaded once, and notebooks are opened in it."""

    browser: Browser
    context: BrowserContext | None = None
    page: Page | None = None
    errors: list[str] = field(default_factory=list)

    def take(self) -> Page:
        """Return the page, as large as at the beginning; what it did wrong before is forgotten."""
        if self.page is None:
            self.page = self.beside(self.errors)
        self.page.set_viewport_size(SIZE)
        self.errors.clear()
        return self.page

    def beside(self, errors: list[str]) -> Page:
        """Open a page with the same cache; what no script of it caught is added to `errors`."""
        if self.context is None:
            self.context = self.browser.new_context(viewport=SIZE)
        opened = self.context.new_page()
        opened.set_default_timeout(60_000)

        def note(error: Error) -> None:
            told = f"{error.message}\n{error.stack or ''}"  # what is no error has no stack
            if OURS in told or not any(each in told for each in OTHERS):
                errors.append(told)

        opened.on("pageerror", note)
        return opened

    def drop(self) -> None:
        """Close the page; the next test gets another."""
        if self.context is not None:
            self.context.close()
            self.context = self.page = None


@pytest.fixture(scope="package")
def desk(browser: Browser) -> Iterator[Desk]:
    """The page that tests share."""
    shared = Desk(browser)
    yield shared
    shared.drop()


@pytest.fixture
def page(desk: Desk, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page that tests share; an error that no script caught fails the test."""
    failed = request.session.testsfailed
    yield desk.take()
    errors = list(desk.errors)
    if errors or request.session.testsfailed > failed:
        desk.drop()  # nobody knows how it was left
    assert not errors


@pytest.fixture
def blank(desk: Desk) -> Iterator[Page]:
    """A page of its own, empty; an error that no script caught fails the test."""
    errors: list[str] = []
    opened = desk.beside(errors)
    yield opened
    opened.close()
    assert not errors


@pytest.fixture
def open_cells(page: Page, lab: Lab) -> Iterator[OpenCells]:
    """Open a new notebook that has these code cells."""
    opened: list[OpenNotebook] = []

    def open_notebook(sources: Sequence[str], *, kernel: bool = True) -> OpenNotebook:
        name = f"notebook-{len(list(lab.root.iterdir()))}.ipynb"
        notebook.write(lab.root / name, sources)
        opened.append(OpenNotebook.show(page, lab, name, kernel=kernel))
        return opened[-1]

    yield open_notebook
    if opened and page.url.startswith(lab.url):  # the page shows the last one
        opened[-1].close_kernel(wait=False)
