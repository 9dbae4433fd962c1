"""`%chat find`, `export`, `import` and `store --convert` in a real kernel."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import Kernel, homes, running_kernel


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernel")


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Iterator[Kernel]:
    told = {"JAN_MODEL": "offline:echo", "JPY_SESSION_NAME": str(folder / "work" / "book.ipynb")}
    (folder / "work").mkdir()
    with running_kernel(folder, **homes(folder), **told) as running:
        running.ok("%load_ext jan_magics")
        running.ok("%%chat\nwhat is overfitting?")
        running.ok("%%chat\n什么是过拟合？")
        yield running


def test_find_takes_words_as_they_are_typed(kernel: Kernel) -> None:
    kernel.ok("found = %chat find overfit")
    assert kernel.ok("sorted(found.role)").result == "['assistant', 'user']"
    kernel.ok("found = %chat find 过拟合")
    assert kernel.ok("list(found.snippet)").result == str(["什么是«过拟合»？"] * 2)
    kernel.ok("""found = %chat find "what is" don't""")
    assert kernel.ok("len(found)").result == "0"
    ran = kernel.ok("%chat find overfitting nonsense")
    assert ran.out == "nothing found: a message must have all these words: leave some out\n"
    assert kernel.ok("%chat find nonsense").out == "nothing found: no such word\n"
    assert kernel.ok("%chat find overfitting").out == ""
    ran = kernel.run("%chat find -t nowhere word")
    assert ran.error is not None
    assert ran.error[0] == "ThreadNotFound"


@pytest.mark.parametrize("name", ["a.json", "a.ipynb", "sub folder/a.md", "jan data"])
def test_export_writes_beside_the_notebook(kernel: Kernel, folder: Path, name: str) -> None:
    ran = kernel.ok(f"%chat export '{name}'")
    assert ran.result == f"exported to {name}"
    assert "<a href=" in ran.results[-1]["text/html"]
    assert (folder / "work" / name).exists()


def test_import_reads_back_what_was_exported(kernel: Kernel) -> None:
    for name in ("b.json", "b.ipynb", "b"):
        kernel.ok(f"%chat export {name}")
        kernel.ok(f"rows = %chat import {name}")
        assert kernel.ok("list(rows.status)").result == "['unchanged']"
    ran = kernel.run("%chat import nowhere.json")
    assert ran.error is not None
    assert ran.error[0] == "StoreError"


def test_store_is_converted(kernel: Kernel, folder: Path) -> None:
    ran = kernel.run("%chat store --convert sqlite")
    assert ran.error is not None
    assert "kept in sqlite already" in ran.error[2][0]
    assert "--convert jsonl" in ran.error[2][1]
    ran = kernel.ok("%chat store --convert jsonl")
    assert "1 thread and 0 in the bin are in the jsonl store now" in ran.result
    assert list((folder / "data" / "threads").glob("*/messages.jsonl"))
    kernel.ok("%config JanMagics.store = 'jsonl'")
    ran = kernel.run("%chat store --convert csv")
    assert "UsageError" in ran.err
