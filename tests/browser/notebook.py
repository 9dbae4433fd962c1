"""Drive one notebook in JupyterLab: open, edit, run, save, look. It waits for states, not times."""

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import nbformat
from playwright.sync_api import Locator, Page

from tests.browser.lab import Lab

SCREENS = Path(__file__).parents[2] / "build" / "screens"
# Complete, as a kernel writes it: what is missing JupyterLab would add, and the notebook be dirty.
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": platform.python_version(),
    },
}
# Light comes last: the server keeps the theme for the tests that follow.
THEMES = ("JupyterLab Dark", "JupyterLab Light")
PANEL = "window.jupyterapp.shell.currentWidget"
KERNEL_IS_READY = f"""() => {{
  const kernel = window.jupyterapp && {PANEL}?.sessionContext?.session?.kernel;
  return kernel?.status === 'idle' && kernel.connectionStatus === 'connected';
}}"""
# `how` is the kernel: "ready", or "known", before which whoever runs a cell starts another one.
IS_SHOWN = f"""([name, how]) => {{
  const panel = window.jupyterapp && {PANEL};
  return panel?.context?.path === name
    && panel.node.querySelector('.jp-Notebook .jp-Cell')
    && !document.getElementById('jupyterlab-splash')
    && (how !== 'ready' || ({KERNEL_IS_READY})())
    && (how !== 'known' || panel.sessionContext?.session?.kernel);
}}"""
OFTEN = 20
"""Milliseconds between two looks: what waits for a selector looks twice a second."""
REOPEN = """async ([path, more]) => {
  const { commands, shell } = window.jupyterapp;
  [...shell.widgets('main')].forEach(widget => widget.dispose());
  await commands.execute('docmanager:open', { path, factory: 'Notebook', ...more });
}"""
NO_KERNEL = {
    "kernelPreference": {"shouldStart": False, "canStart": False, "autoStartDefault": False}
}
# The old ones go last: an empty JupyterLab would show its launcher.
SHOW = """async ([path, more]) => {
  const { commands, shell } = window.jupyterapp;
  const before = [...shell.widgets('main')];
  await commands.execute('docmanager:open', { path, factory: 'Notebook', ...more });
  before.forEach(widget => widget.dispose());
}"""
CELL_IS_DONE = f"""index => {{
  const cell = {PANEL}.content.model.cells.get(index);
  return cell.executionCount !== null && cell.executionState !== 'running';
}}"""


def write(path: Path, sources: Sequence[str]) -> None:
    """Write a notebook of code cells."""
    notebook = nbformat.v4.new_notebook(metadata=METADATA)
    # Their ids are random, as in every notebook that somebody began.
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(notebook, path)


