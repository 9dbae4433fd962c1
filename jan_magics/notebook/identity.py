"""Which notebook this is, which folder, which cell: what the front end tells a kernel."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from jan_magics.engine.cells import (
    NO_MARKS,
    Marks,
    NotebookFile,
    marks_in,
    marks_of,
    travelling,
)

SESSION: Final = "JPY_SESSION_NAME"
LARGEST: Final = 64_000_000
"""Bytes of a notebook that is still read for its cells' ids."""
MOST_BESIDE: Final = 30
_VSCODE: Final = "vscode-notebook-cell:"


def told_by_front_end(shell: Any) -> tuple[object, ...]:
    """Return what may be the notebook's path: Jupyter Server's variable, VS Code's own."""
    return (_session(), shell.user_ns.get("__vsc_ipynb_file__"))


def notebook_path(*said: object) -> Path | None:
    """Return the first that is a notebook's path, None where nothing tells."""
    for told in said:
        if isinstance(told, str) and told.endswith(".ipynb"):
            path = Path(told).expanduser()
            # Older servers tell the path below their root; the kernel runs in its folder.
            if not path.is_absolute() and not path.exists() and Path(path.name).exists():
                path = Path(path.name)
            return path.absolute()
    return None


def execution_key(shell: Any) -> str:
    """Return what tells this execution of a cell from every other; "" outside of one."""
    header = _parent(shell, "header")
    if header.get("msg_id"):
        return str(header["msg_id"])
    return f"line {shell.execution_count}"


def cell_id(shell: Any) -> str:
    """Return the id of the running cell, "" where the front end sends none.

    VS Code sends an address with the notebook's path in it, which a renaming would change.
    """
    found = _parent(shell, "metadata").get("cellId")
    if not isinstance(found, str):
        return ""
    return f"vscode#{found.rpartition('#')[2]}" if found.startswith(_VSCODE) else found


def cell_marks(shell: Any) -> Marks:
    """Return what the running cell is known by, nothing where the front end sends no id."""
    code = _parent(shell, "content").get("code")
    return marks_of(cell_id(shell), code if isinstance(code, str) else "")


def in_kernel(shell: object) -> bool:
    """Return whether a front end behind a kernel shows what is displayed."""
    return shell is not None and hasattr(shell, "kernel")


@dataclass(slots=True)
class NotebookFiles:
    """The notebooks on the disk, read for what their cells are known by."""

    _looked: dict[tuple[str, Marks], tuple[int, str | None]] = field(default_factory=dict)

    def at(self, path: str) -> NotebookFile | None:
        """Return the notebook at a path, None where there is no file."""
        try:
            found = Path(path).stat()
            if found.st_size > LARGEST or not stat.S_ISREG(found.st_mode):
                return NotebookFile()
            return NotebookFile(_marks(Path(path).read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, RecursionError):
            return NotebookFile()

    def beside(self, path: str) -> Iterator[NotebookFile]:
        """Return the other notebooks of its folder, the newest first."""
        for other in _beside(path):
            yield self.at(other) or NotebookFile()

    def renamed(self, path: str, marks: Marks) -> str | None:
        """Return where the one notebook with that cell lies beside a path that is gone.

        None while there is a file at the path, or where no notebook or several have the cell.
        """
        wanted = travelling(marks)
        if not wanted or Path(path).exists():
            return None
        try:
            changed = Path(path).parent.stat().st_mtime_ns
        except OSError:
            return None
        # Read once for a cell and a state of the folder: a call asks several times.
        at, found = self._looked.get((path, wanted), (None, None))
        if at != changed:
            holders = [
                each for each in _beside(path) if not wanted.isdisjoint(marks_in(self.at(each)))
            ]
            found = holders[0] if len(holders) == 1 else None
            self._looked[path, wanted] = (changed, found)
        return found


def _beside(path: str) -> list[str]:
    """Return the paths of the other notebooks of a folder, the newest first."""
    try:
        others = [each for each in Path(path).parent.glob("*.ipynb") if str(each) != path]
        others.sort(key=lambda each: each.stat().st_mtime, reverse=True)
    except OSError:
        return []
    return [str(other) for other in others[:MOST_BESIDE]]


def _marks(content: bytes) -> Marks | None:
    """Return what the cells of a notebook are known by, None where it has cells without ids."""
    notebook = json.loads(content)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        return None
    found = [_cell_marks(cell) for cell in cells if isinstance(cell, dict)]
    return NO_MARKS.union(*found) if all(found) else None


def _cell_marks(cell: Mapping[str, object]) -> Marks:
    identifier, source = cell.get("id"), cell.get("source")
    code = "".join(map(str, source)) if isinstance(source, list) else str(source)
    return marks_of(identifier, code) if isinstance(identifier, str) else NO_MARKS


def _parent(shell: Any, part: str) -> Mapping[str, Any]:
    """Return a part of the request that is being executed."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else None
    found = parent.get(part) if isinstance(parent, dict) else None
    return found if isinstance(found, dict) else {}


def _session() -> str | None:
    """Return the name that Jupyter Server gave this kernel.

    A kernel that a notebook starts (papermill in a cell) inherits the variable; it is not meant.
    """
    told = os.environ.get(SESSION)
    if not told:
        return None
    return None if _environment_of_parent().get(SESSION) == told else told


@cache
def _environment_of_parent() -> Mapping[str, str]:
    try:
        import psutil  # comes with ipykernel
    except ImportError:
        return {}
    try:
        environment: Mapping[str, str] = psutil.Process(os.getppid()).environ()
    except (psutil.Error, OSError):
        return {}
    return environment
