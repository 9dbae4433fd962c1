"""`%%chat` in a real JupyterLab: it streams, it can be interrupted, and its answers do no harm."""

from collections.abc import Mapping
from typing import Any

from tests.browser.conftest import OpenCells
from tests.browser.notebook import OpenNotebook
from tests.browser.waiting import expect

TURN = "application/vnd.jan-magics.turn+json"
RICH = """%%chat -m offline:echo -P pace=0.01
# A heading

Some **bold** words, `code`, a [link](https://example.org), math $a < b$ and 中文 🦊.

x{{ "x" * 300 }}

| planet | moons |
|---|---|
| Mars | 2 |
| Saturn | 146 |

```python
def area(r: float) -> float:
    return 3.14 * r**2  # <b>no tag</b>
```

1. first
2. second
"""
HOSTILE = """%%chat -m offline:echo
<img src=x onerror="document.title='owned'"> <script>document.title='owned'</script>
![pixel](http://127.0.0.1:9/pixel.png) [click](javascript:document.title='owned')
"""


def outputs(notebook: OpenNotebook, cell: int) -> list[Mapping[str, Any]]:
    """Give the outputs of a cell as they would be saved."""
    script = "return panel.content.model.cells.get(argument).outputs.toJSON()"
    found: list[Mapping[str, Any]] = notebook.evaluate(script, cell)
    return found


def test_an_answer_is_shown_with_its_footer(open_cells: OpenCells) -> None:
    notebook = open_cells(["%load_ext jan_magics", RICH, "_.text[:11]"])
    for cell in range(3):
        notebook.run(cell)
    answer = notebook.page.locator(".jp-Cell[data-windowed-list-index='1'] .jp-OutputArea")
    expect(answer.locator("h1")).to_have_text("A heading")
    expect(answer.locator("td").first).to_have_text("Mars")
    expect(answer).to_contain_text("offline:echo · ")
    assert outputs(notebook, 2)[0]["data"]["text/plain"] == "'# A heading'"
    narrow = "body => body.scrollWidth <= body.clientWidth"
    assert answer.locator(".jan-Turn-body").first.evaluate(narrow)  # also of a word without an end
    notebook.screenshot("chat-light")
    notebook.use_theme("JupyterLab Dark")
    notebook.screenshot("chat-dark")


def test_a_saved_answer_needs_no_kernel_and_no_extension(open_cells: OpenCells) -> None:
    notebook = open_cells(["%load_ext jan_magics", RICH])
    notebook.run(0)
    notebook.run(1)
    saved = notebook.save()
    data = saved.cells[1].outputs[0].data
    assert set(data) == {TURN, "text/markdown", "text/html", "text/plain"}
    assert data[TURN]["text"].startswith("# A heading")


def test_model_text_runs_nothing_and_loads_nothing(open_cells: OpenCells) -> None:
    notebook = open_cells(["%load_ext jan_magics", HOSTILE])
    asked: list[str] = []
    notebook.page.on("request", lambda request: asked.append(request.url))
    before = notebook.page.title()
    notebook.run(0)
    notebook.run(1)
    answer = notebook.page.locator(".jp-Cell[data-windowed-list-index='1'] .jp-OutputArea")
    expect(answer).to_contain_text("<script>")
    assert answer.locator("img, script, [onerror], a[href^='javascript']").count() == 0
    assert notebook.page.title() == before
    assert not [url for url in asked if "pixel" in url]
    notebook.screenshot("chat-hostile")


def test_stop_keeps_what_was_said_and_stops_run_all(open_cells: OpenCells) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    notebook = open_cells(
        ["%load_ext jan_magics", f"%%chat -m offline:echo -P pace=0.05\n{words}", "reached = 1"]
    )
    notebook.run(0)
    notebook.page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    answer = notebook.page.locator(".jp-Cell[data-windowed-list-index='1'] .jp-OutputArea")
    expect(answer).to_contain_text("word9", timeout=20_000)
    notebook.command("notebook:interrupt-kernel")
    expect(answer).to_contain_text("Stopped: ")
    turn, error = outputs(notebook, 1)
    assert turn["data"][TURN]["finish"] == "stopped"
    assert error["ename"] == "Stopped"
    assert notebook.evaluate("return panel.content.model.cells.get(2).executionCount") is None
    notebook.screenshot("chat-stopped")


def test_running_a_cell_again_branches(open_cells: OpenCells) -> None:
    notebook = open_cells(
        ["%load_ext jan_magics", "%%chat -m offline:echo\none", "%%chat -m offline:echo\ntwo"]
    )
    for cell in (0, 1, 2, 1):
        notebook.run(cell)
    answer = notebook.page.locator(".jp-Cell[data-windowed-list-index='1'] .jp-OutputArea")
    expect(answer).to_contain_text("‹2/2›")
    expect(answer).to_contain_text("2 later messages stay on answer 1 · back: %chat undo")
    notebook.screenshot("chat-branch")


def test_tab_completes_flags_threads_and_names(open_cells: OpenCells) -> None:
    notebook = open_cells(
        ["%load_ext jan_magics", "weather_report = 1", "%%chat --te", "%%chat\n{{ wea"]
    )
    notebook.run(0)
    notebook.run(1)
    for cell, wanted in ((2, "--temperature"), (3, "weather_report")):
        editor = notebook.page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .cm-content")
        editor.click()
        notebook.page.keyboard.press("Control+End")
        notebook.page.keyboard.press("Tab")
        expect(notebook.page.locator(".jp-Completer-item")).to_contain_text(wanted)
        notebook.page.keyboard.press("Enter")
        expect(editor).to_contain_text(wanted)
