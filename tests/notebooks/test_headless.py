"""Runs without a front end: nbclient, papermill, a console and a script, each of them twice."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import nbformat
import papermill
import pytest
from nbclient import NotebookClient

from jan_magics.domain.messages import text_of
from tests.kernel import ROOT
from tests.notebook_host import NotebookHost

CELLS = (
    "%load_ext jan_magics\nimport jan_magics as jan",
    'word = "green"',
    "%%chat -m offline:echo\nred",
    "%%chat -m offline:echo\n{{ word }}",
    "print(*jan.current().messages().text)",
)
SCRIPT = """
import jan_magics as jan
chat = jan.current().use(model="offline:echo")
for word in ("red", "green"):
    answer = chat.send(word)
print(len(answer.sent["messages"]), len(jan.threads()))
"""
CONSOLE = """%load_ext jan_magics
%config InteractiveShell.colors = "NoColor"
%chat ask -m offline:echo red
answer = _
print("messages", len(answer.sent["messages"]))
import jan_magics as jan; print("threads", len(jan.threads()))
"""


def write(path: Path) -> Path:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    cells[1].metadata["tags"] = ["parameters"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, path)
    return path


def said(path: Path) -> str:
    """Return what the last cell of a notebook that ran has printed."""
    text: str = nbformat.read(path, as_version=4).cells[-1].outputs[0].text
    return text.strip()


def footers(path: Path) -> list[str]:
    """Return the last line below each answer."""
    shown = [
        output.data["text/plain"]
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", ())
        if "data" in output
    ]
    return [text.splitlines()[-1] for text in shown]


def roots(notebook: Path) -> list[str]:
    """Return the questions at the root of a notebook's one thread, in the order of asking."""
    with NotebookHost(notebook) as host:
        session = host.host.session()
        (row,) = session.engine.store.threads()
        index = session.engine.tree(row.thread)
        return [text_of(message) for message in index.siblings(index.path()[0].id)]


def run_with_nbclient(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=60, resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute(env=dict(os.environ))
    nbformat.write(notebook, path)


def test_nbclient_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = write(tmp_path / "nightly.ipynb")
    monkeypatch.setenv("JAN_NOTEBOOK", str(notebook))
    for _ in range(2):
        run_with_nbclient(notebook)
        assert said(notebook) == "red red green green"
        assert "nightly (new)" in footers(notebook)[0]
    assert roots(notebook) == ["red", "red"]
    with NotebookHost(notebook) as host:
        assert len(host.path(everything=True)) == 8


def test_papermill_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = write(tmp_path / "template.ipynb")
    monkeypatch.setenv("JAN_NOTEBOOK", str(template))
    for word in ("green", "blue"):
        done = tmp_path / f"{word}.ipynb"
        papermill.execute_notebook(
            template, done, parameters={"word": word}, progress_bar=False, cwd=tmp_path
        )
        assert said(done) == f"red red {word} {word}"
    assert roots(template) == ["red", "red"]


def test_nbclient_without_a_name_has_a_thread_of_its_own(tmp_path: Path) -> None:
    notebook = write(tmp_path / "unnamed.ipynb")
    for _ in range(2):
        run_with_nbclient(notebook)
        assert said(notebook) == "red red green green"
        assert "unnamed (new)" in footers(notebook)[0]
    with NotebookHost(None) as host:
        assert host.threads() == [("", "", 4)] * 2


def printed(command: list[str], folder: Path, text: str = "", **more: str) -> str:
    environment: Mapping[str, str] = os.environ | {"PYTHONPATH": str(ROOT)} | more
    done = subprocess.run(
        command, cwd=folder, input=text, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_script_has_a_thread_of_its_own(tmp_path: Path) -> None:
    named = str(tmp_path / "some.ipynb")
    for run in (1, 2):
        out = printed([sys.executable, "-c", SCRIPT], tmp_path, JAN_NOTEBOOK=named)
        assert out.split() == ["3", str(run)]


def test_a_console_has_a_thread_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "IPython", "--no-banner", "--simple-prompt"]
    for run in (1, 2):
        out = printed(command, tmp_path, CONSOLE, JAN_NOTEBOOK=str(tmp_path / "some.ipynb"))
        assert "messages 1" in out
        assert f"threads {run}" in out
        assert "unnamed (new)" in out
