"""House rules on plain text: what no file of the repository may say or weigh.

The patterns are written so that they do not match this file.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 1_000_000
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:[w]ork|[r]oot|[h]ome|[U]sers)/\w|\b[A-Z]:\\[U]sers\\")
REGISTRY = re.compile(
    r"pypi\.[o]rg|python[h]osted|npm[j]s\.|yarn[p]kg\.|deb\.[d]ebian|index[-_]url|[r]egistry="
)


def files(root: Path) -> list[Path]:
    """List the files that are, or could be, committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip
    return sorted(path for name in listed.split("\0") if (path := root / name).is_file())


def weight(name: str, size: int) -> Iterator[str]:
    """Yield a complaint about a file too heavy for a repository."""
    if size > MAX_BYTES and not name.endswith("package-lock.json"):
        yield f"{name}:1: heavy-file: {size} bytes"


def text(name: str, content: str) -> Iterator[str]:
    """Yield every line that works on one machine only."""
    for number, line in enumerate(content.splitlines(), 1):
        if found := MACHINE_PATH.search(line):
            yield f"{name}:{number}: machine-path: {found[0]}"
        if found := REGISTRY.search(line):
            yield f"{name}:{number}: registry: {found[0]}"


def notebook(name: str, content: str) -> Iterator[str]:
    """Yield the cells of a notebook that were committed with what a run left in them."""
    for number, cell in enumerate(json.loads(content)["cells"], 1):
        if cell.get("outputs") or cell.get("execution_count"):
            yield f"{name}:1: notebook-output: cell {number}"


def check(name: str, path: Path) -> Iterator[str]:
    """Yield what is wrong with one file; bytes that are no text are only weighed."""
    data = path.read_bytes()
    yield from weight(name, len(data))
    if b"\0" in data:
        return
    content = data.decode("utf-8", "replace")
    yield from text(name, content)
    if name.endswith(".ipynb"):
        yield from notebook(name, content)
