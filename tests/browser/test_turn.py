"""Answers in JupyterLab: they stream, have buttons, and are read-only until a kernel knows them."""

import re

from playwright.sync_api import Locator

from tests.browser.axe import barriers
from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import THEMES, OpenNotebook
from tests.browser.waiting import expect
from tests.magics.test_tools import WEATHER, step
from tests.providers.serving import serving_here

LOAD = "%load_ext jan_magics"
ECHO = "%%chat -m offline:echo"
SLOW = f"{ECHO} -P pace=0.05\n" + " ".join(f"word{number}" for number in range(300))
CODE = f"""{ECHO}
Some **bold** words and $a < b$.

```python
x = 1  # 中文
```

```bash
ls
```
"""


def turn(notebook: OpenNotebook, cell: int) -> Locator:
    return notebook.page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .jan-Turn")


def begin(notebook: OpenNotebook, cell: int) -> None:
    """Run a cell and do not wait for its end."""
    notebook.evaluate(
        "panel.content.deselectAll(); panel.content.activeCellIndex = argument;"
        "window.jupyterapp.commands.execute('notebook:run-cell')",
        cell,
    )


def test_an_answer_grows_and_stands_with_its_buttons(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, SLOW.replace("0.05", "0.01")])
    notebook.run(0)
    begin(notebook, 1)
    shown = turn(notebook, 1)
    expect(shown).to_have_attribute("data-state", "running")
    expect(shown).to_contain_text("word9 ")
    notebook.screenshot("turn running")
    expect(shown).to_have_attribute("data-state", "known")
    expect(shown).to_contain_text("word299")
    expect(shown.locator(".jan-Turn-words")).to_contain_text("offline:echo · ")
    assert notebook.evaluate("return panel.content.model.cells.get(1).outputs.length") == 1


def test_the_stop_button_stops_a_running_cell(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, SLOW.partition(" word100")[0], "reached = 1"])
    notebook.run(0)
    notebook.page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    shown = turn(notebook, 1)
    expect(shown).to_contain_text("word9 ")
    shown.get_by_role("button", name="Stop").click()
    area = notebook.page.locator(".jp-Cell[data-windowed-list-index='1'] .jp-OutputArea")
    expect(area).to_contain_text("Stopped: kept", timeout=3_000)
    expect(shown.get_by_role("button", name="Go on")).to_be_visible()
    assert notebook.evaluate("return panel.content.model.cells.get(2).executionCount") is None
    shown.get_by_role("button", name="Go on").click()
    expect(shown).to_contain_text("word99")
    expect(shown).to_have_attribute("data-state", "known")
    expect(shown.get_by_role("button", name="Go on")).to_have_count(0)


def test_retry_versions_edit_and_pin(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, f"{ECHO}\none *word*", f"{ECHO}\ntwo"])
    for cell in range(3):
        notebook.run(cell)
    shown = turn(notebook, 1)
    shown.get_by_role("button", name="Retry").click()
    versions = shown.locator(".jan-Turn-versions")
    expect(versions).to_contain_text("2/2")
    expect(shown.locator(".jan-Turn-words")).not_to_contain_text("· answer")
    expect(turn(notebook, 2)).to_contain_text("built on a branch that is no longer shown")
    expect(turn(notebook, 2).locator(".jan-Turn-memory")).to_have_class(
        re.compile("jan-Turn-spoken")
    )
    versions.get_by_role("button", name="Previous version").click()
    expect(versions).to_contain_text("1/2")
    expect(turn(notebook, 2)).not_to_contain_text("built on a branch")

    shown.get_by_role("button", name="Edit").click()
    area = shown.get_by_role("textbox", name="Text of the answer")
    expect(area).to_be_focused()
    assert area.input_value() == "one *word*"
    area.fill("**eins** <img src=x onerror=alert(1)>")
    notebook.screenshot("turn edited in place")
    area.press("Control+Enter")
    expect(versions).to_contain_text("3/3")
    expect(shown.locator("strong")).to_have_text("eins")
    assert shown.locator("img").count() == 0

    pin = shown.get_by_role("button", name="Pin")
    pin.click()
    expect(pin).to_have_attribute("aria-pressed", "true")
    notebook.screenshot("turn pinned third version")
    saved = notebook.save().cells[1].outputs[0].data["application/vnd.jan-magics.turn+json"]
    assert (saved["text"][:8], saved["version"]) == ("**eins**", 3)


