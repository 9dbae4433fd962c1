"""A notebook with its cassette is a test: nbval passes twice, executing twice gives one file."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.kernel import ROOT, running_kernel

TOOL = """import jan_magics as jan

@jan.tool(safe=True)
def weight(sample: str) -> float:
    "Weigh a sample."
    raise RuntimeError("tools are not run")
"""
CELLS = (
    "%load_ext jan_magics",
    TOOL,
    "%chat use -m offline:echo -t lab",
    "%%chat -o answer\nSample 7 weighs 42 kg, 样品七. 🎉",
    "answer",
    "answer.timings, answer.usage, answer.message, answer.thread",
    "answer.sent",
    "%%chat --tools weight\nHow heavy is sample 7?",
    "%chat retry",
    "%%chat --max-tokens 3\nSay it in many words.",
    "%chat resume",
    "%%chat --no-stream -f text\nAgain?",
    "%%chat --dry-run\nAnd what now?",
    "%%chat --grid window=600,900 --needle 42\nHow heavy is sample 7?",
    "%chat",
    "%chat tree",
    "%chat show",
    "%chat go prev",
    "%chat budget",
    "%chat plan What next?",
    "%chat threads",
    "%chat find sample",
    "%chat store",
    "%chat models",
    "jan.current().turns()",
    "jan.current().messages(all=True)",
    "%%chat -t other --background -o running\nwhile others run",
    "%%chat -t third --background\nand at the same time",
    "running.wait()",
    "%chat record",
    "%chat clear",
    "%chat undo",
    'with jan.Chat("lab") as chat:\n    print(chat.send("from Python").text)',
)


def write(path: Path, sources: Sequence[str] = CELLS) -> Path:
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A notebook and the cassette beside it, recorded cell by cell in a kernel."""
    path = write(tmp_path / "lesson.ipynb")
    with running_kernel(tmp_path, JAN_NOTEBOOK=str(path)) as kernel:
        kernel.ok(f"{CELLS[0]}\n%chat record")
        for source in CELLS[1:]:
            kernel.ok(source.replace("%chat record", "%chat version"))
        kernel.ok("%chat record --off")
    return path


def run(
    command: list[str], path: Path, data: str, **more: str
) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "JAN_REPLAY": "lesson.jan.jsonl",
        "JAN_MODEL": "", "JAN_DATA_FOLDER": str(path.parent / data),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # all others take longer to load than the notebook
        **more,
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", *command, str(path)],
        cwd=path.parent, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def executed(path: Path, data: str, **more: str) -> dict[str, Any]:
    """Run a notebook in its place; returns the file without when its cells ran."""
    done = run(["jupyter", "execute", "--inplace"], path, data, **more)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    for cell in found["cells"]:
        cell["metadata"].pop("execution", None)
    return found


@pytest.mark.timeout(400)  # five kernels, three of them below other programs
def test_executing_twice_gives_one_file_and_nbval_passes_twice(notebook: Path) -> None:
    before = (notebook.parent / "lesson.jan.jsonl").read_bytes()
    first = executed(notebook, "first")
    second = executed(notebook, "second")
    for one, other in zip(first["cells"], second["cells"], strict=True):
        assert one == other
    assert first == second
    assert "replayed" in json.dumps(first)
    for data in ("third", "fourth"):
        options = ["--nbval", "--nbval-current-env", "--rootdir", str(notebook.parent)]
        plugins = ["-p", "no:cacheprovider", "-p", "nbval.plugin"]
        done = run(["pytest", *options, *plugins], notebook, data)
        assert done.returncode == 0, done.stdout
        assert f"{len(CELLS)} passed" in done.stdout
    assert (notebook.parent / "lesson.jan.jsonl").read_bytes() == before
    assert not [each for each in notebook.parent.iterdir() if each.name in ("first", "third")]


@pytest.mark.timeout(200)  # three kernels
def test_a_notebook_that_was_saved_where_its_name_is_known_is_the_same_headless(
    tmp_path: Path,
) -> None:
    cells = ["%load_ext jan_magics", "%%chat -m offline:echo\nHello 你好", "%chat", "%chat threads"]
    path = write(tmp_path / "lesson.ipynb", cells)
    with running_kernel(tmp_path, JAN_NOTEBOOK=str(path)) as kernel:
        kernel.ok(f"{cells[0]}\n%chat record")
        kernel.ok("\n".join(cells[1:2]))
        kernel.ok("%chat record --off")
    named = executed(path, "named", JAN_NOTEBOOK=str(path))
    assert "lesson (new)" in json.dumps(named)
    assert executed(path, "headless") == named
