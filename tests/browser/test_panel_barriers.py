"""Nothing keeps people from using the panel, and nothing that is named in it runs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.axe import barriers
from tests.browser.conftest import OpenCells
from tests.browser.panel import ECHO, close_panel, load, open_panel, section
from tests.browser.payloads import payloads
from tests.browser.test_hostile import counted
from tests.browser.waiting import expect

PANEL = "#jan-magics-panel"
BAD = f"{PANEL} :is(script, iframe, object, embed, link, style, img, video, form form, [onerror])"
NAMED = """import json, jan_magics as jan, pandas as pd
texts = json.load(open({file!r}, encoding="utf-8"))
from jan_magics.api.opening import current_host
session = current_host().session()
for text in texts:
    thread = session.engine.new_thread(text[:190], {{}})
jan.current().use(thread=thread.id, model="offline:echo")
for text in texts[:20]:
    jan.current().send(text, show=False)
frame = pd.DataFrame({{"text": texts, "source": texts}})
_ = jan.Collection("<img src=x onerror=window.owned=1>").add(frame, text="text", embedder="none")"""


@pytest.fixture(autouse=True)
def put_away(page: Page) -> Iterator[None]:
    """Leave the page that tests share as it was."""
    yield
    close_panel(page)


# Light comes last: the server keeps the theme for the tests that follow.
@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Light"])
def test_nothing_keeps_people_from_the_panel(
    open_cells: OpenCells, tmp_path: Path, theme: str
) -> None:
    (tmp_path / "a.md").write_text("A boat floats on the sea.")
    add = f"%rag add '{tmp_path}/a.md' --embedder none"
    ask = f"{ECHO} -t 'one 一' --window 3000\nwords"
    notebook = open_cells([load(tmp_path / "data"), ask, "%chat use 'one 一'", add])
    notebook.use_theme(theme)
    panel = open_panel(notebook, 250)
    expect(panel.locator(".jan-Panel-nobody")).to_be_visible()
    assert barriers(notebook.page, PANEL) == []
    for cell in range(4):
        notebook.run(cell)
    documents = section(panel, "documents")
    expect(documents.locator(".jan-Panel-file")).to_have_count(1)
    expect(section(panel, "context").get_by_role("status")).to_contain_text("sent")
    documents.get_by_role("searchbox").fill("boat")
    documents.get_by_role("searchbox").press("Enter")
    hits = documents.locator(".jan-Panel-hit")
    hits.get_by_role("button").click()
    expect(hits.locator("mark")).to_be_visible()
    assert barriers(notebook.page, PANEL) == []
    panel.screenshot(path=notebook.picture(f"panel whole {theme}"), animations="disabled")
    threads = section(panel, "threads")
    row = threads.locator(".jan-Panel-item").first
    row.hover()
    row.get_by_role("button", name="Rename").click()
    assert barriers(notebook.page, PANEL) == []
    notebook.page.keyboard.press("Escape")
    row.hover()
    row.get_by_role("button", name="Move to the bin").click()
    expect(threads.locator(".jan-Panel-notice")).to_be_visible()
    assert barriers(notebook.page, PANEL) == []


def test_hostile_names_are_words(open_cells: OpenCells, page: Page, tmp_path: Path) -> None:
    with counted(page) as counting:
        texts = payloads(counting.url)
        file = tmp_path / "payloads.json"
        file.write_text(json.dumps(texts), encoding="utf-8")
        notebook = open_cells([load(tmp_path / "data"), NAMED.format(file=str(file))])
        panel = open_panel(notebook)
        notebook.run(0)
        notebook.run(1)
        more = section(panel, "threads").locator(".jan-Panel-more")
        rows = section(panel, "threads").locator(".jan-Panel-item")
        for shown in range(50, len(texts), 50):
            expect(rows).to_have_count(shown)
            more.click()
        expect(rows).to_have_count(len(texts))
        documents = section(panel, "documents")
        documents.locator(".jan-Panel-collection summary").click()
        expect(documents.locator(".jan-Panel-file").first).to_be_visible()
        documents.get_by_role("searchbox").fill("script alert img")
        documents.get_by_role("searchbox").press("Enter")
        expect(documents.locator(".jan-Panel-hit").first).to_be_visible()
        documents.locator(".jan-Panel-hit button").first.click()
        expect(documents.locator("mark").first).to_be_visible()
        expect(section(panel, "branches").get_by_role("treeitem")).to_have_count(40)
        assert page.locator(BAD).count() == 0
        panel.screenshot(path=notebook.picture("panel hostile"), animations="disabled")
