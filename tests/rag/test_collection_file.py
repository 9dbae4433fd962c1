"""The file of a collection: who may open it, who is refused, and what it may run."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from jan_magics.domain.errors import CollectionNotFound, RetrievalError, SchemaTooNew, StoreLocked
from jan_magics.domain.retrieval import Document
from jan_magics.rag import near
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.collection_file import CollectionFile
from jan_magics.rag.options import Options
from jan_magics.rag.statements import fetched
from tests.rag.library import DOCUMENTS, NOON, add, ask, opened, opened_file, texts


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    collection = opened(tmp_path / "a.db")
    add(collection, *DOCUMENTS)
    collection.close()
    return tmp_path / "a.db"


def test_a_file_that_is_only_read_is_not_touched(saved: Path) -> None:
    before = saved.read_bytes()
    file = CollectionFile(saved, read_only=True, frozen=True)
    with file.reading() as connection:
        assert fetched(connection, "SELECT count(*) FROM chunk") == [(8,)]
        with pytest.raises(apsw.ReadOnlyError):
            connection.execute("DELETE FROM chunk")
    file.close()
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["a.db"]


def test_reading_only_numpy_stands_in_for_a_copy_that_cannot_be_made(saved: Path) -> None:
    reading = opened(saved, read_only=True)
    found = ask(reading, "token budget", Options(index="vec0"))
    assert found.facts["index"] == "numpy"
    assert "read-only" in found.notes[0]
    reading.close()


def test_a_missing_file_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(CollectionNotFound, match=r"none\.db"):
        opened(tmp_path / "none.db", read_only=True).documents()
    assert list(tmp_path.iterdir()) == []


def test_databases_of_others_are_refused_and_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with apsw.Connection(str(path)) as connection:
        connection.execute("CREATE TABLE chunk (n)")
    connection.close()
    before = path.read_bytes()
    for read_only in (True, False):
        with pytest.raises(RetrievalError, match="not a collection"):
            opened(path, read_only=read_only).documents()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "planted",
    [
        "CREATE TRIGGER t AFTER INSERT ON chunk BEGIN DELETE FROM document; END",
        "CREATE VIEW v AS SELECT load_extension('x')",
        "CREATE TABLE other (n)",
        "DROP TABLE generation",
    ],
)
def test_a_file_with_more_or_less_than_a_collection_is_refused(saved: Path, planted: str) -> None:
    with apsw.Connection(str(saved)) as connection:
        connection.execute(planted)
    connection.close()
    with pytest.raises(RetrievalError, match="not a collection as this version writes it"):
        opened(saved).documents()


def test_a_newer_file_is_refused(saved: Path) -> None:
    with apsw.Connection(str(saved)) as connection:
        connection.pragma("user_version", 99)
    connection.close()
    for read_only in (True, False):
        with pytest.raises(SchemaTooNew, match="99"):
            opened(saved, read_only=read_only).documents()


def test_s13_a_lock_has_a_name_and_an_end(saved: Path) -> None:
    holder = apsw.Connection(str(saved))
    holder.execute("BEGIN IMMEDIATE")
    file = CollectionFile(saved, patience=0.1)
    with pytest.raises(StoreLocked), file.writing():
        pytest.fail("two wrote at once")
    holder.close()
    file.close()


def test_s15_a_lost_copy_of_the_vectors_is_made_anew(filed: SqliteCollection) -> None:
    options = Options(mode="vector", index="vec0", k=50)
    want = ask(filed, "active thread", options)
    with filed.file.writing() as connection:
        connection.execute("DROP TABLE near_1")
    assert ask(filed, "active thread", options) == want
    # A process without sqlite-vec writes: the copy is behind.
    plain = opened(filed.file.path)
    add(plain, Document("late.txt", "a thread that came late\n"))
    plain.close()
    assert "a thread that came late" in texts(ask(filed, "thread late", options))


def test_s1_without_sqlite_vec_numpy_answers_the_same(tmp_path: Path) -> None:
    lost = tmp_path / "vec0.so"
    lost.write_bytes(b"no library")
    connection = apsw.Connection(":memory:")
    assert near.load(connection) is None
    reason = near.load(apsw.Connection(":memory:"), str(lost))
    assert reason is None  # the packaged one is tried next
    with pytest.raises(apsw.SQLError):
        connection.execute("SELECT load_extension('x')")


def test_many_vectors_stay_on_the_disk_by_themselves(saved: Path) -> None:
    small = SqliteCollection(saved, lambda: NOON, in_memory=0)
    found = ask(small, "token budget", Options(mode="vector"))
    assert found.facts["index"] == "vec0"
    assert found.hits == ask(opened(saved), "token budget", Options(mode="vector")).hits
    small.close()


def test_every_thread_keeps_the_copy_of_the_vectors(saved: Path) -> None:
    first = opened(saved)
    ask(first, "thread", Options(index="vec0"))
    first.close()
    second = opened_file(saved)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(add, second, Document("new.txt", "from another thread\n")).result()
        pool.submit(second.remove, "zh.txt").result()
    with second.file.reading() as connection:
        assert near.state(connection, 1) == "kept"
    second.close()
