"""A notebook that was saved with a view reads well without one: nbconvert, and other kernels."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter, MarkdownExporter

from tests.kernel import Kernel
from tests.widgets.pages import WIDGET

VIEWS = ("%chat show --live", "%chat tree --live", "%chat budget --live")


@pytest.fixture
def saved(kernel: Kernel) -> Any:
    """A notebook as a front end saves it: with the bundles of its outputs."""
    notebook = nbformat.v4.new_notebook()
    kernel.ok("%%chat -m offline:echo\nWhy is 天空 blue <img src=x onerror=alert(1)>?")
    for source in VIEWS:
        data = kernel.ok(source).results[-1]
        assert WIDGET in data
        cell = nbformat.v4.new_code_cell(source)
        cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
        notebook.cells.append(cell)
    return notebook


def test_html_has_what_the_views_showed(saved: Any, tmp_path: Path) -> None:
    html, _ = HTMLExporter().from_notebook_node(saved)
    (tmp_path / "saved.html").write_text(html, encoding="utf-8")
    for words in ("Why is 天空 blue", "1 branch", "<td>reserve</td>", "offline:echo"):
        assert words in html
    assert "<img src=x" not in html


def test_markdown_has_it_too(saved: Any) -> None:
    text, _ = MarkdownExporter().from_notebook_node(saved)
    assert "Why is 天空 blue" in text
    assert "reserve" in text
