"""No module may need itself: imports run in one direction, those inside of functions too."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = "jan_magics"


def check(root: Path) -> Iterator[str]:
    """Yield one circle of imports, when there is any."""
    files = {_name(root, path): path for path in sorted((root / PACKAGE).rglob("*.py"))}
    graph = {name: set(_imported(path, files)) for name, path in files.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"{PACKAGE}: import-circle: {' ← '.join(error.args[1])}"


def _name(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path, files: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name for name in inside if name in files]
            # A folder's own file is empty: who imports a module from it needs that module only.
            yield from found or [name for name in (node.module,) if name in files]
