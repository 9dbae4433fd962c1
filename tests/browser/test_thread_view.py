"""A thread as a view: one asks, stops, edits and walks through versions without a cell."""

from tests.browser.axe import barriers
from tests.browser.conftest import OpenCells
from tests.browser.test_approval import MAIL
from tests.browser.test_score_view import view_in
from tests.browser.waiting import expect
from tests.magics.test_tools import step
from tests.providers.serving import serving_here

STREAMING = """() => [...document.querySelectorAll('.jan-view')].some(view =>
  view.querySelector('.jan-growing:not([hidden]) em')?.textContent === 'many' &&
  [...view.querySelectorAll('article.jan-from-user:not([hidden])')].some(each =>
    each.textContent.includes('Paragraph 39')))"""
"""The whole question stands above an answer that grows, in words and not in marks."""
RICH = """%%chat -m offline:echo
Write **bold** words, math $\\frac{a}{b} < \\sqrt{x_1}$ and 中文 🦊.

```python
def area(r: float) -> float:
    return 3.14 * r**2
```
"""
HOSTILE = """%%chat -m offline:echo
<img src=x onerror="document.title='owned'"> $\\text{<script>document.title='owned'</script>}$
[click](javascript:document.title='owned') $\\href{javascript:alert(1)}{x}$
"""


def test_one_asks_edits_and_walks_in_the_view(open_cells: OpenCells) -> None:
    notebook = open_cells(["%load_ext jan_magics", RICH, "%chat show --live"])
    for cell in range(3):
        notebook.run(cell)
    view = view_in(notebook, 2)
    expect(view.locator("article:visible").last.locator("math")).to_have_count(1)
    expect(view.get_by_role("button", name="Copy").first).to_be_visible()
    box = view.get_by_role("textbox", name="Ask: Enter sends")
    box.click()
    notebook.page.keyboard.type("Why is the sky blue?")
    notebook.page.keyboard.press("Enter")
    answers = view.locator("article.jan-from-assistant:not(.jan-growing)")
    expect(answers).to_have_count(2)

    asked = view.locator("article.jan-from-user", has_text="Why is the sky blue?")
    asked.get_by_role("button", name="Edit").click()
    editor = view.get_by_role("textbox", name="Edited text")
    expect(editor).to_have_value("Why is the sky blue?")
    editor.fill("天空为什么是蓝的？")
    view.get_by_role("button", name="Save").click()
    changed = view.locator("article.jan-from-user:visible", has_text="天空为什么是蓝的？")
    expect(changed).to_contain_text("2/2")
    expect(view.get_by_role("status")).to_have_text("the answer is there")
    changed.get_by_role("button", name="Version before").click()
    expect(asked).to_contain_text("1/2")

    view.get_by_role("button", name="Clear context").click()
    bar = view.locator("details", has_text="context cleared · 4 messages")
    expect(bar).to_be_visible()
    bar.locator("summary").focus()
    notebook.page.keyboard.press("Enter")
    expect(bar.locator("article")).to_have_count(4)
    notebook.screenshot("thread-cleared")
    view.get_by_role("button", name="Restore").click()
    expect(answers).to_have_count(2)
    notebook.screenshot("thread")
    notebook.use_theme("JupyterLab Dark")
    notebook.screenshot("thread-dark")
    notebook.use_theme("JupyterLab Light")


def test_an_answer_streams_and_is_stopped(open_cells: OpenCells) -> None:
    use = "%load_ext jan_magics\n%chat use -m offline:echo -P pace=0.05"
    notebook = open_cells([use, "%chat show --live"])
    notebook.run(0)
    notebook.run(1)
    view = view_in(notebook, 1)
    box = view.get_by_role("textbox", name="Ask: Enter sends")
    box.fill("\n\n".join(f"Paragraph {n} of *many* words." for n in range(40)))
    box.press("Enter")
    growing = view.locator(".jan-growing")
    expect(growing).to_contain_text("Paragraph 2")
    notebook.page.wait_for_function(STREAMING)
    edit = view.locator("article.jan-from-user:visible").get_by_role("button", name="Edit")
    expect(edit).to_be_disabled()
    expect(edit).to_have_attribute("title", "This waits for the end of what goes on.")
    notebook.screenshot("thread-streaming")
    view.get_by_role("button", name="Stop").click()
    expect(growing).to_be_hidden(timeout=2_000)
    stopped = view.locator("article.jan-from-assistant:not(.jan-growing)")
    expect(stopped).to_contain_text("stopped")
    expect(stopped).to_contain_text("Paragraph 2")
    expect(stopped).not_to_contain_text("Paragraph 39")
    expect(edit).to_be_enabled()


def test_a_tool_call_asks_in_the_view(open_cells: OpenCells) -> None:
    call = step(("send_mail", {"to": "李 <b>&"}), text="I will write.")
    with serving_here(call, step(text="Sent.")) as server:
        use = f"%chat use -m {server.address}#m --tools send_mail"
        notebook = open_cells([f"%load_ext jan_magics\n{MAIL}", use, "%chat show --live"])
        for cell in range(3):
            notebook.run(cell)
        view = view_in(notebook, 2)
        box = view.get_by_role("textbox", name="Ask: Enter sends")
        box.fill("Write to 李.")
        box.press("Enter")
        question = view.get_by_role("group", name="The model wants to run send_mail")
        expect(question).to_contain_text('{"to": "李 <b>&"}')
        assert barriers(notebook.page, ".jan-view") == []
        notebook.screenshot("thread-asks")
        question.get_by_role("button", name="Run once").click()
        expect(question).to_have_count(0)
        answers = view.locator("article.jan-from-assistant:not(.jan-growing)")
        expect(answers).to_contain_text("Sent.")
        expect(view).to_contain_text("called send_mail")


def test_nothing_in_it_runs(open_cells: OpenCells) -> None:
    notebook = open_cells(["%load_ext jan_magics", HOSTILE, "%chat show --live"])
    asked: list[str] = []
    notebook.page.on("request", lambda request: asked.append(request.url))
    before = notebook.page.title()
    for cell in range(3):
        notebook.run(cell)
    view = view_in(notebook, 2)
    expect(view.locator("article:visible").last).to_contain_text("<img src=x")
    assert view.locator("img, script, [onerror], [href^='javascript']").count() == 0
    assert notebook.page.title() == before
    assert not [url for url in asked if url.endswith("/x")]
