"""The panel of the extension at the left of a page."""

import json
from pathlib import Path

from playwright.sync_api import Locator, Page

from tests.browser.notebook import OpenNotebook

LOAD = "%load_ext jan_magics"
ECHO = "%%chat -m offline:echo"


def load(folder: Path) -> str:
    """Give a cell that loads the magics and keeps threads in a folder of their own."""
    return f"{LOAD}\n%config JanMagics.data_folder = {str(folder)!r}"


def open_panel(notebook: OpenNotebook, width: int = 0) -> Locator:
    """Show the panel, of a width in pixels where one is given."""
    notebook.command("jan-magics:panel")
    panel = notebook.page.locator("#jan-magics-panel")
    panel.wait_for()
    if width:
        set_width(notebook.page, width)
    return panel


def close_panel(page: Page) -> None:
    """Take the left area away."""
    page.evaluate("window.jupyterapp?.shell.collapseLeft()")


def set_width(page: Page, width: int) -> None:
    """Drag the edge of the left area so that the panel is so wide."""
    panel = page.locator("#jan-magics-panel")
    box = panel.bounding_box()
    assert box
    edge, middle = box["x"] + box["width"], box["y"] + 200
    page.mouse.move(edge + 1, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + width + 1, middle)
    page.mouse.up()


def section(panel: Locator, name: str) -> Locator:
    """Give a section by the end of its class."""
    return panel.locator(f".jan-Panel-{name}")


def titles(panel: Locator) -> list[str]:
    """Give the titles of the threads that are shown."""
    shown: list[str] = section(panel, "threads").locator(".jan-Panel-title").all_inner_texts()
    return shown


def make_threads(names: list[str], text: str = "hello") -> str:
    """Give a cell that makes threads with one turn each."""
    return (
        "import json, jan_magics as jan\n"
        f"for name in json.loads({json.dumps(json.dumps(names))}):\n"
        f"    jan.current().send({text!r}, thread=name, model='offline:echo', show=False)"
    )
