"""One Python file as the house rules see it: path, text and syntax tree. No rules here."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef
Broken = Iterator[tuple[int, str]]  # line, what is wrong there


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the root, with slashes, and its text."""

    path: str
    text: str

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree, outermost first; the first is the module."""
        return list(ast.walk(ast.parse(self.text)))

    @property
    def body(self) -> list[ast.stmt]:
        """The statements of the module, without its docstring."""
        return body(self.nodes[0])

    @property
    def functions(self) -> Iterator[Function]:
        """Every function, at any depth."""
        return (node for node in self.nodes if isinstance(node, Function))

    @property
    def classes(self) -> Iterator[ast.ClassDef]:
        """Every class, at any depth."""
        return (node for node in self.nodes if isinstance(node, ast.ClassDef))

    @property
    def imports(self) -> Broken:
        """The line and the full name of every absolute import, at any depth."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((node.lineno, name.name) for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield from ((node.lineno, f"{node.module}.{name.name}") for name in node.names)

    @property
    def shipped(self) -> bool:
        """Whether the file is part of the package."""
        return self.path.startswith("jan_magics/")

    def within(self, *places: str) -> bool:
        """Whether the file is one of these of the package, or lies in one of these folders."""
        return self.path.startswith(tuple(f"jan_magics/{place}" for place in places))


def body(node: ast.AST) -> list[ast.stmt]:
    """Give the statements of a block without its docstring."""
    statements: list[ast.stmt] = getattr(node, "body", [])
    return statements[1:] if statements and is_docstring(statements[0]) else statements


def is_docstring(node: ast.stmt) -> bool:
    """Tell whether a statement is a bare string."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def last_name(node: ast.AST | None) -> str:
    """Give the last part of a dotted name, also when it is called or subscripted."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return last_name(inner)
        case _:
            return ""


def size(node: Function | ast.ClassDef) -> int:
    """Count the lines of a definition, without its decorators."""
    return (node.end_lineno or node.lineno) - node.lineno + 1
