"""Nothing that a model, a file or a notebook says runs or is fetched: live, reopened, converted."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbformat.sign import NotebookNotary
from playwright.sync_api import Dialog, Page

from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import METADATA, OpenNotebook
from tests.browser.payloads import payloads
from tests.browser.waiting import expect

TURN = "application/vnd.jan-magics.turn+json"
WAIT = 60_000
IN_A_CELL = 45
"""JupyterLab shows at most fifty outputs of a cell."""
LIVE = """%load_ext jan_magics
import json
import jan_magics as jan
texts = json.load(open({file!r}, encoding="utf-8"))
chat = jan.current()"""
ASK = """for text in texts[{start}:{end}]:
    answer = chat.send(text, model="offline:echo", history=False, show=True)"""
BAD = ".jan-Turn :is(script, iframe, object, embed, link, style, meta, form, base, svg image,"
BAD += " svg use, img:not([src^='data:']), [onerror], [onload], [onfocus], [ontoggle],"
BAD += " [style*=url], a[href^='javascript' i], a[href^='data:' i], a[href^='vbscript' i])"


class Counted:
    """A server that notes who asks for something."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Noting(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Noting)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@contextmanager
def counted(page: Page) -> Iterator[Counted]:
    """Run a server that nothing on a page may ask for anything, and see that no script ran."""
    counting = Counted()
    thread = Thread(target=counting.server.serve_forever, daemon=True)
    thread.start()
    opened: list[str] = []

    def refuse(dialog: Dialog) -> None:
        opened.append(dialog.message)
        dialog.dismiss()

    def note(popup: Page) -> None:
        opened.append(popup.url)

    page.on("dialog", refuse)
    page.on("popup", note)
    try:
        yield counting
        assert page.evaluate("window.owned") is None
        assert not opened
        assert not counting.asked
    finally:
        page.remove_listener("dialog", refuse)
        page.remove_listener("popup", note)
        counting.server.shutdown()
        counting.server.server_close()
        thread.join()


def shown_turn(text: str) -> dict[str, Any]:
    """Return what a hostile notebook says that an answer is: the text in every place."""
    call = {"name": text, "arguments": text, "output": text, "state": text}
    source = {"n": 1, "source": text, "headings": text, "page": text, "score": 0.5, "chunk": text,
              "collection": text, "cited": True}  # fmt: skip
    return {
        "schema": 1, "prompt": text, "text": text, "markdown": text, "reasoning": text,
        "calls": [call], "sources": [source], "model": text, "thread": text, "thread_id": text,
        "message": text, "finish": text, "usage": None, "timings": None, "version": 1,
        "versions": 2, "footer": text,
    }  # fmt: skip


def hostile_notebook(texts: list[str]) -> Any:
    cells = []
    for start in range(0, len(texts), IN_A_CELL):
        outputs = [
            nbformat.v4.new_output("display_data", {TURN: shown_turn(text), "text/plain": "x"})
            for text in texts[start : start + IN_A_CELL]
        ]
        cells.append(nbformat.v4.new_code_cell("1", execution_count=1, outputs=outputs))
    return nbformat.v4.new_notebook(metadata=METADATA, cells=cells)


def test_there_are_many_payloads() -> None:
    listed = payloads("http://127.0.0.1:9")
    assert len(set(listed)) == len(listed) >= 150


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
def test_a_hostile_notebook_that_is_opened(page: Page, lab: Lab, trusted: bool) -> None:
    page.set_viewport_size({"width": 1100, "height": 9000})
    with counted(page) as counting:
        texts = payloads(counting.url)
        name = f"hostile-{trusted}.ipynb"
        notebook = hostile_notebook(texts)
        nbformat.write(notebook, lab.root / name)
        if trusted:
            signed = nbformat.read(lab.root / name, as_version=4)
            NotebookNotary(data_dir=os.fspath(lab.data)).sign(signed)
        opened = OpenNotebook.show(page, lab, name)
        expect(page.locator(".jan-Turn")).to_have_count(len(texts), timeout=WAIT)
        expect(page.locator(".jan-Turn-words")).to_have_count(len(texts), timeout=WAIT)
        script = "return [...panel.content.model.cells].every(cell => cell.trusted)"
        assert opened.evaluate(script) is trusted
        page.evaluate("document.querySelectorAll('.jan-Turn details').forEach(e => e.open = true)")
        assert page.locator(BAD).count() == 0
        opened.close_kernel(wait=False)


@pytest.mark.parametrize("half", [0, 1])
def test_hostile_answers_live_and_converted(
    open_cells: OpenCells, page: Page, lab: Lab, tmp_path: Path, half: int
) -> None:
    page.set_viewport_size({"width": 1100, "height": 9000})
    with counted(page) as counting:
        texts = payloads(counting.url)[half::2]
        file = tmp_path / "payloads.json"
        file.write_text(json.dumps(texts), encoding="utf-8")
        steps = range(0, len(texts), IN_A_CELL)
        asks = [ASK.format(start=start, end=start + IN_A_CELL) for start in steps]
        notebook = open_cells([LIVE.format(file=str(file)), *asks])
        for cell in range(len(asks) + 1):
            notebook.run(cell)
        expect(page.locator(".jan-Turn-words")).to_have_count(len(texts), timeout=WAIT)
        assert page.locator(BAD).count() == 0
        saved = notebook.save()
        converted = page.context.new_page()
        with counted(converted):
            html, _ = HTMLExporter().from_notebook_node(saved)
            (tmp_path / "notebook.html").write_text(html, encoding="utf-8")
            # Its own scripts come from elsewhere, which tests do not ask.
            converted.route("https://**/*", lambda route: route.abort())
            converted.goto((tmp_path / "notebook.html").as_uri())
            expect(converted.locator(".jan-turn")).to_have_count(len(texts))
            assert converted.locator(BAD.replace(".jan-Turn", ".jan-turn")).count() == 0
        converted.close()
