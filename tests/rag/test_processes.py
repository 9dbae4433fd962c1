"""Several processes with one collection, and processes that are killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jan_magics.domain.retrieval import Document, Index
from jan_magics.rag.doctor import examine
from jan_magics.rag.options import Options
from tests.rag.library import add, ask, opened
from tests.rag.writer import version

WRITER = Path(__file__).with_name("writer.py")
ROOT = Path(__file__).parents[2]
ENGINES: dict[str, tuple[Index, Index]] = {
    "sqlite": ("numpy", "vec0"), "postgres": ("numpy", "auto"),
}  # fmt: skip
ROUNDS = int(os.environ.get("JAN_SOAK", "8"))


def start(path: Path, name: str, rounds: int, kind: str = "sqlite") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(WRITER), str(path), name, str(rounds), kind],
        stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def check_whole(path: Path, name: str, at_least: int, kind: str = "sqlite") -> int:
    """See that a document is wholly of one form on every path; return which."""
    collection = opened(path, kind=kind)
    text = collection.document(f"{name}.txt").text
    n = int(text.split("form")[1].split()[0])
    assert n >= at_least
    assert text == version(name, n).text
    for mode in ("keyword", "vector"):
        for engine in ENGINES[kind]:
            options = Options(k=50, mode=mode, where={"source": f"{name}.txt"}, index=engine)
            found = ask(collection, f"{name} of this text", options)
            chunks = sorted((hit.chunk.start, hit.text) for hit in found.hits)
            assert "".join(text for _, text in chunks) == text
    told = {each.check: each.status for each in examine(collection)}
    assert (told["database"], told["orphans"], told["vectors"]) == ("ok", "ok", "ok")
    collection.close()
    return n


def test_a_kill_leaves_each_document_wholly_old_or_wholly_new(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.db"
    with opened(path, kind=kind).database.writing():
        pass  # it is there, empty
    rng = random.Random(9)  # noqa: S311
    reached = set()
    for _ in range(ROUNDS):
        writer = start(path, "book", 10_000, kind)
        assert writer.stdout is not None
        written = int(writer.stdout.readline())
        time.sleep(rng.uniform(0, 0.15))
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().splitlines()
        writer.stdout.close()
        writer.wait()
        written = int(rest[-1]) if rest and rest[-1].isdigit() else written
        reached.add(check_whole(path, "book", written, kind))
    assert reached


def test_s16_four_processes_end_in_exactly_their_rows(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.db"
    collection = opened(path, kind=kind)
    add(collection, Document("first.txt", "the vectors are there\n"))
    ask(collection, "vectors", Options(index=ENGINES[kind][1]))
    names = ["one", "two", "three", "four"]
    writers = [start(path, name, 6, kind) for name in names]
    assert [writer.wait(timeout=100) for writer in writers] == [0] * 4
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.close()
    for name in names:
        assert check_whole(path, name, 5, kind) == 5
    rows = collection.documents()
    assert [row.source for row in rows] == sorted([f"{name}.txt" for name in names] + ["first.txt"])
    assert sum(row.chunks or 0 for row in rows) == 81
    collection.close()


@pytest.mark.parametrize("name", ["book"])
def test_a_reader_sees_one_state_while_another_process_writes(
    tmp_path: Path, name: str, kind: str
) -> None:
    path = tmp_path / "a.db"
    collection = opened(path, kind=kind)
    add(collection, version(name, 0))
    writer = start(path, name, 30, kind)
    forms = set()
    while writer.poll() is None:
        found = ask(collection, f"{name} of this text", Options(k=50))
        seen = {hit.text.split("form")[1].split()[0] for hit in found.hits}
        assert (len(found.hits), len(seen)) == (20, 1)
        forms |= seen
    assert writer.stdout is not None
    writer.stdout.close()
    assert len(forms) > 1
    collection.close()
