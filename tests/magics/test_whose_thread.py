"""What a real kernel is told of its notebook; the decisions have their tests without one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kernel import ROOT, Kernel, Ran, running_kernel
from tests.notebook_host import NotebookHost, write

A, B, C = "0a1b2c3d", "4e5f6a7b", "8c9d0e1f"
VSCODE = "vscode-notebook-cell:{}#W0sZmlsZQ%3D%3D"


@contextmanager
def opened(notebook: Path) -> Iterator[Kernel]:
    """Start a kernel for a notebook, as Jupyter Server does."""
    told = {"JPY_SESSION_NAME": str(notebook), "JAN_MODEL": "offline:echo"}
    with running_kernel(notebook.parent, **told) as kernel:
        kernel.ok("%load_ext jan_magics")
        yield kernel


def ask(kernel: Kernel, text: str, cell: str) -> Ran:
    return kernel.ok(f"%%chat\n{text}", cell_id=cell)


def shown(ran: Ran) -> str:
    return str(ran.displays[-1]["text/plain"])


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A notebook that has asked once."""
    notebook = write(tmp_path / "first.ipynb", {A: "one", B: "two"})
    with NotebookHost(notebook) as host:
        assert host.ask("one", A).version == 1
    return notebook


def test_a_notebook_renamed_while_its_kernel_lives(first: Path, tmp_path: Path) -> None:
    with opened(first) as kernel:
        renamed = first.rename(tmp_path / "renamed.ipynb")
        assert "renamed (continued, 2 messages) · answer ‹2/2›" in shown(ask(kernel, "one", A))
        assert "renamed, 2 messages" in kernel.ok("%chat").result
        kernel.restart()  # it still has the former name
        kernel.ok("%load_ext jan_magics")
        assert "renamed (continued, 2 messages)" in shown(ask(kernel, "three", C))
    with opened(renamed) as kernel:
        ran = ask(kernel, "three", C)
        assert "renamed (continued, 4 messages) · answer ‹2/2›" in shown(ran)


def test_the_footer_follows_a_notebook_renamed_between_two_cells(tmp_path: Path) -> None:
    notebook = write(tmp_path / "笔记.ipynb", {A: "one", B: "two"})
    with opened(notebook) as kernel:
        assert "笔记 (new)" in shown(ask(kernel, "one", A))
        notebook.rename(tmp_path / "日志.ipynb")
        assert "│ 日志 │" in shown(ask(kernel, "two", B))
        (tmp_path / "日志.ipynb").rename(tmp_path / "again 🦊.ipynb")
        assert "again 🦊" in shown(ask(kernel, "two", B))
        threads = kernel.ok("__import__('jan_magics').threads().notebook.tolist()").result
        assert threads == repr([str(tmp_path / "again 🦊.ipynb")])


def test_a_copy_with_a_thread_of_its_own_is_no_new_name(first: Path, tmp_path: Path) -> None:
    with opened(first) as kernel:
        ask(kernel, "one", A)
        copy = Path(shutil.copy(first, tmp_path / "copy.ipynb"))
        with opened(copy) as other:
            assert "copy (continued, " in shown(ask(other, "one", A))
        first.unlink()
        assert "│ first" in shown(ask(kernel, "one", A))
        assert kernel.ok("len(__import__('jan_magics').threads())").result == "2"


@pytest.mark.parametrize("text", ["one", "one changed"])
def test_a_moved_notebook_with_plain_ids(tmp_path: Path, text: str) -> None:
    notebook = write(tmp_path / "made.ipynb", {"c1": "one", "c2": "two"})
    with opened(notebook) as kernel:
        ask(kernel, "one", "c1")
        ask(kernel, "two", "c2")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    moved = notebook.rename(folder / "moved.ipynb")
    with opened(moved) as kernel:
        ran = kernel.ok(f"%%chat --temperature 0.5\n{text}", cell_id="c1")
        assert "moved (continued, 4 messages)" in shown(ran)
        assert kernel.ok("len(__import__('jan_magics').threads())").result == "1"


def test_a_dry_run_in_a_copy_shows_the_path_and_stores_nothing(first: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(first, tmp_path / "copy.ipynb"))
    with opened(copy) as kernel:
        dry = kernel.ok("%%chat --dry-run\ntwo", cell_id=B)
        assert "thread   first, 2 messages before this one" in dry.result
        assert kernel.ok("len(__import__('jan_magics').threads())").result == "1"
        assert "copy (continued, 2 messages)" in shown(ask(kernel, "two", B))
        assert kernel.ok("len(__import__('jan_magics').threads())").result == "2"


def test_at_head_goes_on_where_a_run_without_cell_ids_would_begin(first: Path) -> None:
    with opened(first) as kernel:
        status = kernel.ok("%chat").result
        assert "first, 2 messages; the next turn begins a new branch · to go on" in status
        assert "%%chat --at head" in status
        ran = kernel.ok("%%chat --at head\nthree")
        assert "first (continued, 2 messages)" in shown(ran)
        assert "first, 4 messages\n" in kernel.ok("%chat").result
        kernel.ok("%%chat\nfour")
        texts = kernel.ok("print(*__import__('jan_magics').current().messages().text)").out
        assert texts == "one one three three four four\n"
    with opened(first) as kernel:  # without the flag it begins, also from Python
        kernel.ok("__import__('jan_magics').current().send('five', show=False)")
        assert kernel.ok("len(__import__('jan_magics').current().messages())").result == "2"


def test_vscode_names_the_notebook_and_its_cells(tmp_path: Path) -> None:
    notebook = write(tmp_path / "code.ipynb", {A: "one"})
    with running_kernel(tmp_path, JAN_MODEL="offline:echo") as kernel:
        kernel.ok(f"__vsc_ipynb_file__ = {str(notebook)!r}\n%load_ext jan_magics")
        assert "code (new)" in shown(ask(kernel, "one", VSCODE.format(notebook)))
        renamed = notebook.rename(tmp_path / "other.ipynb")
        kernel.restart()
        kernel.ok(f"__vsc_ipynb_file__ = {str(renamed)!r}\n%load_ext jan_magics")
        ran = ask(kernel, "one", VSCODE.format(renamed))
        assert "other (continued, 2 messages) · answer ‹2/2›" in shown(ran)


def test_a_kernel_that_a_notebook_starts_does_not_take_its_name(tmp_path: Path) -> None:
    code = "from jan_magics.notebook.identity import _session; print(_session())"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}], check=True)"
    told = os.environ | {"JPY_SESSION_NAME": str(tmp_path / "a.ipynb"), "PYTHONPATH": str(ROOT)}
    said = [
        subprocess.run([sys.executable, "-c", each], env=told, capture_output=True, text=True,
                       check=True).stdout.strip()
        for each in (code, outer)
    ]  # fmt: skip
    assert said == [str(tmp_path / "a.ipynb"), "None"]
