"""The panel where colours are forced, and after a reload: what was folded stays so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Response

from tests.browser.conftest import OpenCells
from tests.browser.notebook import KERNEL_IS_READY
from tests.browser.panel import ECHO, close_panel, load, make_threads, open_panel, section
from tests.browser.waiting import expect

ASKED = (
    "import jan_magics as jan\n"
    "chat = jan.current().use(thread='two 二', window=900, system='Be kind.')\n"
    "for text in ('one *word*', '第二个问题 🦊'):\n"
    "    chat.send(text, model='offline:echo', show=False)"
)
STYLE = """node => {
  const own = getComputedStyle(node);
  return [own.backgroundColor, own.backgroundImage].join(' ');
}"""
EDGE = "node => getComputedStyle(node).borderLeftColor"


@pytest.fixture(autouse=True)
def put_away(page: Page) -> Iterator[None]:
    """Leave the page that tests share as it was."""
    yield
    close_panel(page)


def styles(found: Locator) -> list[str]:
    """Give how each of some nodes is filled."""
    return [each.evaluate(STYLE) for each in found.all()]


def check_forced(panel: Locator) -> None:
    """Expect that shapes and edges say what colours cannot."""
    pieces = panel.locator(".jan-Panel-bar .jan-Panel-piece")
    expect(pieces).not_to_have_count(0)
    assert len(set(styles(pieces))) == pieces.count() >= 4
    ground = styles(panel)[0]
    marks = panel.locator(".jan-Panel-mark")
    assert marks.count() >= 2
    assert {each.evaluate(EDGE) for each in marks.all()}.isdisjoint({ground.partition(" none")[0]})
    current, *others = panel.locator(".jan-Panel-item").all()
    assert len({each.evaluate(EDGE) for each in others}) == 1
    assert current.evaluate(EDGE) != others[0].evaluate(EDGE)
    on, off = (
        styles(panel.locator(f"[role=treeitem][aria-selected={path}] .jan-Panel-dot"))
        for path in ("true", "false")
    )
    assert set(on).isdisjoint(off)
    assert len(off) >= 1


def test_forced_colours_leave_edges_focus_segments_and_marks(
    open_cells: OpenCells, tmp_path: Path
) -> None:
    again = "_ = chat.retry()"
    notebook = open_cells([load(tmp_path), make_threads(["boats", "船"]), ASKED, again])
    panel, page = open_panel(notebook, 260), notebook.page
    for cell in range(4):
        notebook.run(cell)
    expect(section(panel, "branches").get_by_role("treeitem")).to_have_count(5)
    expect(section(panel, "context").get_by_role("status")).to_contain_text("sent")
    expect(panel.locator(".jan-Panel-item")).to_have_count(3)
    try:
        for scheme in ("light", "dark"):
            dark = scheme == "dark"
            page.emulate_media(forced_colors="active", color_scheme="dark" if dark else "light")
            check_forced(panel)
            button = section(panel, "threads").get_by_role("button", name="New thread")
            button.focus()
            page.keyboard.press("Shift+Tab")
            page.keyboard.press("Tab")
            expect(button).to_be_focused()
            width, colour = button.evaluate(
                "node => [getComputedStyle(node).outlineWidth, getComputedStyle(node).outlineColor]"
            )
            assert width == "2px"
            assert colour != styles(panel)[0].partition(" none")[0]
            panel.screenshot(
                path=notebook.picture(f"panel forced colours {scheme}"), animations="disabled"
            )
    finally:
        page.emulate_media(forced_colors="none", color_scheme="light")


def test_what_is_folded_stays_folded_after_a_reload(open_cells: OpenCells, tmp_path: Path) -> None:
    notebook = open_cells([load(tmp_path), f"{ECHO}\n一"])
    panel, page = open_panel(notebook), notebook.page
    notebook.run(0)
    notebook.run(1)
    notebook.save()
    expect(panel.locator("[aria-current=true]").first).to_be_visible()

    def keeps(reply: Response) -> bool:
        kept = "jan-magics:folded" in (reply.request.post_data or "")
        return reply.request.method == "PUT" and "/api/workspaces/" in reply.url and kept

    with page.expect_response(keeps):
        section(panel, "branches").locator("> summary").press("Enter")
    assert section(panel, "branches").get_attribute("open") is None
    page.reload()
    page.wait_for_function(KERNEL_IS_READY)
    notebook.command("jan-magics:panel")
    expect(section(panel, "threads")).to_have_attribute("open", "")
    expect(section(panel, "branches")).not_to_have_attribute("open", "")
    expect(section(panel, "threads").locator("[aria-current=true]")).to_be_visible()
    with page.expect_response(keeps):
        section(panel, "branches").locator("> summary").press("Enter")
    expect(section(panel, "branches").get_by_role("treeitem")).to_have_count(2)
    notebook.close_kernel()
    page.goto("about:blank")  # what JupyterLab has restored is no fresh beginning
