"""House rules on the syntax tree: what must not exist. `python -m tests.house` lists what does.

Style belongs to ruff, types to mypy, floors to import-linter, rules on plain text to `house_text`.
A rule is a function that takes one file and yields the lines that break it; `tests/test_house.py`
shows each rule firing.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests import house_imports, house_text
from tests.house_source import Broken, Function, Source, body, is_docstring, last_name, size

ROOT = Path(__file__).parent.parent
BAD_FILES = ("utils.py", "helpers.py", "common.py", "base.py", "core.py", "misc.py")
BAD_ENDINGS = ("Manager", "Handler", "Helper", "Service", "Wrapper", "Mixin", "Impl")
# The doors, where the user meets the code, and the places that record the failure of foreign code.
MAY_CATCH_ALL = ("magics/", "cli.py", "widgets/comm.py", "widgets/line.py", "engine/tools.py",
                 "engine/mapping.py", "rag/documents.py", "rag/readers")  # fmt: skip
MUTABLE = ("list", "dict", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict",
           "local", "WeakKeyDictionary", "WeakValueDictionary", "WeakSet")  # fmt: skip
SQL = re.compile(
    r"\s*(SELECT\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|PRAGMA\s"
    r"|(CREATE|DROP|ALTER)\s+(VIRTUAL\s+)?(TABLE|INDEX|VIEW|TRIGGER)\s|BEGIN\s+IMMEDIATE)"
)
ASSERTING = re.compile(r"_*(assert|check|expect|verify|raises|warns|fail)")

# ------------------------------------------------------------------------------- size and names


def long_file(source: Source) -> Broken:
    """A file stays under 300 lines."""
    if (count := source.text.count("\n")) >= 300:
        yield 1, f"{count} lines"


def long_function(source: Source) -> Broken:
    """A function stays under 40 lines."""
    yield from ((f.lineno, f"{f.name} has {size(f)}") for f in source.functions if size(f) >= 40)


def long_class(source: Source) -> Broken:
    """A class stays under 150 lines; Chat, the public face, may fill its file."""
    for c in source.classes:
        if size(c) >= 150 and c.name != "Chat":
            yield c.lineno, f"{c.name} has {size(c)} lines"


def file_name(source: Source) -> Broken:
    """No file is a drawer for odds and ends."""
    if (name := source.path.rpartition("/")[2]) in BAD_FILES:
        yield 1, f"{name} says nothing about its content"


def class_name(source: Source) -> Broken:
    """No class name ends in a word that says nothing."""
    for c in source.classes:
        if c.name.endswith(BAD_ENDINGS):
            yield c.lineno, c.name


def async_twin(source: Source) -> Broken:
    """No function exists twice, sync and async."""
    names = {f.name for f in source.functions}
    for f in source.functions:
        if isinstance(f, ast.AsyncFunctionDef) and names & {
            f.name.removeprefix("async_"), f.name.removesuffix("_async"), f.name.removeprefix("a"),
        } - {f.name}:  # fmt: skip
            yield f.lineno, f.name


# ------------------------------------------------------------------------------------- modules


def init_content(source: Source) -> Broken:
    """`__init__.py` re-exports; only the package's own may load lazily and greet IPython."""
    if not source.path.endswith("__init__.py") or not source.shipped:
        return
    top = source.path == "jan_magics/__init__.py"
    for node in source.body:
        plain = isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Assign)
            and all(last_name(t).startswith("__") for t in node.targets)
        )
        lazy = isinstance(node, ast.If) and last_name(node.test) == "TYPE_CHECKING"
        if not (plain or (top and (lazy or isinstance(node, Function | ast.Assign)))):
            yield node.lineno, type(node).__name__


def module_state(source: Source) -> Broken:
    """No name of a module holds something that can change, unless it is Final."""
    mutable = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    for node in source.body if source.shipped else []:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        final = isinstance(node, ast.AnnAssign) and last_name(node.annotation) == "Final"
        called = isinstance(node.value, ast.Call) and last_name(node.value) in MUTABLE
        if (
            (isinstance(node.value, mutable) or called)
            and not final
            and last_name(target) != "__all__"
        ):
            yield (
                node.lineno,
                f"{last_name(target)}: use a tuple, a frozenset or a MappingProxyType",
            )
    if source.shipped:
        yield from ((n.lineno, "global") for n in source.nodes if isinstance(n, ast.Global))


def import_work(source: Source) -> Broken:
    """Importing a module does nothing: no calls, loops or tries at its top."""
    work = ast.Expr | ast.For | ast.While | ast.With | ast.Try | ast.Delete | ast.AugAssign
    for node in source.body if source.shipped else []:
        if isinstance(node, work) and not is_docstring(node):
            yield node.lineno, type(node).__name__


