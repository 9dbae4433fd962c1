"""The doctor's side of every Store: checks, repairs, the bin, copies, and whole threads."""

import zipfile
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, Message, Thread, text_of
from jan_magics.domain.overlays import CellLink, Hidden, Overlay
from jan_magics.domain.protocols import Store
from jan_magics.domain.tree import Changes
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.overlays import encode_overlay
from jan_magics.storage.sqlite import SqliteStore
from jan_magics.storage.upkeep import Upkeep, WholeThread
from tests.storage.samples import (
    START,
    ids,
    make_message,
    make_thread,
    messages,
    overlays,
    row,
    texts,
    threads,
)
from tests.storage.writer import open_store, ticking


def kept(store: Store) -> Upkeep:
    assert isinstance(store, Upkeep)
    return store


def test_a_healthy_store_has_no_faults(kind: str, store: Store, tmp_path: Path) -> None:
    assert list(kept(open_store(kind, tmp_path / "not there yet")).check()) == []
    assert list(kept(open_store(kind, tmp_path / "not there yet")).repair()) == []
    kept(open_store(kind, tmp_path / "not there yet")).vacuum()
    assert not (tmp_path / "not there yet").exists()
    store.save(make_message("a", parent=None), make_message("b", parent="a"))
    store.apply("t", Changes(deleted=("a",)), [Hidden("b")])
    assert list(kept(store).check()) == []
    kept(store).repair()
    assert list(kept(store).check()) == []
    assert list(kept(store).repair()) == []


def test_the_bin_is_listed_and_emptied(kind: str, store: Store, tmp_path: Path) -> None:
    for name in ("u", "v"):
        store.create_thread(make_thread(name, f"thread {name}"))
        store.create(make_message("a", "x" * 100_000, thread_id=name))
    for name in ("v", "t", "u"):
        store.delete_thread(name)
    binned = kept(store).binned()
    assert [each.thread.id for each in binned] == ["u", "t", "v"]
    assert (binned[0].thread.title, binned[0].messages) == ("thread u", 1)
    store.restore_thread("t")
    before = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    kept(store).vacuum()
    assert list(kept(store).binned()) == []
    with pytest.raises(ThreadNotFound):
        store.restore_thread("u")
    assert [each.thread.id for each in store.threads()] == ["t"]
    store.close()
    after = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    # A database server gives the room back by itself, and elsewhere.
    assert kind == "postgres" or after < before - 190_000


def test_a_backup_is_a_store(kind: str, store: Store, tmp_path: Path) -> None:
    store.create(make_message("a", parent=None))
    store.save(make_message("b", "waits", parent="a"))
    store.apply("t", Changes(), [Hidden("a")])
    store.create_thread(make_thread("u"))
    store.delete_thread("u")
    target = tmp_path / "copies" / "backup"
    kept(store).backup(target)
    store.save(make_message("b", "later", parent="a"))
    with pytest.raises(StoreError, match="exists already"):
        kept(store).backup(target)
    home = tmp_path / "elsewhere"
    home.mkdir()
    if kind == "jsonl":
        zipfile.ZipFile(target).extractall(home)
    else:
        (home / "jan.sqlite").write_bytes(target.read_bytes())
    other = open_store("jsonl" if kind == "jsonl" else "sqlite", home)
    assert [(m.id, text_of(m)) for m in other.messages("t")] == [("a", "hello"), ("b", "waits")]
    assert list(other.overlays("t")) == [Hidden("a")]
    assert [each.thread.id for each in kept(other).binned()] == ["u"]
    assert list(kept(other).check()) == []
    assert [file.name for file in target.parent.iterdir()] == ["backup"]


wholes = st.builds(
    WholeThread,
    thread=threads.map(lambda thread: replace(thread, id="w")),
    messages=st.lists(
        messages.map(lambda message: replace(message, thread_id="w")),
        max_size=4,
        unique_by=lambda message: message.id,
    ),
    records=st.lists(
        overlays.map(encode_overlay) | st.just({"type": "later kind", "x": [1, None]}), max_size=3
    ),
    tombstones=st.dictionaries(texts.map(lambda text: f"gone {text}"), st.none() | texts),
)


def files(store: JsonlStore, path: Path) -> dict[str, bytes]:
    """Return the files of a thread; the backup of an older log stays where it is."""
    store.close()
    found = {file.name: file.read_bytes() for file in (path / "threads" / "w").iterdir()}
    return {name: data for name, data in found.items() if name != "messages.backup.jsonl"}


