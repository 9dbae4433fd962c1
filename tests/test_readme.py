"""Every code block of the README runs: cells in one real kernel, in their order, as a reader would.

Those of a class without internet are followed in `tests/notebooks/test_class.py`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from tomllib import loads

import pytest

from tests.kernel import ROOT, Kernel, homes, running_kernel
from tests.readme import Block, blocks

ELSEWHERE = "A class without internet"
SHELL = re.compile(r"(?:pip|make|mkdir|python|jan-magics|env/bin)\b")
BLOCKS = [each for each in blocks() if each.section != ELSEWHERE]
CELLS = [each for each in BLOCKS if not SHELL.match(each.text)]
COMMANDS = [each for each in BLOCKS if SHELL.match(each.text)]
BEFORE = """
import pandas as pd
from pathlib import Path
moons = pd.DataFrame({"planet": ["Mars", "Jupiter", "Saturn"], "moons": [2, 95, 146]})
table = pd.DataFrame({"part": ["bolts"], "year": [2026], "left": [7]})
for name in ("notes/renaming.md", "manual.md", "manual/threads.md"):
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("# Threads\\n\\nHow do I rename a thread? With %chat rename, 改名.\\n")
"""
"""What a reader has by then: the tables and files that the text speaks of."""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("readme")
    with running_kernel(folder, JAN_MODEL="offline:quote", **homes(folder)) as running:
        running.ok(BEFORE)
        yield running


@pytest.mark.parametrize("block", CELLS, ids=lambda block: block.name[:60])
def test_a_cell_runs(kernel: Kernel, block: Block) -> None:
    ran = kernel.ok(block.text)
    if "--map" in block.text.partition("\n")[0]:
        assert "answered" in ran.displays[-1]["text/plain"]
    elif block.text.startswith("%%chat"):
        assert ran.turn["text"]


def test_what_is_installed_and_made_is_there() -> None:
    project = loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    lines = [line for each in (*COMMANDS, *blocks(ELSEWHERE)) for line in each.text.splitlines()]
    for line in lines:
        for extra in re.findall(r"jan-magics\[(\w+)\]", line):
            assert extra in project["optional-dependencies"], line
        if made := re.match(r"make (\w+)", line):
            assert f"\n{made[1]}:" in makefile, line
    assert any(line.startswith("make") for line in lines)


def test_every_lesson_that_is_named_is_there() -> None:
    text = Path(ROOT, "README.md").read_text("utf-8")
    course = text.partition("## The course")[2].partition("\n## ")[0]
    named = re.findall(r"`(\d\d_\w+)`", course)
    assert named
    for name in (*named, *re.findall(r"`notebooks/(\w+)\.ipynb`", text)):
        assert (ROOT / "notebooks" / f"{name}.ipynb").is_file(), name
