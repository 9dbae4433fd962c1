"""No text of the package names a command, a flag or a setting that does not exist."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import jan_magics
from jan_magics.engine.setting_list import BY_NAME, trait_of
from jan_magics.magics.commands import ASKING, VERBS

FLAGS = {verb.name: {name for flag in verb.flags for name in flag.names} for verb in VERBS}
OF_CELLS = {name for flag in ASKING for name in flag.names}
PACKAGE = Path(jan_magics.__file__).parent
ROOT = PACKAGE.parent

LINE = re.compile(r"(?<!%)%(?:chat|jan)[ \t]+([a-z][a-z_]*)([^`\n%]*)")
CELL = re.compile(r"%%(?:chat|jan)[ \t]+(-[^`\n%]*)")
CELL_WORD = re.compile(r"%%(?:chat|jan) ([a-z]+)")
FLAG = re.compile(r"(?:^|(?<=\s))(--?[a-zA-Z][a-zA-Z_-]*)")
SETTING = re.compile(r"JanMagics\.([a-z_.]+)")


def texts(source: str) -> Iterator[str]:
    """Yield every string of a program, an f-string whole, with … for what is filled in."""
    nodes = list(ast.walk(ast.parse(source)))
    joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    pieces = {id(piece) for node in joined for piece in node.values}
    for whole in joined:
        yield "".join(
            str(piece.value) if isinstance(piece, ast.Constant) else "…" for piece in whole.values
        )
    for node in nodes:
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in pieces
        ):
            yield node.value


def unknown(text: str) -> Iterator[str]:
    """Yield the commands, flags and settings of a text that do not exist."""
    for verb, rest in LINE.findall(text):
        if verb in FLAGS:
            # A prompt may say anything behind it.
            flags = set(FLAG.findall(rest)) - {"-h", "--help"}
            yield from (f"%chat {verb} {flag}" for flag in flags - FLAGS[verb])
        else:
            yield f"%chat {verb}"
    yield from (f"%%chat {word}" for word in CELL_WORD.findall(text) if word in FLAGS)
    for rest in CELL.findall(text):
        flags = set(FLAG.findall(rest)) - {"-h", "--help"}
        yield from (f"%%chat {flag}" for flag in flags - OF_CELLS)
    yield from (
        f"JanMagics.{name}"
        for name in SETTING.findall(text)
        if name not in set(map(trait_of, BY_NAME))
    )


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_what_a_text_tells_to_type_exists(path: Path) -> None:
    assert [each for text in texts(path.read_text("utf-8")) for each in unknown(text)] == []


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_the_pages_too(name: str) -> None:
    assert list(unknown((PACKAGE.parent / name).read_text("utf-8"))) == []


EXTRA = re.compile(r"jan-magics\[([a-z,]+)\]")


def test_every_extra_that_is_named_can_be_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pages = "".join(
        each.read_text("utf-8") for each in (*PACKAGE.rglob("*.py"), *ROOT.glob("*.md"))
    )
    named = {name for names in EXTRA.findall(pages) for name in names.split(",")}
    assert {"rag", "onnx", "pdf", "plot", "mcp"} <= named <= project["optional-dependencies"].keys()


def test_what_does_not_exist_is_found() -> None:
    source = (
        "x = f'see `%chat plam {y}` and %chat threads --all, %%chat go'\n"
        "y = '%%chat --fast: JanMagics.z'"
    )
    found = [each for text in texts(source) for each in unknown(text)]
    assert sorted(found) == [
        "%%chat --fast",
        "%%chat go",
        "%chat plam",
        "%chat threads --all",
        "JanMagics.z",
    ]