def singleton(source: Source) -> Broken:
    """No class keeps its only instance."""
    for node in source.nodes if source.shipped else []:
        if isinstance(node, ast.Name | ast.Attribute) and last_name(node) in (
            "_instance",
            "_instances",
        ):
            yield node.lineno, last_name(node)


def monkeypatch(source: Source) -> Broken:
    """No attribute of an imported module is replaced."""
    modules = {name for _, name in source.imports}
    for node in source.nodes if source.shipped else []:
        for target in node.targets if isinstance(node, ast.Assign) else []:
            if isinstance(target, ast.Attribute) and last_name(target.value) in modules:
                yield target.lineno, f"{last_name(target.value)}.{target.attr}"


def mock(source: Source) -> Broken:
    """Doubles are written, not mocked."""
    for line, name in source.imports:
        if name.startswith("unittest.mock") or name.split(".")[0] == "mock":
            yield line, name


def domain_import(source: Source) -> Broken:
    """The domain knows the standard library and itself."""
    for line, name in source.imports if source.within("domain/") else []:
        top = name.split(".")[0]
        if top not in sys.stdlib_module_names and not name.startswith("jan_magics.domain"):
            yield line, name


def http_import(source: Source) -> Broken:
    """HTTP is spoken by providers only."""
    for line, name in source.imports if source.shipped and not source.within("providers/") else []:
        if name.startswith(("httpx", "requests", "urllib3", "urllib.request", "http.client")):
            yield line, name


# ------------------------------------------------------------------------------------ statements


def broad_except(source: Source) -> Broken:
    """Only the doors catch everything; elsewhere a broad except ends by raising again."""
    for node in source.nodes if source.shipped and not source.within(*MAY_CATCH_ALL) else []:
        if not isinstance(node, ast.ExceptHandler):
            continue
        raises = isinstance(node.body[-1], ast.Raise)
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        if not raises and any(
            kind is None or last_name(kind) in ("Exception", "BaseException") for kind in caught
        ):
            yield node.lineno, "name the errors that you expect"


def sql(source: Source) -> Broken:
    """SQL is written in storage and rag only."""
    for node in source.nodes if source.shipped and not source.within("storage/", "rag/") else []:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value):
            yield node.lineno, node.value.strip()[:30]


def matrix_product(source: Source) -> Broken:
    """A matrix product goes past OpenBLAS's false warnings: `rag.vectors.product`, or np.dot."""
    for node in source.nodes if source.shipped and not source.within("rag/vectors.py") else []:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield node.lineno, "use vectors.product"


def print_call(source: Source) -> Broken:
    """Only the doors print; an error is raised, not printed."""
    for node in source.nodes if source.shipped and not source.within("magics/", "cli.py") else []:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "print"
        ):
            yield node.lineno, "raise or return it"


def stub(source: Source) -> Broken:
    """Nothing is left for later: no empty function outside a Protocol, no NotImplementedError."""
    protocols = [c for c in source.classes if "Protocol" in map(last_name, c.bases)]
    excused = {id(f) for c in protocols for f in c.body}
    for node in source.nodes:
        if isinstance(node, ast.Raise) and last_name(node.exc) == "NotImplementedError":
            yield node.lineno, "NotImplementedError"
    for f in source.functions if source.shipped else []:
        empty = all(
            isinstance(n, ast.Pass)
            or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
            for n in f.body
        )
        # A docstring alone may say why there is nothing to do.
        excuse = id(f) in excused or "overload" in map(last_name, f.decorator_list) or not body(f)
        if empty and not excuse:
            yield f.lineno, f.name


def no_assertion(source: Source) -> Broken:
    """A test asserts something."""
    for f in source.functions if source.path.startswith("tests/") else []:
        asserts = any(
            isinstance(n, ast.Assert)
            or (isinstance(n, ast.Call) and ASSERTING.match(last_name(n.func)))
            for n in ast.walk(f)
        )
        if f.name.startswith("test_") and not asserts:
            yield f.lineno, f.name


RULES: tuple[Callable[[Source], Broken], ...] = (
    long_file, long_function, long_class, file_name, class_name, async_twin, init_content,
    module_state, import_work, singleton, monkeypatch, mock, domain_import, http_import,
    broad_except, sql, matrix_product, print_call, stub, no_assertion,
)  # fmt: skip


def check(source: Source) -> Iterator[str]:
    """Yield `path:line: rule: what` for everything in one file that must not exist."""
    for rule in RULES:
        for line, what in rule(source):
            yield f"{source.path}:{line}: {rule.__name__.replace('_', '-')}: {what}"


def check_all(root: Path = ROOT) -> Iterator[str]:
    """Yield what must not exist in the repository."""
    yield from house_imports.check(root)
    for path in house_text.files(root):
        name = path.relative_to(root).as_posix()
        yield from house_text.check(name, path)
        if path.suffix == ".py":
            yield from check(Source(name, path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    violations = list(check_all())
    print("\n".join(violations) or "House: nothing that must not exist.")
    sys.exit(bool(violations))
