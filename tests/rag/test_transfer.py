"""A collection goes to another one with its vectors, goes on after an end, and comes back."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.retrieval import Document
from jan_magics.rag.embed_hash import HashEmbedder
from jan_magics.rag.embedders import WORDS_ALONE
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.transfer import transfer
from tests.rag.library import DOCUMENTS, add, ask, opened, statuses

ROOT = Path(__file__).parents[2]
ODD = Document("odd.txt", "a\0b and 密码 🎉\n!!!\n", metadata={"n": 1, "tag": "x\0"}, pages=(0,))
SENDER = """
import sys
from pathlib import Path
from jan_magics.rag.transfer import transfer
from tests.rag.library import opened
source, target, kind = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
for row in transfer(opened(source), opened(target, kind=kind), at_a_time=20):
    print(row.source, flush=True)
    sys.stdin.readline()  # never further than the test wants
"""


@pytest.fixture
def source(tmp_path: Path) -> Iterator[RowCollection]:
    collection = opened(tmp_path / "source.db")
    add(collection, *DOCUMENTS, ODD)
    yield collection
    collection.close()


def test_all_of_it_arrives_and_equal_documents_are_not_sent_again(
    source: RowCollection, empty: RowCollection
) -> None:
    rows = list(transfer(source, empty))
    assert {status for _, status in statuses(rows)} == {"added"}
    assert empty.fingerprint == source.fingerprint
    assert empty.recipe == source.recipe
    for document in (*DOCUMENTS, ODD):
        assert empty.document(document.source) == source.document(document.source)
        assert empty.chunk_ids(document.source) == source.chunk_ids(document.source)
    options = Options(mode="vector", k=50)
    here, there = (
        [(hit.chunk, hit.text, hit.score) for hit in ask(each, "thread budget", options).hits]
        for each in (source, empty)
    )
    assert here == there
    before = [row.indexed_at for row in empty.documents()]
    with empty.database.reading() as connection:
        changes = connection.execute("SELECT value FROM about WHERE key = 'changes'").fetchone()
    assert {status for _, status in statuses([*transfer(source, empty)])} == {"unchanged"}
    with empty.database.reading() as connection:
        after = connection.execute("SELECT value FROM about WHERE key = 'changes'").fetchone()
    assert (after, [row.indexed_at for row in empty.documents()]) == (changes, before)


def test_only_what_has_changed_is_sent(source: RowCollection, empty: RowCollection) -> None:
    list(transfer(source, empty))
    add(source, replace(DOCUMENTS[0], text="Another text.\n"))
    source.remove("zh.txt")
    add(empty, Document("theirs.txt", "of somebody else\n"))
    rows = dict(statuses([*transfer(source, empty)]))
    assert rows == {
        "guide/threads.md": "replaced", "guide/budget.md": "unchanged", "odd.txt": "unchanged",
        "theirs.txt": "skipped", "zh.txt": "skipped",
    }  # fmt: skip
    assert empty.document("guide/threads.md").text == "Another text.\n"
    assert "zh.txt" in empty.sources()


def test_it_comes_back(source: RowCollection, empty: RowCollection, tmp_path: Path) -> None:
    list(transfer(source, empty))
    back = opened(tmp_path / "back.db")
    list(transfer(empty, back))
    options = Options(mode="hybrid", k=50, all=True)
    assert ask(back, "密码 thread", options) == ask(source, "密码 thread", options)
    back.close()


def test_vectors_of_two_embedders_are_not_mixed(
    source: RowCollection, empty: RowCollection
) -> None:
    add(empty, Document("a.txt", "there before\n"), embedder=HashEmbedder(64))
    with pytest.raises(RetrievalError, match=r"64 numbers.*256 numbers"):
        list(transfer(source, empty))
    assert empty.sources() == ["a.txt"]


def test_without_vectors_words_are_enough(source: RowCollection, empty: RowCollection) -> None:
    add(source, embedder=WORDS_ALONE)
    list(transfer(source, empty))
    assert (empty.fingerprint, empty.words_alone) == (None, True)
    assert ask(empty, "token budget", Options(mode="keyword"), None).hits


def test_a_stop_keeps_what_was_sent(source: RowCollection, empty: RowCollection) -> None:
    class StopError(Exception):
        pass

    def stop(done: int, _all: int) -> None:
        if done == 2:
            raise StopError

    with pytest.raises(StopError):
        list(transfer(source, empty, stop, at_a_time=1))
    assert len(empty.sources()) == 2
    assert sorted(status for _, status in statuses([*transfer(source, empty)])) == [
        "added", "added", "unchanged", "unchanged",
    ]  # fmt: skip


def test_a_killed_sender_goes_on(tmp_path: Path, kind: str) -> None:
    source = opened(tmp_path / "many.db")
    many = [
        Document(f"{n:03}.txt", "".join(f"line{i} of document{n}\n" for i in range(10)))
        for n in range(120)
    ]
    add(source, *many)
    target = tmp_path / "target.db"
    command = [sys.executable, "-c", SENDER, str(tmp_path / "many.db"), str(target), kind]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    for rows_told, pause in ((1, 0.0), (20, 0.01), (20, 0.05)):
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, cwd=ROOT, env=environment, bufsize=0
        ) as sender:
            assert sender.stdin
            assert sender.stdout
            for _ in range(rows_told):
                sender.stdout.readline()
                sender.stdin.write(b"\n")
            time.sleep(pause)
            sender.send_signal(signal.SIGKILL)
    there = opened(target, kind=kind)
    sent = [row for row in there.documents() if row.chunks == 10]
    assert 0 < len(sent) == len(there.sources()) < 120
    rows = statuses([*transfer(source, there)])
    assert len([status for _, status in rows if status == "unchanged"]) == len(sent)
    assert {source for source, _ in rows} == {document.source for document in many}
    assert [there.document(each.source).text for each in many] == [each.text for each in many]
    assert len(ask(there, "line3", Options(mode="keyword", k=500)).hits) == 120
    for each in (source, there):
        each.close()
