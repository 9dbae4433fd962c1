"""Look for keys, passwords and addresses of people in notebooks, cassettes and files.

What is found is told by its place and a masked sample; texts of places are masked as well.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from jan_magics.domain.errors import SettingError
from jan_magics.domain.secrets import scrubbed, secrets_in
from jan_magics.engine.cassette import SUFFIX
from jan_magics.engine.leak_stores import (
    Clock,
    collections_below,
    leaks_in_collections,
    leaks_in_folder,
)
from jan_magics.engine.leak_texts import BINARY, Leak, is_lines, leaks_in
from jan_magics.engine.listed import SUFFIX as COLLECTION

LARGEST: Final = 200_000_000
"""Bytes of a file that is still read."""
SKIPPED: Final = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"})
WIDGETS: Final = "widgets"


def leaks_at(path: Path, now: Clock) -> Iterator[Leak]:
    """Yield what a file, a folder or a data folder holds. Raises SettingError, StoreError."""
    if not path.exists():
        raise SettingError(f"{str(path)!r} does not exist", "Name a notebook, a file or a folder.")
    if path.is_file():
        yield from leaks_in_file(path, path.name)
        yield from leaks_in_collections([path] if path.suffix == COLLECTION else [], now)
        if path.suffix == ".ipynb":
            yield from _beside(path)
        return
    for each in sorted(_files(path)):
        yield from leaks_in_file(each, each.relative_to(path).as_posix())
    for folder in _data_folders(path):
        yield from leaks_in_folder(folder, now)
    files = collections_below(path)
    yield from leaks_in_collections([f for f in files if not SKIPPED & {*f.parts}], now)


def leaks_in_file(path: Path, name: str) -> Iterator[Leak]:
    """Yield what a file holds: a notebook by its cells, others by their lines; bytes are none."""
    try:
        data = path.read_bytes() if path.stat().st_size <= LARGEST else b"\0"
    except OSError as fault:
        raise SettingError(f"{path.name!r} cannot be read: {fault}", "Look at the file.") from fault
    if b"\0" in data:
        return
    text = data.decode("utf-8", "replace")
    found = leaks_in_notebook(text) if path.suffix == ".ipynb" else leaks_in_lines(text)
    for each in found:
        yield Leak(f"{scrubbed(name)}: {each.place}", each.kind, each.sample)


def leaks_in_notebook(text: str) -> Iterator[Leak]:
    """Yield what sources, outputs, metadata and widgets of a notebook hold."""
    notebook = _json(text)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        yield from leaks_in_lines(text)
        return
    for number, cell in enumerate(notebook["cells"], 1):
        if isinstance(cell, dict):
            for part, value in cell.items():
                yield from leaks_in(f"cell {number}, {part}", value)
    metadata = notebook.get("metadata")
    for name, value in metadata.items() if isinstance(metadata, dict) else ():
        yield from leaks_in("widget state" if name == WIDGETS else "metadata", value)


def leaks_in_lines(text: str) -> Iterator[Leak]:
    """Yield what lines hold; those of JSON Lines are read as JSON, as its texts are escaped."""
    if _json(text.partition("\n")[0]) is None:
        for each in secrets_in(text):
            yield Leak(f"line {text.count(chr(10), 0, each.start) + 1}", each.kind, each.sample)
        return
    for number, line in enumerate(text.split("\n"), 1):
        value = _json(line)
        yield from leaks_in(f"line {number}", line if value is None else value)


def without_secrets(value: Any) -> Any:
    """Return JSON without secrets; addresses of people and bytes stay as they are."""
    if isinstance(value, str):
        return scrubbed(value)
    if isinstance(value, list):
        if is_lines(value):
            whole = "".join(value)
            clean = scrubbed(whole)
            return value if clean == whole else clean.splitlines(keepends=True)
        return [without_secrets(each) for each in value]
    if isinstance(value, dict):
        return {
            scrubbed(name): each if BINARY.match(name) else without_secrets(each)
            for name, each in value.items()
        }
    return value


def _beside(notebook: Path) -> Iterator[Leak]:
    """Yield what the copies hold that belong to a notebook: its cassette and its checkpoint."""
    cassette = notebook.with_name(f"{notebook.stem}{SUFFIX}")
    for each in (cassette, checkpoint_of(notebook)):
        if each.is_file():
            yield from leaks_in_file(each, each.relative_to(notebook.parent).as_posix())


def checkpoint_of(notebook: Path) -> Path:
    """Return where Jupyter keeps the last checkpoint of a notebook."""
    return notebook.parent / ".ipynb_checkpoints" / f"{notebook.stem}-checkpoint.ipynb"


def _files(folder: Path) -> Iterator[Path]:
    for each in folder.iterdir():
        if each.is_symlink() or each.name in SKIPPED:
            continue
        if each.is_dir():
            if not _holds_threads(each) and each.name != "threads":
                yield from _files(each)
        elif each.is_file() and each.suffix != ".db":
            yield each


def _data_folders(folder: Path) -> Iterable[Path]:
    """Return the folders that keep threads: this one, and those below it."""
    if _holds_threads(folder):
        return [folder]
    below = (each for each in folder.rglob("*") if each.is_dir() and not SKIPPED & {*each.parts})
    return [each for each in sorted(below) if _holds_threads(each)]


def _holds_threads(folder: Path) -> bool:
    return (folder / "jan.db").is_file() or any(folder.glob("threads/*/thread.json"))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