@dataclass(frozen=True)
class OpenNotebook:
    """A notebook on a page, its kernel ready; cells are counted from 0."""

    page: Page
    path: Path

    @classmethod
    def open(cls, page: Page, lab: Lab, name: str, *, busy: bool = False) -> "OpenNotebook":
        """Open a notebook of the server and wait until it can be used, or is `busy`."""
        return cls.load(page, lab, name, lab.link(name), busy=busy)

    @classmethod
    def load(
        cls, page: Page, lab: Lab, name: str, link: str, *, busy: bool = False
    ) -> "OpenNotebook":
        """Load a page that shows a notebook of the server; the rest as `open`."""
        page.goto(link)
        return cls(page, lab.root / name)._shown("known" if busy else "ready")

    @classmethod
    def show(cls, page: Page, lab: Lab, name: str, *, kernel: bool = True) -> "OpenNotebook":
        """Show a notebook alone in the JupyterLab that a page has, loaded where it has none."""
        if not page.url.startswith(lab.url):
            return cls.open(page, lab, name)
        page.evaluate(SHOW, [name, {} if kernel else NO_KERNEL])
        return cls(page, lab.root / name)._shown("ready" if kernel else "none")

    def reopen(self, *, kernel: bool = True) -> "OpenNotebook":
        """Close the notebook and open its file again in the same page, without a kernel if told."""
        name = self.path.name
        self.page.evaluate(REOPEN, [name, {} if kernel else NO_KERNEL])
        return OpenNotebook(self.page, self.path)._shown("ready" if kernel else "none")

    def _shown(self, how: Literal["ready", "known", "none"]) -> "OpenNotebook":
        """Wait until it is what the page shows, with its kernel."""
        self.page.wait_for_function(IS_SHOWN, arg=[self.path.name, how], polling=OFTEN)
        return self

    def evaluate(self, script: str, argument: object = None) -> Any:
        """Evaluate a script in the page, with `panel` as the notebook's panel."""
        return self.page.evaluate(f"argument => {{ const panel = {PANEL}; {script} }}", argument)

    def command(self, name: str) -> None:
        """Execute one of JupyterLab's commands and wait for its end."""
        self.page.evaluate(
            "async name => { await window.jupyterapp.commands.execute(name); }", name
        )

    def lines(self, cell: int) -> Locator:
        """Give the painted lines of a cell's editor."""
        return self.page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .cm-line")

    def mime_type(self, cell: int) -> str:
        """Give the MIME type that decides how a cell is highlighted."""
        mime: str = self.evaluate("return panel.content.model.cells.get(argument).mimeType", cell)
        return mime

    def wait_for_mime_type(self, cell: int, mime: str) -> None:
        """Wait until a cell is highlighted as a MIME type says."""
        test = f"([i, mime]) => {PANEL}.content.model.cells.get(i).mimeType === mime"
        self.page.wait_for_function(test, arg=[cell, mime])

    @property
    def dirty(self) -> bool:
        """Whether the notebook has changes that are not saved."""
        return bool(self.evaluate("return panel.context.model.dirty"))

    def edit(self, cell: int, source: str) -> None:
        """Replace a cell's text."""
        script = "panel.content.model.cells.get(argument[0]).sharedModel.setSource(argument[1])"
        self.evaluate(script, [cell, source])

    def run(self, cell: int) -> None:
        """Run a cell and wait for its end; its output may be painted a little later."""
        self.evaluate(
            "panel.content.deselectAll(); panel.content.activeCellIndex = argument;"
            "void window.jupyterapp.commands.execute('notebook:run-cell')",
            cell,
        )
        self.page.wait_for_function(CELL_IS_DONE, arg=cell, polling=OFTEN)

    def save(self) -> Any:
        """Save the notebook and read what lies on the disk."""
        self.command("docmanager:save")
        self.page.wait_for_function(f"() => !{PANEL}.context.model.dirty", polling=OFTEN)
        return nbformat.read(self.path, as_version=4)

    def run_all(self) -> None:
        """Run every cell and wait for the end of the last."""
        self.command("notebook:run-all-cells")

    def rename(self, name: str) -> "OpenNotebook":
        """Rename the file as the file browser does; the kernel goes on."""
        self.evaluate("return panel.context.rename(argument)", name)
        return OpenNotebook(self.page, self.path.with_name(name))

    def restart_kernel(self) -> None:
        """Restart the kernel and wait until it can be used."""
        self.evaluate("return panel.sessionContext.restartKernel()")
        self.page.wait_for_function(KERNEL_IS_READY)

    def close_kernel(self, *, wait: bool = True) -> None:
        """End the kernel, so that a long run of tests does not gather them."""
        ended = "panel?.sessionContext?.shutdown().catch(() => undefined)"
        self.evaluate(f"return {ended}" if wait else f"void {ended}")

    def use_theme(self, name: str) -> None:
        """Switch JupyterLab's theme, for instance to `JupyterLab Dark`, and wait until it shows."""
        self.page.evaluate(
            "async theme => {"
            " await window.jupyterapp.commands.execute('apputils:change-theme', { theme }); }",
            name,
        )
        self.page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")
        # JupyterLab takes its splash away twice where another theme follows too soon.
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def picture(self, name: str) -> Path:
        """Return where a picture of that name lies, in build/screens/."""
        SCREENS.mkdir(parents=True, exist_ok=True)
        return SCREENS / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}.png"

    def screenshot(self, name: str) -> Path:
        """Take a picture of the notebook into build/screens/."""
        path = self.picture(name)
        self.page.locator(".jp-NotebookPanel").screenshot(path=path, animations="disabled")
        return path
