"""What is special about the SQLite store."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from jan_magics.domain.errors import SchemaTooNew, StoreError, StoreLocked
from jan_magics.domain.overlays import Hidden
from jan_magics.domain.tree import Changes
from jan_magics.storage.connections import Connections, translated
from jan_magics.storage.schema import STEPS, migrate
from jan_magics.storage.sqlite import SqliteStore
from tests.storage.samples import START, ids, make_message, make_thread, row
from tests.storage.writer import ticking


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "jan.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path, ticking())
    yield opened
    opened.close()


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    try:
        yield connection
    finally:
        connection.close()


def test_nothing_is_touched_before_the_first_call(store: SqliteStore, path: Path) -> None:
    assert not path.parent.exists()
    store.close()
    assert not path.parent.exists()
    store.create_thread(make_thread())
    assert path.is_file()


def test_the_database_is_durable_and_closes_cleanly(store: SqliteStore, path: Path) -> None:
    store.create_thread(make_thread())
    with store._file.reading() as connection:
        assert connection.pragma("journal_mode") == "wal"
        assert connection.pragma("synchronous") == 2
        assert connection.pragma("foreign_keys") == 1
        assert connection.pragma("user_version") == len(STEPS)
    store.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_newer_schema_is_refused_with_both_versions(store: SqliteStore, path: Path) -> None:
    store.create_thread(make_thread())
    store.close()
    with opened(path) as connection:
        connection.pragma("user_version", 99)
    with pytest.raises(SchemaTooNew, match=rf"schema 99; .* up to schema {len(STEPS)}\n.*Upgrade"):
        store.threads()


def test_only_missing_steps_run_and_a_failed_one_leaves_nothing(path: Path) -> None:
    ran: list[str] = []

    def step(name: str) -> Callable[[apsw.Connection], None]:
        def run(connection: apsw.Connection) -> None:
            ran.append(name)
            connection.execute(f"CREATE TABLE {name} (x)")

        return run

    def broken(connection: apsw.Connection) -> None:
        step("half")(connection)
        raise ZeroDivisionError

    path.parent.mkdir()
    with opened(path) as connection:
        migrate(connection, path, [step("one")])
        migrate(connection, path, [step("one"), step("two"), step("three")])
        migrate(connection, path, [step("one"), step("two"), step("three")])
        assert ran == ["one", "two", "three"]
        with pytest.raises(ZeroDivisionError):
            migrate(connection, path, [*[step("one")] * 3, broken])
        assert connection.pragma("user_version") == 3
        tables = connection.execute("SELECT name FROM sqlite_schema").fetchall()
        assert tables == [("one",), ("two",), ("three",)]


def test_a_database_of_the_first_schema_is_brought_forward(store: SqliteStore, path: Path) -> None:
    path.parent.mkdir()
    with opened(path) as connection:
        migrate(connection, path, STEPS[:1])
        connection.execute(
            """
            INSERT INTO thread VALUES (1, 't', 'old', 1, 2, NULL, 1, 0, '["old",{"a":1},{}]');
            INSERT INTO message VALUES (1, 1, 'm', 0, NULL, '{"id":"m","thread_id":"t"}');
            INSERT INTO tombstone VALUES (1, 'gone');
            """
        )
    assert store.tombstones("t") == {"gone": None}
    store.apply("t", Changes((make_message("gone"), make_message("b")), "b"), [Hidden("m")])
    assert ids(store.messages("t")) == ["m", "b"]
    assert list(store.overlays("t")) == [Hidden("m")]
    assert store.thread("t").metadata == {"a": 1, "activeRootId": "b"}
    assert list(store.check()) == []


def test_a_held_lock_is_a_typed_error(store: SqliteStore, path: Path) -> None:
    store.create_thread(make_thread())
    patient = Connections(path, patience=0.05)
    with opened(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with (
            pytest.raises(StoreLocked, match=r"locked by another process.*\n.*try again"),
            patient.writing(),
        ):
            pass
        assert row(store).messages == 0
    patient.close()


def test_a_failed_transaction_leaves_nothing(store: SqliteStore) -> None:
    store.create_thread(make_thread())
    naive = replace(make_message("c"), created_at=START.replace(tzinfo=None))
    with pytest.raises(TypeError):
        store.save(make_message("a"), naive)
    assert row(store).messages == 0
    store.create(make_message("b"))
    assert ids(store.messages("t")) == ["b"]


ERRORS: list[tuple[apsw.Error | OSError, type[StoreError], str]] = [
    (apsw.BusyError(), StoreLocked, "locked by another process"),
    (apsw.FullError(), StoreError, "is full"),
    (apsw.ReadOnlyError(), StoreError, "cannot be opened for writing"),
    (apsw.CantOpenError(), StoreError, "cannot be opened for writing"),
    (apsw.NotADBError(), StoreError, "not a database"),
    (apsw.CorruptError(), StoreError, "damaged"),
    (apsw.IOError("disk I/O error"), StoreError, "disk I/O error"),
    (PermissionError(13, "Permission denied"), StoreError, "Permission denied"),
]


@pytest.mark.parametrize(
    ("error", "kind", "words"), ERRORS, ids=[type(case[0]).__name__ for case in ERRORS]
)
def test_errors_are_ours_with_a_next_step(
    path: Path, error: Exception, kind: type[StoreError], words: str
) -> None:
    with pytest.raises(kind, match=words) as caught, translated(path):
        raise error
    assert caught.value.next_step
    assert str(path) in caught.value.message


def test_a_file_that_is_no_database(store: SqliteStore, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is a letter, not a database" * 100)
    with pytest.raises(StoreError, match="not a database"):
        store.threads()
    assert path.read_bytes().startswith(b"this is a letter")


def test_a_folder_in_the_way(store: SqliteStore, path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be opened"):
        store.threads()


def test_a_damaged_record_is_a_row_with_a_fault(store: SqliteStore, path: Path) -> None:
    store.create_thread(make_thread())
    store.create_thread(make_thread("u"))
    store.close()
    with opened(path) as connection:
        connection.execute("UPDATE thread SET data = '{' WHERE id = 'u'")
    assert row(store).fault is None
    assert row(store, "u").fault == "its record is damaged"


def test_deleting_a_thread_for_good_takes_its_messages(store: SqliteStore, path: Path) -> None:
    store.create_thread(make_thread())
    store.save(make_message("a"), make_message("b"))
    store.apply("t", Changes(deleted=("a",)), [Hidden("b")])
    with store._connections.writing() as connection:
        connection.execute("DELETE FROM thread")
        for table in ("message", "tombstone", "overlay"):
            found = connection.execute(f"SELECT count(*) FROM {table}")  # noqa: S608 (see above)
            assert found.fetchone() == (0,)


def test_every_thread_has_a_connection_and_gives_it_back(store: SqliteStore) -> None:
    store.create_thread(make_thread())
    seen: list[apsw.Connection | int] = []

    def look() -> None:
        with store._file.reading() as connection:
            seen.append(id(connection))
        seen.append(len(store._file._open))

    with store._file.reading() as mine:
        other = threading.Thread(target=look)
        other.start()
        other.join()
        assert seen[0] != id(mine)
    assert seen[1] == 2
    assert len(store._file._open) == 1
