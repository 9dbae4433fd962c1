"""The panel in JupyterLab with 500 threads: how long until it shows them, and until it follows.

python -m tests.benchmarks.bench_panel [THREADS]
"""

import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

from tests.browser import notebook
from tests.browser.conftest import FLAGS, SIZE
from tests.browser.lab import running_lab
from tests.browser.notebook import OpenNotebook
from tests.browser.panel import close_panel, load

MAKE = """from jan_magics.api.opening import current_host
engine = current_host().session().engine
for n in range(COUNT):
    thread = engine.new_thread(f"thread {n} 红熊猫 🐼 with a title of some length", {})
%chat use {thread.title}"""
# From the command to the frame after the one in which the rows are there.
OPEN = """async () => {
  const begun = performance.now();
  await window.jupyterapp.commands.execute('jan-magics:panel');
  const shown = () => document.querySelectorAll('.jan-Panel-threads .jan-Panel-item').length;
  while (!shown()) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}"""
SEARCH = """async () => {
  const box = document.querySelector('.jan-Panel-threads input[type=search]');
  const begun = performance.now();
  box.value = box.value ? '' : 'thread 77 ';
  box.dispatchEvent(new Event('input', { bubbles: true }));
  const goal = box.value ? 1 : 50;
  const rows = () => document.querySelectorAll('.jan-Panel-threads .jan-Panel-item').length;
  while (rows() !== goal) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}"""
REPEATS = 5


def measure(page: Page) -> None:
    """Print milliseconds: the first time that the panel opens, then without the first."""
    first = page.evaluate(OPEN)
    print(f"first paint of the panel: {first:.0f} ms")
    again = []
    for _ in range(REPEATS):
        close_panel(page)
        again.append(page.evaluate(OPEN))
    print(f"opened again:             {median(again):.0f} ms")
    page.evaluate(SEARCH)  # the first search reads all threads
    found = [page.evaluate(SEARCH) for _ in range(2 * REPEATS)]
    print(f"found, from the last key: {median(found):.0f} ms")


def main(count: int = 500) -> int:
    """Open the panel of a notebook whose data folder has so many threads."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no chromium: apt-get install chromium")
        return 1
    with (
        tempfile.TemporaryDirectory() as folder,
        running_lab(Path(folder)) as lab,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page(viewport=SIZE)
        cells = [load(Path(folder) / "threads"), MAKE.replace("COUNT", str(count))]
        notebook.write(lab.root / "panel.ipynb", cells)
        opened = OpenNotebook.open(page, lab, "panel.ipynb")
        opened.run(0)
        opened.run(1)
        measure(page)
        opened.close_kernel()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
