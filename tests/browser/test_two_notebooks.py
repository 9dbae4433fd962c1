"""Two notebooks side by side: each shows its own turns, and a stop in one is quick and its own."""

from tests.benchmarks.bench_first_chat import server
from tests.browser import notebook as notebooks
from tests.browser.conftest import OpenCells
from tests.browser.lab import Lab
from tests.browser.notebook import KERNEL_IS_READY, PANEL, OpenNotebook
from tests.browser.test_turn import LOAD, begin, turn
from tests.browser.waiting import expect

STOP_MS = 300
# It returns nothing: a widget would be written out whole for us, which takes seconds.
BESIDE = """async path => {
  const options = { mode: 'split-right' };
  const how = { path, factory: 'Notebook', options };
  await window.jupyterapp.commands.execute('docmanager:open', how);
}"""
ACTIVATE = """path => {
  const { shell } = window.jupyterapp;
  const found = [...shell.widgets('main')].find(each => each.context?.path === path);
  shell.activateById(found.id);
  return new Promise(done => {
    const look = () => (shell.currentWidget === found ? done() : setTimeout(look, 20));
    look();
  });
}"""
# Times of the pieces of turns as they arrive, and of the press of a button.
WATCH = f"""() => {{
  const kernel = {PANEL}.sessionContext.session.kernel;
  window.deltas = [];
  kernel.iopubMessage.connect((_kernel, message) => {{
    if (message.header.msg_type === 'comm_msg' && message.content.data.kind === 'turn') {{
      window.deltas.push(performance.now());
    }}
  }});
  document.addEventListener('click', () => (window.clicked = performance.now()), true);
}}"""
TOOK = "() => Math.max(0, ...window.deltas) - window.clicked"


def test_a_stop_is_quick_and_touches_one_notebook(open_cells: OpenCells, lab: Lab) -> None:
    with server(0.02, 3000) as address:
        ask = f"%%chat -m {address}#fixed --max-tokens 4000\nGo on and on."
        first = open_cells([LOAD, ask])
        page = first.page
        first.run(0)
        notebooks.write(lab.root / "beside.ipynb", [LOAD, ask])
        page.evaluate(BESIDE, "beside.ipynb")
        page.wait_for_function(f"name => {PANEL}.context?.path === name", arg="beside.ipynb")
        page.wait_for_function(KERNEL_IS_READY)
        second = OpenNotebook(page, lab.root / "beside.ipynb")
        second.run(0)
        begin(second, 1)
        shown = turn(second, 1)
        expect(shown).to_contain_text("token token")
        expect(shown).to_have_count(1)  # none in the other notebook

        page.evaluate(ACTIVATE, first.path.name)
        begin(first, 1)
        expect(shown).to_have_count(2)
        expect(shown.nth(0)).to_contain_text("token token")
        page.evaluate(WATCH)
        page.screenshot(path=first.picture("two notebooks"), animations="disabled")
        shown.nth(0).get_by_role("button", name="Stop").click()
        expect(shown.nth(0).get_by_role("button", name="Go on")).to_be_visible()
        took = page.evaluate(TOOK)
        assert took <= STOP_MS, f"{took:.0f} ms"
        expect(shown.nth(1)).to_have_attribute("data-state", "running")
        words = len(shown.nth(1).inner_text())
        page.wait_for_function(
            "([n, words]) => document.querySelectorAll('.jan-Turn')[n].innerText.length > words",
            arg=[1, words],
        )
        shown.nth(1).get_by_role("button", name="Stop").click()
        expect(shown.nth(1).get_by_role("button", name="Go on")).to_be_visible()
        page.evaluate(ACTIVATE, "beside.ipynb")
        second.close_kernel()
        page.evaluate(ACTIVATE, first.path.name)
