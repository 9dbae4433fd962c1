"""What is read of a notebook's file, and which of several told paths is the notebook's."""

import json
import os
from pathlib import Path

import pytest

from jan_magics.engine.cells import NotebookFile, marks_of
from jan_magics.notebook.identity import LARGEST, NotebookFiles, notebook_path

A, B = "0a1b2c3d", "4e5f6a7b"


def notebook(*cells: dict[str, object], **more: object) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells} | more)


def cell(identifier: str | None, source: object = "x") -> dict[str, object]:
    made: dict[str, object] = {"cell_type": "code", "source": source}
    return made | ({"id": identifier} if identifier else {})


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        (notebook(cell(A), cell(B)), {A, B}),
        (notebook(), set()),
        (notebook(cell("c1", ["%%chat\n", "hi"])), marks_of("c1", "%%chat\nhi")),
        (notebook(cell(None), cell(None)), None),
        (notebook(cell(A), cell(None)), None),
        (notebook(cells=7), None),
        ('{"cells": [{"id": "0a1b', None),
        ("[]", None),
        ("", None),
        ("[" * 100_000, None),
        ("\ud800", None),
    ],
    ids=["ids", "empty", "plain id", "old format", "half old", "no list", "torn", "list", "blank",
         "deep", "no UTF-8"],
)  # fmt: skip
def test_marks_of_a_file(tmp_path: Path, text: str, marks: set[str] | None) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    expected = NotebookFile(None if marks is None else frozenset(marks))
    assert NotebookFiles().at(str(path)) == expected


def test_what_is_no_readable_file(tmp_path: Path) -> None:
    files = NotebookFiles()
    assert files.at(str(tmp_path / "missing.ipynb")) is None
    assert files.at(str(tmp_path / "missing" / "n.ipynb")) is None
    assert files.at(str(tmp_path)) == NotebookFile()
    large = tmp_path / "large.ipynb"
    large.touch()
    os.truncate(large, LARGEST + 1)  # a hole, so that the disk holds nothing of it
    assert files.at(str(large)) == NotebookFile()
    assert files.at("n\0.ipynb") == NotebookFile()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "n.ipynb")
    assert NotebookFiles().at(str(tmp_path / "n.ipynb")) == NotebookFile()


def test_notebooks_beside_come_newest_first(tmp_path: Path) -> None:
    for number, name in enumerate(("old", "here", "new")):
        path = tmp_path / f"{name}.ipynb"
        path.write_text(notebook(cell(f"0a1b2c3{number}")))
        os.utime(path, (number, number))
    found = [file.marks for file in NotebookFiles().beside(str(tmp_path / "here.ipynb"))]
    assert found == [frozenset({"0a1b2c32"}), frozenset({"0a1b2c30"})]
    assert list(NotebookFiles().beside(str(tmp_path / "missing" / "here.ipynb"))) == []


def test_a_renamed_notebook_is_found_by_the_running_cell(tmp_path: Path) -> None:
    old, new = tmp_path / "old.ipynb", tmp_path / "new.ipynb"
    files, marks = NotebookFiles(), marks_of(A, "x")
    old.write_text(notebook(cell(A)))
    assert files.renamed(str(old), marks) is None
    old.rename(new)
    assert files.renamed(str(old), marks) == str(new)
    assert files.renamed(str(old), marks_of(B, "x")) is None
    assert files.renamed(str(old), frozenset()) is None
    plain = tmp_path / "plain.ipynb"
    plain.write_text(notebook(cell("c1", "%%chat\nhi")))
    assert files.renamed(str(old), marks_of("c1", "%%chat -q\nhi")) == str(plain)
    assert files.renamed(str(old), marks_of("c1", "%%chat\nho")) is None
    (tmp_path / "copy.ipynb").write_text(notebook(cell(A)))
    assert files.renamed(str(old), marks) is None  # two have it, so nobody knows
    assert files.renamed(str(tmp_path / "gone" / "old.ipynb"), marks) is None


def test_the_first_that_is_a_path_is_the_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert notebook_path(None, "console-1", 7, "a.ipynb", "b.ipynb") == tmp_path / "a.ipynb"
    assert notebook_path(None, "", "x.py") is None
    (tmp_path / "n.ipynb").touch()
    # An old server tells the path below its root; the kernel runs in the notebook's folder.
    assert notebook_path("sub/n.ipynb") == tmp_path / "n.ipynb"
