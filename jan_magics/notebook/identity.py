"""Which notebook this is, which folder, which cell: what the front end tells a kernel."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def notebook_path(setting: str | None, namespace: Mapping[str, object]) -> Path | None:
    """Return this notebook's path, None where nothing tells (console, script, nbclient).

    The setting wins; then Jupyter Server's variable; then what VS Code puts into the namespace.
    """
    candidates = (setting, os.environ.get("JPY_SESSION_NAME"), namespace.get("__vsc_ipynb_file__"))
    for candidate in candidates:
        if isinstance(candidate, str) and candidate.endswith(".ipynb"):
            return Path(candidate).expanduser().absolute()
    return None


def working_folder(notebook: Path | None) -> Path:
    """Return the notebook's folder, else the current one."""
    return notebook.parent if notebook else Path.cwd()


def execution_key(shell: Any) -> str:
    """Return what tells this execution of a cell from every other; "" outside of one."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else None
    header = parent.get("header") if isinstance(parent, dict) else None
    if isinstance(header, dict) and header.get("msg_id"):
        return str(header["msg_id"])
    return f"line {shell.execution_count}"


def cell_id(shell: Any) -> str:
    """Return the id of the running cell, "" where the front end sends none."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else None
    metadata = parent.get("metadata") if isinstance(parent, dict) else None
    found = metadata.get("cellId") if isinstance(metadata, dict) else None
    return found if isinstance(found, str) else ""


def in_kernel(shell: object) -> bool:
    """Return whether a front end behind a kernel shows what is displayed."""
    return shell is not None and hasattr(shell, "kernel")
