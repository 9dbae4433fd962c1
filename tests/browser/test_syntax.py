"""A `%%chat` cell reads as Markdown, other cells stay Python, and the file knows nothing of it."""

from collections.abc import Mapping
from functools import partial

import pytest

from tests.browser.conftest import OpenCells
from tests.browser.notebook import THEMES, OpenNotebook
from tests.browser.waiting import expect

CHAT = "text/x-jan-chat"
PYTHON = "text/x-ipython"
PROMPT = "# Heading here\nIs this **bold** word for us, or not, while I import it?\n\n- `code` 42\n"
CODE = "# comment here\nfor word in 'text':\n    import math  # **bold**"

# Colours come from the theme; a span that has none of these is plain text.
PAINTED = """lines => {
  const theme = getComputedStyle(document.body);
  const colours = {};
  for (const name of ['header', 'keyword', 'comment', 'number', 'string']) {
    const probe = document.createElement('span');
    probe.style.color = `var(--jp-mirror-editor-${name}-color)`;
    document.body.append(probe);
    colours[getComputedStyle(probe).color] = name;
    probe.remove();
  }
  const found = {};
  for (const span of lines.flatMap(line => [...line.querySelectorAll('span')])) {
    const style = getComputedStyle(span);
    const kind = colours[style.color] ?? (style.fontWeight >= 700 ? 'strong' : null);
    if (kind) {
      found[kind] = (found[kind] ?? '') + span.textContent;
    }
  }
  return found;
}"""


def painted(notebook: OpenNotebook, cell: int) -> Mapping[str, str]:
    """Give the text of a cell that is painted as heading, keyword, comment, ... or strong."""
    found: Mapping[str, str] = notebook.lines(cell).evaluate_all(PAINTED)
    return found


@pytest.fixture
def open_cells(open_cells: OpenCells) -> OpenCells:
    """Nothing runs here, so that nothing waits for a kernel."""
    return partial(open_cells, kernel=False)


def test_chat_cell_reads_as_markdown(open_cells: OpenCells) -> None:
    magics = ["%%chat", "%%jan", "%%chat openai:gpt -t notes --temperature 0.2 --system 'a _b_'"]
    notebook = open_cells([*(f"{magic}\n{PROMPT}" for magic in magics), CODE])
    for cell, magic in enumerate(magics):
        notebook.wait_for_mime_type(cell, CHAT)
        expect(notebook.page.locator(".jan-MagicLine").nth(cell)).to_have_text(magic)

        chat = painted(notebook, cell)
        assert "Heading here" in chat["header"]
        assert "bold" in chat["strong"]
        assert not {"keyword", "comment", "number"} & chat.keys()
        assert magic not in chat["header"]


def test_python_cell_is_untouched(open_cells: OpenCells) -> None:
    notebook = open_cells([CODE, f"%%chat\n{PROMPT}"])
    notebook.wait_for_mime_type(1, CHAT)
    assert notebook.mime_type(0) == PYTHON
    code = painted(notebook, 0)
    assert "for" in code["keyword"]
    assert "# comment here" in code["comment"]


def test_other_cells_stay_python(open_cells: OpenCells) -> None:
    others = ["%%chatty\nfor x in y: z", "%%chat?", " %%time\n%%chat"]
    notebook = open_cells([*others, "%%chat\nhello"])
    notebook.wait_for_mime_type(3, CHAT)
    assert [notebook.mime_type(cell) for cell in range(3)] == [PYTHON] * 3


def test_a_heading_underline_leaves_the_magic_line_alone(open_cells: OpenCells) -> None:
    notebook = open_cells(["%%chat -q\n===\ntext"])
    notebook.wait_for_mime_type(0, CHAT)
    expect(notebook.page.locator(".jan-MagicLine")).to_have_count(1)
    assert "%%chat" not in painted(notebook, 0).get("header", "")


def test_editing_the_magic_away_restores_python(open_cells: OpenCells) -> None:
    notebook = open_cells([f"%%chat\n{PROMPT}"])
    notebook.wait_for_mime_type(0, CHAT)
    notebook.edit(0, CODE)
    notebook.wait_for_mime_type(0, PYTHON)
    expect(notebook.page.locator(".jan-MagicLine")).to_have_count(0)
    assert "for" in painted(notebook, 0)["keyword"]

    notebook.edit(0, f"%%chat\n{PROMPT}")
    notebook.wait_for_mime_type(0, CHAT)
    expect(notebook.page.locator(".jan-MagicLine")).to_have_count(1)


def test_a_new_cell_is_followed(open_cells: OpenCells) -> None:
    notebook = open_cells(["x = 1"])
    notebook.command("notebook:insert-cell-below")
    notebook.page.keyboard.press("Enter")
    notebook.page.keyboard.type("%%chat\nhello **you**")
    notebook.wait_for_mime_type(1, CHAT)
    expect(notebook.page.locator(".jan-MagicLine")).to_have_text("%%chat")


def test_nothing_is_saved_and_opening_changes_nothing(open_cells: OpenCells) -> None:
    sources = [f"%%chat\n{PROMPT}", CODE]
    notebook = open_cells(sources)
    notebook.wait_for_mime_type(0, CHAT)
    assert not notebook.dirty

    before = notebook.path.read_text(encoding="utf-8")
    assert notebook.save().cells[0].source == sources[0]
    after = notebook.path.read_text(encoding="utf-8")
    assert "jan" not in after
    assert before.split() == after.split()


def test_both_themes_show_the_magic_line_apart(open_cells: OpenCells) -> None:
    notebook = open_cells(
        [
            f"%%chat ollama:qwen3 -t notes --temperature 0.2\n{PROMPT}",
            f"%%jan\n> a quote\n\n1. *one*\n2. [two](https://example.org)\n\n```python\n{CODE}\n```",
            CODE,
        ]
    )
    for theme in THEMES:
        notebook.use_theme(theme)
        notebook.wait_for_mime_type(1, CHAT)
        notebook.screenshot(f"syntax {theme}")
        colours = "line => [getComputedStyle(line).color, getComputedStyle(line.nextSibling).color]"
        magic, text = notebook.page.locator(".jan-MagicLine").first.evaluate(colours)
        assert magic != text
