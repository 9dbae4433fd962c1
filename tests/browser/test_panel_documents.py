"""The panel's collections: files on their way in, what is there, and a search with scores."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenCells
from tests.browser.panel import close_panel, load, open_panel, section
from tests.browser.waiting import expect

ADD = """import pandas as pd, jan_magics as jan
texts = pd.Series([f"Note {n}: a red boat no. {n} floats. " * 20 for n in range(600)])
_ = jan.Collection("许多 notes").add(texts, embedder="none")"""
WATCH = """() => {
  const node = document.querySelector('.jan-Panel-coming');
  window.seen = [];
  new MutationObserver(() => {
    if (!node.hidden) window.seen.push(node.textContent);
  }).observe(node, { attributes: true, childList: true, subtree: true, characterData: true });
}"""


@pytest.fixture(autouse=True)
def put_away(page: Page) -> Iterator[None]:
    """Leave the page that tests share as it was."""
    yield
    close_panel(page)


def test_files_are_listed_and_found_with_scores(open_cells: OpenCells, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "boats.md").write_text("# Boats\n\nA red boat floats on the sea.")
    name = "熊猫 🐼 " + "很长的文件名" * 6 + ".md"
    (folder / name).write_text("# 熊猫\n\n熊猫吃竹子。", encoding="utf-8")
    add = f"%rag add '{folder}' --embedder none"
    notebook = open_cells([load(tmp_path / "data"), add, f"{add} -c 'other notes'"])
    panel = open_panel(notebook, 250)
    documents = section(panel, "documents")
    notebook.run(0)
    expect(documents).to_contain_text("No documents yet")
    notebook.run(1)
    files = documents.locator(".jan-Panel-file")
    expect(files).to_have_count(2)
    expect(files.first).to_contain_text("1 chunk · indexed")
    expect(documents.get_by_role("combobox")).to_be_hidden()
    notebook.run(2)
    expect(documents.get_by_role("combobox").locator("option")).to_have_count(2)

    search = documents.get_by_role("searchbox")
    search.fill("竹子")
    search.press("Enter")
    hits = documents.locator(".jan-Panel-hit")
    expect(hits).to_have_count(1)
    expect(hits).to_contain_text("score ")
    hits.get_by_role("button").press("Enter")
    expect(hits.locator("mark")).to_contain_text("熊猫吃竹子")
    panel.screenshot(path=notebook.picture("panel documents"), animations="disabled")
    search.fill("nothing of that kind")
    search.press("Enter")
    expect(documents).to_contain_text("Nothing is found")
    assert not notebook.save().metadata.get("widgets")


def test_a_bar_shows_how_far_documents_are(open_cells: OpenCells, tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("A boat of my own.", encoding="utf-8")
    own = f"%rag add '{tmp_path}/own.md' --embedder none"
    notebook = open_cells([load(tmp_path), ADD, own])
    panel = open_panel(notebook)
    documents = section(panel, "documents")
    notebook.run(0)
    expect(documents).to_contain_text("No documents yet")
    notebook.page.evaluate(WATCH)
    notebook.run(1)
    expect(documents.locator(".jan-Panel-collection")).to_contain_text("600")
    expect(documents.get_by_role("progressbar")).to_be_hidden()
    seen = notebook.page.evaluate("window.seen")
    assert any(words.startswith("许多 notes: ") and " of 600 " in words for words in seen), seen
    # The default unfolds when it comes, also beside another that was there before it.
    expect(documents.locator(".jan-Panel-file")).to_have_count(0)
    notebook.run(2)
    expect(documents.locator(".jan-Panel-file")).to_contain_text("own.md")


def test_a_collection_on_a_server_is_among_them(
    open_cells: OpenCells, tmp_path: Path, server: str
) -> None:
    (tmp_path / "team.md").write_text("A blue boat sinks. 蓝色的船沉了。", encoding="utf-8")
    add = f"%rag add '{tmp_path}/team.md' --embedder none"
    url = f"{server}#队 notes"
    notebook = open_cells([f"{load(tmp_path / 'data')}\n{add}\n{add} -c '{url}'\n%rag use '{url}'"])
    panel = open_panel(notebook, 250)
    notebook.run(0)
    listed = section(panel, "documents").locator(".jan-Panel-collection")
    expect(listed).to_have_count(2)
    expect(listed.last).to_contain_text("队 notes")
    expect(listed.last).to_contain_text("default · on a server · 1 document")
    expect(listed.last.locator(".jan-Panel-file")).to_contain_text("team.md")