@settings(max_examples=20, deadline=None)
@given(whole=wholes)
def test_a_thread_is_the_same_after_a_journey(
    whole: WholeThread, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journey")
    first = JsonlStore(path / "a" / "threads", ticking())
    first.adopt(whole)
    second = SqliteStore(path / "jan.sqlite", ticking())
    second.adopt(first.whole("w"))
    assert second.whole("w") == first.whole("w") == whole
    last = JsonlStore(path / "b" / "threads", ticking())
    last.adopt(second.whole("w"))
    assert files(last, path / "b") == files(first, path / "a")
    assert second.thread("w").updated_at == whole.thread.updated_at
    assert [list(kept(each).check()) for each in (first, second, last)] == [[], [], []]
    second.close()


def test_what_was_written_bit_by_bit_makes_the_same_journey(tmp_path: Path) -> None:
    first = JsonlStore(tmp_path / "a" / "threads", ticking())
    extra: dict[str, Json] = {"assistants": [{"id": "jan"}]}
    thread = replace(make_thread("w", "题/.."), metadata={"order": 1}, extra=extra)
    first.create_thread(thread)
    link: Overlay = CellLink("n.ipynb", "c", 0, "q")
    question = make_message("q", parent=None, thread_id="w")
    first.apply("w", Changes((question,), "q"), [link])
    answer = make_message("a", "words", parent="q", thread_id="w")
    first.save(replace(answer, parts=()))
    first.apply("w", Changes((replace(question, active_child_id="a"), answer)))
    first.save(make_message("x", thread_id="w"))
    first.delete("w", "x")
    before = files(first, tmp_path / "a")
    second = SqliteStore(tmp_path / "jan.sqlite", ticking())
    second.adopt(first.whole("w"))
    last = JsonlStore(tmp_path / "b" / "threads", ticking())
    last.adopt(second.whole("w"))
    assert files(last, tmp_path / "b") == before
    assert sorted(before) == ["jan_magics.jsonl", "messages.jsonl", "thread.json"]
    second.close()


def test_a_thread_that_is_there_is_not_adopted(store: Store) -> None:
    whole = WholeThread(make_thread(), [make_message("a")], [], {})
    with pytest.raises(StoreError, match="already"):
        kept(store).adopt(whole)
    store.delete_thread("t")
    with pytest.raises(StoreError, match="in the bin"):
        kept(store).adopt(whole)
    with pytest.raises(StoreError, match="cannot be the id"):
        kept(store).adopt(replace(whole, thread=make_thread("../x")))
    kept(store).vacuum()
    kept(store).adopt(whole)
    assert (ids(store.messages("t")), row(store).messages) == (["a"], 1)


DAMAGED = [
    b'{"id": "t", "title": "the \\"old\\" title", "metadata": {"activeRootId": "a"}, "upd',
    b"",
    b"[]",
    None,
]


@pytest.mark.parametrize("damaged", DAMAGED, ids=["torn", "empty", "no object", "missing"])
def test_a_damaged_record_is_made_anew(tmp_path: Path, damaged: bytes | None) -> None:
    store = JsonlStore(tmp_path / "threads", ticking())
    store.create_thread(make_thread())
    store.create(make_message("a", "the  first\nquestion", parent=None))
    record = tmp_path / "threads" / "t" / "thread.json"
    record.unlink() if damaged is None else record.write_bytes(damaged)
    [fault] = store.check()
    assert "thread.json" in fault
    [done] = store.repair()
    assert "thread.json was made anew" in done
    torn = damaged == DAMAGED[0]
    thread = store.thread("t")
    assert thread.title == ('the "old" title' if torn else "the first question")
    assert thread.metadata == ({"activeRootId": "a"} if torn else {})
    assert (thread.created_at, list(store.check())) == (START, [])
    assert ids(store.messages("t")) == ["a"]
    if damaged is not None:
        assert record.with_name("thread.damaged.json").read_bytes() == damaged


@pytest.fixture
def database(tmp_path: Path) -> SqliteStore:
    store = SqliteStore(tmp_path / "jan.sqlite", ticking())
    store.create_thread(Thread("t", "näme", START, START, {"n": 1}))
    store.save(make_message("a", parent=None), make_message("b", parent="a"))
    return store


def execute(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path / "jan.sqlite"))
    try:
        connection.execute(statement)
    finally:
        connection.close()


DAMAGES = [
    ("UPDATE thread SET data = '{'", "its record is damaged", "made anew"),
    ("UPDATE thread SET messages = 7, leaves = -1", "its counts are wrong", "counted anew"),
    ("UPDATE message SET data = '{' WHERE id = 'a'", "message 'a' is damaged", "set aside"),
]


@pytest.mark.parametrize(("statement", "fault", "done"), DAMAGES, ids=[d[1] for d in DAMAGES])
def test_a_damaged_row_is_found_and_mended(
    database: SqliteStore, tmp_path: Path, statement: str, fault: str, done: str
) -> None:
    database.close()
    execute(tmp_path, statement)
    assert any(fault in line for line in database.check())
    left: list[Message] = list(database.messages("t"))
    assert any(done in line for line in database.repair())
    assert list(database.check()) == []
    assert list(database.messages("t")) == left
    assert row(database).thread.title == "näme"
    assert row(database).messages == len(left)
    database.close()


def test_a_damaged_page_is_told(database: SqliteStore, tmp_path: Path) -> None:
    database.save(*(make_message(f"m{n}", "x" * 500, parent=None) for n in range(200)))
    database.close()
    path = tmp_path / "jan.sqlite"
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4096] = b"\xee" * 4096
    path.write_bytes(data)
    assert any("is damaged" in line for line in database.check())
    database.close()
    path.write_bytes(b"this is a letter, not a database" * 100)
    assert [line.removeprefix(str(path)) for line in database.check()] == [" is not a database"]


def test_a_folder_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "threads", ticking())
    store.create_thread(make_thread())
    (tmp_path / "threads" / "t" / "messages.jsonl").mkdir()
    [line] = store.check()
    assert "cannot be read" in line
    assert list(JsonlStore(tmp_path / "nothing", ticking()).check()) == []


def test_a_network_file_system_gets_another_journal_and_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "jan.sqlite", ticking(), network=lambda path: "nfs4")
    store.create_thread(make_thread())
    store.create(make_message("a"))
    assert [file.name for file in tmp_path.iterdir()] == ["jan.sqlite"]
    with store._file.reading() as connection:
        assert connection.pragma("journal_mode") == "delete"
        assert connection.pragma("synchronous") == 2
    [said] = store.check()
    assert "network file system (nfs4)" in said
    assert ids(store.messages("t")) == ["a"]
    store.close()
    local = SqliteStore(tmp_path / "jan.sqlite", ticking(), network=lambda path: None)
    assert ids(local.messages("t")) == ["a"]
    assert list(local.check()) == []
    local.close()
