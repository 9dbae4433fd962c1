"""The command line, as a program: the same words as the verbs, exit codes for scripts."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.kernel import ROOT, homes, running_kernel

CELLS = (
    "%load_ext jan_magics",
    "%%chat -m offline:echo\nWhy is it dark? 你好",
    "%%chat\nAnd why is it cold?",
    'print("by hand")',
)


def ran(folder: Path, *arguments: str, **more: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "jan_magics.cli", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def write(path: Path, *cells: str) -> Path:
    made = [nbformat.v4.new_code_cell(source, id=f"c{n}") for n, source in enumerate(cells)]
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook whose cells have outputs, beside its cassette."""
    path = write(tmp_path_factory.mktemp("cli") / "lesson.ipynb", *CELLS)
    notebook = nbformat.read(path, as_version=4)
    folder = path.parent
    with running_kernel(folder, **homes(folder), JAN_NOTEBOOK=str(path)) as kernel:
        kernel.ok(f"{CELLS[0]}\n%chat record")
        for number, cell in enumerate(notebook.cells[1:], 2):
            shown = kernel.ok(cell.source)
            cell.execution_count = number
            cell.outputs = [nbformat.v4.new_output("display_data", d) for d in shown.displays]
            if shown.out:
                cell.outputs.append(nbformat.v4.new_output("stream", text=shown.out))
    nbformat.write(notebook, path)
    return path


def changed(recorded: Path, folder: Path, old: str, new: str) -> Path:
    """A copy of the notebook in which something was changed, with the same cassette."""
    path = folder / recorded.name
    path.write_text(recorded.read_text("utf-8").replace(old, new), "utf-8")
    cassette = recorded.with_name("lesson.jan.jsonl").read_bytes()
    (folder / "lesson.jan.jsonl").write_bytes(cassette)
    return path


def test_a_notebook_that_says_what_it_said_is_good(recorded: Path) -> None:
    before = recorded.read_bytes()
    assert ran(recorded.parent, "replay", "lesson.ipynb", "--check") == (
        0, "lesson.ipynb: 4 cells, as recorded\n",
    )  # fmt: skip
    assert recorded.read_bytes() == before


def test_a_notebook_that_records_itself_is_good_too(recorded: Path, tmp_path: Path) -> None:
    path = changed(
        recorded, tmp_path, "%load_ext jan_magics", "%load_ext jan_magics\\n%chat record"
    )
    notebook = nbformat.read(path, as_version=4)
    first = notebook.cells[0]
    first.execution_count = 1
    first.outputs = [nbformat.v4.new_output("stream", text="recording into lesson.jan.jsonl\n")]
    nbformat.write(notebook, path)
    assert ran(tmp_path, "replay", "lesson.ipynb", "--check")[0] == 0


def test_what_was_changed_is_told(recorded: Path, tmp_path: Path) -> None:
    changed(recorded, tmp_path, "And why is it cold?", "And why is it so cold?")
    code, said = ran(tmp_path, "replay", "lesson.ipynb", "--check")
    assert code == 1
    assert "4 cells, not as recorded" in said
    assert "now 'And why is it so cold?'" in said
    assert "never used: chat" in said
    assert "cell 3" in said

    changed(recorded, tmp_path, "by hand\\n", "by foot\\n")
    code, said = ran(tmp_path, "replay", "lesson.ipynb", "--check")
    assert code == 1
    assert "differs: cell 4: stdout was 'by foot\\n', now 'by hand\\n'" in said
    assert "never used" not in said


def test_a_notebook_checks_itself(recorded: Path) -> None:
    told = {"JAN_NOTEBOOK": str(recorded), "JAN_DATA_FOLDER": str(recorded.parent / "data")}
    with running_kernel(recorded.parent, **told) as kernel:
        kernel.ok("%load_ext jan_magics")
        assert kernel.ok("%chat replay --check").result == "lesson.ipynb: 4 cells, as recorded"
        assert "nothing is being replayed" in kernel.ok("%chat replay --off").result


def test_what_cannot_be_checked_says_why(tmp_path: Path) -> None:
    code, said = ran(tmp_path, "replay", "gone.ipynb", "--check")
    assert code == 1
    assert "the notebook 'gone.ipynb' cannot be read" in said
    assert "Traceback" not in said
    code, said = ran(tmp_path, "replay", str(write(tmp_path / "new.ipynb", "1")), "--check")
    assert code == 1
    assert "new.jan.jsonl" in said


def test_lines_that_were_skipped_are_told(recorded: Path, tmp_path: Path) -> None:
    path = changed(recorded, tmp_path, "", "")
    cassette = tmp_path / "lesson.jan.jsonl"
    cassette.write_text(f"<<<<<<< ours\n{cassette.read_text('utf-8')}", "utf-8")
    code, said = ran(tmp_path, "replay", path.name, "--check")
    assert code == 0, said
    assert "lesson.jan.jsonl: line 1 is skipped" in said


def test_doctor_threads_and_export(tmp_path: Path) -> None:
    told = {"JAN_DATA_FOLDER": str(tmp_path / "data")}
    assert ran(tmp_path, "threads", **told) == (0, "no threads\n")
    with running_kernel(tmp_path, **told) as kernel:
        kernel.ok("%load_ext jan_magics\n%chat ask -m offline:echo -t lab 你好")
    code, said = ran(tmp_path, "threads", **told)
    assert code == 0
    assert "lab" in said
    code, said = ran(tmp_path, "doctor", **told)
    assert code == 0
    assert "ok       threads: 1 thread" in said
    assert ran(tmp_path, "export", "-t", "lab", "lab.md", **told)[0] == 0
    assert "你好" in (tmp_path / "lab.md").read_text("utf-8")
    code, said = ran(tmp_path, "export", "-t", "lub", "lub.md", **told)
    assert code == 1
    assert "closest: 'lab'" in said
    assert not (tmp_path / "lub.md").exists()
