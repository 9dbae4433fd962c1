"""What a kernel does with a notebook, without a kernel: quick to start, and several at once."""

from collections.abc import Mapping
from pathlib import Path

import nbformat

from jan_magics.api.answer import Answer
from jan_magics.api.host import Host, Showing
from jan_magics.domain.messages import text_of
from jan_magics.domain.overlays import CellLink
from jan_magics.engine.asking import Asking
from jan_magics.engine.assemble import Opening
from jan_magics.engine.cells import marks_of
from jan_magics.engine.naming import own
from jan_magics.notebook.identity import NotebookFiles


def write(path: Path, cells: Mapping[str, str]) -> Path:
    """Write a notebook whose cells have these ids and prompts."""
    made = [nbformat.v4.new_code_cell(f"%%chat\n{text}", id=cell) for cell, text in cells.items()]
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)
    return path


class NotebookHost:
    """The host of one kernel; `notebook` is what the front end has told it."""

    def __init__(self, notebook: Path | None) -> None:
        self.running = ("", "")
        self.notebook = notebook
        self.host = Host(
            Opening(
                NotebookFiles(),
                notebook=lambda *_: self.notebook,
                marks=lambda: marks_of(*self.running),
            )
        )

    def ask(
        self, text: str, cell: str = "", thread: str | None = None, rerun: str | None = None
    ) -> Answer:
        """Run a cell that asks; without an id as nbclient does."""
        self.running = (cell, f"%%chat\n{text}")
        link = CellLink(self.host.opening.here().notebook, cell, 0, "") if cell else None
        asking = Asking(text, thread, "offline:echo", cell=link, rerun=rerun)
        return self.host.ask(asking, Showing(show=False))

    def path(self, *, everything: bool = False) -> list[str]:
        """Return the texts of the thread that the next turn goes to."""
        session = self.host.session()
        thread = session.current()
        if thread is None:
            return []
        index = session.engine.tree(thread)
        return [text_of(m) for m in (index.messages if everything else index.path())]

    def threads(self) -> list[tuple[str, str, int]]:
        """Return notebook, title and number of messages of every thread, sorted."""
        rows = self.host.session().engine.store.threads()
        return sorted(
            (Path(own(row.thread).get("notebook", "")).name, row.thread.title, row.messages)
            for row in rows
        )

    def __enter__(self) -> "NotebookHost":
        return self

    def __exit__(self, *_: object) -> None:
        self.host.close()


def footer(answer: Answer) -> str:
    """Return the line below an answer."""
    return str(answer._repr_mimebundle_()["text/plain"])