def test_code_becomes_a_cell_below(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, CODE, "last = 1"])
    notebook.run(0)
    notebook.run(1)
    shown = turn(notebook, 1)
    expect(shown.locator(".jan-Code")).to_have_count(2)
    expect(shown.locator("mjx-container")).to_have_count(1)
    shown.locator(".jan-Code").first.hover()
    notebook.screenshot("turn code tools")
    for number in (0, 1):
        tools = shown.locator(".jan-Code").nth(number)
        tools.hover()
        tools.get_by_role("button", name="Insert below").click()
    script = "return [...panel.content.model.cells].map(cell => cell.sharedModel.getSource())"
    sources = notebook.evaluate(script)
    assert sources[2:] == ["%%bash\nls", "x = 1  # 中文", "last = 1"]


def test_a_reopened_answer_is_read_only_until_its_kernel_speaks(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, CODE])
    notebook.run(0)
    notebook.run(1)
    notebook.save()
    notebook.close_kernel()
    anew = notebook.reopen()
    shown = turn(anew, 1)
    expect(shown).to_have_attribute("data-state", "read-only")
    expect(shown.locator(".jan-Code")).to_have_count(2)
    assert shown.get_by_role("button", name="Retry").count() == 0
    assert not anew.dirty
    anew.run(0)
    expect(shown.get_by_role("button", name="Retry")).to_be_visible()


def test_a_page_loaded_in_mid_stream_loses_nothing(open_cells: OpenCells, lab: Lab) -> None:
    # So slow that it still runs on a busy machine; the stop button ends it.
    notebook = open_cells([LOAD, SLOW.replace("0.05", "0.2")])
    notebook.run(0)
    notebook.save()
    begin(notebook, 1)
    expect(turn(notebook, 1)).to_contain_text("word5 ")
    anew = OpenNotebook.open(notebook.page, lab, notebook.path.name, busy=True)
    shown = turn(anew, 1)
    expect(shown).to_have_attribute("data-state", "running")
    said = len(shown.locator(".jan-Turn-body").inner_text().split())
    expect(shown).to_contain_text(f"word{said + 2} ")
    shown.get_by_role("button", name="Stop").click()
    expect(shown.locator(".jan-Turn-footer")).to_contain_text("offline:echo")
    saved = anew.save().cells[1].outputs[0].data["application/vnd.jan-magics.turn+json"]
    assert saved["finish"] == "stopped"
    assert saved["text"].startswith("word0 word1 word2 word3")


def test_both_themes_show_what_was_called(open_cells: OpenCells) -> None:
    steps = (step(("get_weather", {"city": "北京 <b>&"})), step(text="It **rains**."))
    with serving_here(*steps) as server:
        ask = f"%%chat -m {server.address}#m --tools get_weather --yes\nWeather?"
        notebook = open_cells([f"{LOAD}\n{WEATHER}", ask])
        notebook.run(0)
        notebook.run(1)
        call = turn(notebook, 1).locator(".jan-Turn-call")
        expect(call).to_contain_text('get_weather({"city": "北京 <b>&"})')
        call.locator("summary").click()
        for theme in THEMES:
            notebook.use_theme(theme)
            notebook.screenshot(f"turn call {theme}")
            expect(call.locator("pre").first).to_be_visible()


def test_nothing_keeps_people_from_an_answer(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, CODE, f"{ECHO}\ntwo"])
    notebook.run(0)
    notebook.run(1)
    shown = turn(notebook, 1)
    shown.get_by_role("button", name="Retry").click()
    expect(shown.locator(".jan-Turn-versions")).to_contain_text("2/2")
    for theme in THEMES:
        notebook.use_theme(theme)
        assert barriers(notebook.page, ".jan-Turn") == []
        shown.get_by_role("button", name="Edit").click()
        assert barriers(notebook.page, ".jan-Turn") == []
        notebook.page.keyboard.press("Escape")
        expect(shown.get_by_role("button", name="Edit")).to_be_focused()


def test_the_memory_map_marks_chat_cells(open_cells: OpenCells) -> None:
    notebook = open_cells([LOAD, f"{ECHO}\none", f"{ECHO}\ntwo", "%chat clear", f"{ECHO}\nthree"])
    for cell in range(5):
        notebook.run(cell)
    cells = notebook.page.locator(".jp-Cell[data-jan-memory]")
    expect(cells).to_have_count(3)
    expect(turn(notebook, 1).locator(".jan-Turn-memory")).to_have_text("not sent any more")
    expect(turn(notebook, 4).locator(".jan-Turn-memory")).to_have_text("in the context")
    notebook.run(1)
    expect(turn(notebook, 2).locator(".jan-Turn-memory")).to_have_text(
        "built on a branch that is no longer shown"
    )
    notebook.screenshot("memory map")
