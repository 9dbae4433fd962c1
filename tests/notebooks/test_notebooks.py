"""The notebooks are tests: each runs, is committed clean and short, and gives the same twice."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted((*FOLDER.glob("*.ipynb"), *FOLDER.glob("zh/*.ipynb")))
SANITIZE = Path(__file__).parent / "nbval.cfg"
CELL_TIMEOUT = 180  # a real model answers, perhaps beside other work
MOST_CELLS = 20

OWN = re.compile("%chat record")
OFFLINE = [path for path in NOTEBOOKS if not OWN.search(path.read_text("utf-8"))]
"""Those that do not record themselves; the other one plays what it has recorded."""


def name_of(path: Path) -> str:
    """The notebook as it is named in tests: `zh/00_tour`."""
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def copy_of(path: Path, folder: Path) -> Path:
    """The notebook in a copy of the whole folder, so that relative paths lead to the same files."""
    return shutil.copytree(FOLDER, folder / "notebooks") / path.relative_to(FOLDER)


each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of, indirect=True)


@pytest.fixture
def path(request: pytest.FixtureRequest) -> Path:
    """A notebook, when there is what its metadata says that it needs."""
    found: Path = request.param
    needs = nbformat.read(found, as_version=4).metadata.get("jan_magics", {}).get("needs")
    for name in ("llama_server", "gguf") if needs == "model" else ():
        request.getfixturevalue(name)
    return found


def run(path: Path, env: Mapping[str, str] = os.environ) -> nbformat.NotebookNode:
    """Run a notebook in its folder, in a kernel of its own with this environment."""
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook, timeout=CELL_TIMEOUT, kernel_name="python3", resources=resources
    )
    client.execute(env=dict(env))
    return notebook


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS, "notebooks/ holds no notebook"


@each_notebook
def test_notebook_is_committed_clean_and_short(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    assert len(cells) <= MOST_CELLS
    assert cells[0].cell_type == "markdown", "the first cell says what the notebook teaches"
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


@each_notebook
@pytest.mark.timeout(600)  # four kernels
def test_notebook_runs_and_gives_the_same_twice(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run once, record and save; let nbval run it again; then let the cassette answer, twice."""
    monkeypatch.setenv("JAN_DISPLAY", "once")
    copy = copy_of(path, tmp_path)
    cassette = tmp_path / "lesson.jan.jsonl" if path in OFFLINE else None
    monkeypatch.setenv("JAN_DATA_FOLDER", str(tmp_path / "first"))
    done = run_and_record(copy, cassette)
    assert all(cell.execution_count for cell in done.cells if cell.cell_type == "code")
    nbformat.write(done, copy)

    monkeypatch.setenv("JAN_DATA_FOLDER", str(tmp_path / "second"))
    judged = with_nbval(copy)
    assert judged.returncode == 0, judged.stdout

    monkeypatch.delenv("JAN_DISPLAY")  # as a reader sees it, who is shown an answer while it grows
    if cassette:
        assert replayed(copy, cassette) == replayed(copy, cassette)


def run_and_record(path: Path, cassette: Path | None) -> nbformat.NotebookNode:
    """Run a notebook as it is, but for a cell that begins a cassette when all is loaded."""
    if cassette is None:
        return run(path)
    notebook = nbformat.read(path, as_version=4)
    loaded = next(n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code") + 1
    notebook.cells.insert(loaded, nbformat.v4.new_code_cell(f"%chat record {cassette}"))
    nbformat.write(notebook, path)
    done = run(path)
    del done.cells[loaded]
    return done


def with_nbval(path: Path) -> "subprocess.CompletedProcess[str]":
    """Let nbval run a notebook again and compare every output."""
    folder = path.parent
    options = [
        *("--nbval", "--nbval-current-env", "--nbval-cell-timeout", str(CELL_TIMEOUT)),
        *("--nbval-sanitize-with", str(SANITIZE), "--rootdir", str(folder)),
        *("-p", "no:cacheprovider", "-p", "nbval.plugin"),
    ]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(path)],
        # Loading every other plugin takes longer than most notebooks.
        cwd=folder, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_lesson_on_retrieval_needs_no_embedder(tmp_path: Path) -> None:
    """Words alone are searched and it is said, also where the lesson was gone through before."""
    copy = tmp_path / "lesson.ipynb"
    shutil.copy(FOLDER / "04_retrieval.ipynb", copy)
    env = {**os.environ, "JAN_EMBEDDER": "none"}
    run(copy, env)
    cells = run(copy, env).cells
    shown = "\n".join(
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for cell in cells
        for output in cell.get("outputs", ())
    )
    assert "none, as it was told (--embedder none): searched by words" in shown
    assert "14 documents" in shown
    assert "with.rst, characters" in shown, "the answer cites its sources"


def replayed(path: Path, cassette: Path) -> list[tuple[str, object]]:
    """Run a notebook that its cassette answers; returns what each cell shows."""
    env = {**os.environ, "JAN_REPLAY": str(cassette), "JAN_MODEL": ""}
    cells = run(path, env).cells
    return [
        (cell.source, cell.outputs)
        for cell in cells
        if cell.cell_type == "code" and "NBVAL_IGNORE_OUTPUT" not in cell.source
    ]
