"""What is special about the JSONL store: Jan's layout, damage, and the files of others."""

import errno
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from jan_magics.domain.errors import StoreError, StoreLocked
from jan_magics.domain.messages import Json, text_of
from jan_magics.domain.tree import Changes
from jan_magics.storage.files import append, translated
from jan_magics.storage.folder import Folder
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.locks import Locks
from jan_magics.storage.writing import write_changes
from tests.storage.samples import START, ids, make_message, make_thread, row
from tests.storage.writer import ticking

LINE = b'{"id":"jan","thread_id":"t","role":"user","content":[],"created_at":1,"x":{"y":[1]}}'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JsonlStore]:
    opened = JsonlStore(tmp_path / "threads", ticking())
    opened.create_thread(make_thread())
    yield opened
    opened.close()


@pytest.fixture
def folder(store: JsonlStore, tmp_path: Path) -> Path:
    return tmp_path / "threads" / "t"


def lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def records(folder: Path) -> list[bytes]:
    return (folder / "jan_magics.jsonl").read_bytes().split(b"\n")[:-1]


def test_nothing_is_touched_before_the_first_call(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "data" / "threads", ticking())
    assert list(store.threads()) == []
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_the_layout_is_that_of_jan(store: JsonlStore, folder: Path) -> None:
    store.create(make_message("a", "häi", parent=None))
    assert sorted(path.name for path in folder.iterdir()) == ["messages.jsonl", "thread.json"]
    text = (folder / "messages.jsonl").read_text(encoding="utf-8")
    assert text == (
        '{"id":"a","thread_id":"t","role":"user","content":[{"type":"text","text":{"value":"häi",'
        '"annotations":[]}}],"created_at":1772366400000,"metadata":{"parentId":null}}\n'
    )
    record = (folder / "thread.json").read_text(encoding="utf-8")
    assert record.startswith('{\n  "id": "t",\n  "title": "a thread",\n  "created": 1772366400,\n')


def test_files_of_jan_are_read_and_keep_their_keys(store: JsonlStore, folder: Path) -> None:
    thread: Json = {"id": "other", "title": "of Jan", "assistants": [{"id": "jan"}], "updated": 5.5}
    (folder / "thread.json").write_text(json.dumps(thread), encoding="utf-8")
    (folder / "messages.jsonl").write_bytes(LINE + b"\n")
    assert store.thread("t").title == "of Jan"
    store.create(make_message("a"))
    store.save(make_message("a", "new"))
    assert (folder / "messages.jsonl").read_bytes().startswith(LINE + b"\n")
    written = json.loads((folder / "thread.json").read_bytes())
    assert (written["assistants"], written["id"]) == ([{"id": "jan"}], "t")


def test_what_jan_writes_in_between_is_seen(store: JsonlStore, folder: Path) -> None:
    store.create(make_message("a"))
    with (folder / "messages.jsonl").open("ab") as file:
        file.write(LINE + b"\n")
    store.create(make_message("jan", "late"))
    store.create(make_message("b"))
    assert ids(store.messages("t")) == ["a", "jan", "b"]
    assert row(store).messages == 3


def test_a_torn_tail_does_not_swallow_the_next_message(store: JsonlStore, folder: Path) -> None:
    store.create(make_message("a"))
    log = folder / "messages.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + LINE[:30])
    assert row(store).fault == "1 damaged line in messages.jsonl"
    store.create(make_message("b"))
    assert ids(store.messages("t")) == ["a", "b"]
    assert len(lines(log)) == 2
    assert lines(folder / "messages.quarantine.jsonl") == [{"line": 2, "text": LINE[:30].decode()}]
    assert row(store).fault == "damaged lines were moved to messages.quarantine.jsonl"


def test_a_last_line_without_newline_is_a_message(store: JsonlStore, folder: Path) -> None:
    (folder / "messages.jsonl").write_bytes(LINE)
    store.create(make_message("b"))
    store.create(make_message("c"))
    assert ids(store.messages("t")) == ["jan", "b", "c"]
    assert row(store).fault is None


@pytest.mark.parametrize(
    "bad", [b"{", b"\xff\xfe", b"[1]", b'{"id":null}', b"\x00\x00", b"[" * 100_000]
)
def test_bad_lines_are_set_aside_when_read(store: JsonlStore, folder: Path, bad: bytes) -> None:
    log = folder / "messages.jsonl"
    log.write_bytes(LINE + b"\n" + bad + b"\n" + LINE.replace(b"jan", b"two") + b"\n")
    assert ids(store.messages("t")) == ["jan", "two"]
    assert log.read_bytes() == LINE + b"\n" + LINE.replace(b"jan", b"two") + b"\n"
    [record] = lines(folder / "messages.quarantine.jsonl")
    assert isinstance(record, dict)
    assert str(record["text"]).encode("utf-8", "surrogateescape") == bad
    assert row(store).messages == 2


@pytest.mark.parametrize("blank", [b"\n", b"  \n\n", b"\r\n\t\n"])
def test_a_blank_line_is_no_damage(store: JsonlStore, folder: Path, blank: bytes) -> None:
    store.save(make_message("a"))
    for name in ("messages.jsonl", "jan_magics.jsonl"):
        with (folder / name).open("ab") as file:
            file.write(blank)
    assert row(store).fault is None
    store.create(make_message("b"))
    store.save(make_message("b", "newer"))
    assert ids(store.messages("t")) == ["a", "b"]
    assert (row(store).fault, list(store.check())) == (None, [])
    assert not (folder / "messages.quarantine.jsonl").exists()


def test_of_two_lines_with_one_id_the_later_holds(store: JsonlStore, folder: Path) -> None:
    other = LINE.replace(b"user", b"system")
    (folder / "messages.jsonl").write_bytes(
        LINE + b"\n" + LINE.replace(b"jan", b"two") + b"\n" + other + b"\n"
    )
    assert [(m.id, m.role) for m in store.messages("t")] == [("jan", "system"), ("two", "user")]


def test_a_damaged_thread_is_a_row_and_its_messages_are_safe(
    store: JsonlStore, folder: Path
) -> None:
    store.create(make_message("a"))
    store.create_thread(make_thread("u"))
    (folder / "thread.json").write_bytes(b'{"id": "t", "tit')
    assert "thread.json is damaged" in str(row(store).fault)
    assert row(store, "u").fault is None
    with pytest.raises(StoreError, match="is damaged"):
        store.thread("t")
    store.create(make_message("b"))
    assert ids(store.messages("t")) == ["a", "b"]
    store.delete_thread("t")
    assert [row.thread.id for row in store.threads()] == ["u"]


def test_messages_without_a_thread_are_shown(store: JsonlStore, folder: Path) -> None:
    store.create(make_message("a"))
    (folder / "thread.json").unlink()
    (folder.parent / "empty").mkdir()
    (folder.parent / "a file").touch()
    assert [row.fault for row in store.threads()] == ["it has messages but no thread.json"]


def test_tombstones_and_the_bin_are_in_our_own_file(store: JsonlStore, folder: Path) -> None:
    store.create(make_message("a"))
    store.delete("t", "a")
    (folder / "jan_magics.jsonl").write_bytes(
        (folder / "jan_magics.jsonl").read_bytes() + b'{"type":"later kind"}\n{"type":"tombst'
    )
    store.delete_thread("t")
    assert (folder.parents[1] / "bin" / "threads" / "t" / "messages.jsonl").read_bytes() == b""
    store.restore_thread("t")
    store.save(make_message("a", "late"), make_message("b"))
    assert ids(store.messages("t")) == ["b"]
    types = [json.loads(line)["type"] for line in records(folder)]
    assert types == ["tombstone", "later kind", "deleted", "restored"]
    [torn] = lines(folder / "messages.quarantine.jsonl")
    assert torn == {"line": 3, "text": '{"type":"tombst'}


def test_a_deletion_counts_from_its_record_on(store: JsonlStore, folder: Path) -> None:
    store.save(make_message("a"), make_message("b"))
    Folder(folder).record({"type": "tombstone", "id": "a"})
    assert ids(store.messages("t")) == ["b"]
    assert row(store).messages == 1
    store.save(make_message("a", "late"))
    assert ids(store.messages("t")) == ["b"]


def test_the_bin_never_overwrites(store: JsonlStore, folder: Path) -> None:
    store.delete_thread("t")
    folder.mkdir()
    (folder / "messages.jsonl").write_bytes(LINE + b"\n")
    with pytest.raises(StoreError, match="is in the way"):
        store.restore_thread("t")
    store.delete_thread("t")
    store.restore_thread("t")
    assert store.thread("t") == make_thread()
    assert (folder.parents[1] / "bin" / "threads" / "t~1" / "messages.jsonl").is_file()


def test_an_append_does_not_read_the_log_again(store: JsonlStore, folder: Path) -> None:
    store.create(make_message("a"))
    index = store._indices.of(Folder(folder))
    store.create(make_message("b"))
    store.save(make_message("a", "new"))
    store.create(make_message("c"))
    assert store._indices.of(Folder(folder)) is index
    assert list(index.parents) == ["a", "b", "c"]


def test_jan_may_append_at_the_same_moment(store: JsonlStore, folder: Path) -> None:
    store.create(make_message("a"))
    index = store._indices.of(Folder(folder))
    with (folder / "messages.jsonl").open("ab") as file:
        file.write(LINE + b"\n")
    # As if Jan had written after we had looked.
    index.prints = ((0, index.prints[0][1], 0) if index.prints[0] else None, index.prints[1])
    write_changes(Folder(folder), index, Changes((make_message("b"),)), (), settled=True)
    store.create(make_message("jan", "late"))
    store.save(make_message("b", "new"))
    assert [(m.id, text_of(m)) for m in store.messages("t")] == [
        ("a", "hello"),
        ("jan", ""),
        ("b", "new"),
    ]


def test_opening_a_thread_of_jan_changes_no_byte(store: JsonlStore, folder: Path) -> None:
    empty = b'{"content":[],"id":"e","role":"assistant","status":"stopped","metadata":{}}'
    tool = b'{"id":"x","role":"assistant","content":[],"metadata":{"tool_calls":[{"id":1}]}}'
    (folder / "messages.jsonl").write_bytes(LINE + b"\n" + empty + b"\n" + tool + b"\n")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert ids(store.messages("t")) == ["jan", "e", "x"]
    assert store.messages("t")[1].extra["status"] == "stopped"
    store.close()
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_failed_append_leaves_no_half_line(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="Windows has no limit to set")
    path = tmp_path / "log"
    append(path, b"one\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
        with pytest.raises(StoreError, match="cannot be read or written"), translated(path):
            append(path, b"another line\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"one\n"


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is full\nMake room"), translated(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_held_lock_is_a_typed_error(tmp_path: Path) -> None:
    locks = Locks(tmp_path, patience=0.05)
    with (
        FileLock(tmp_path / "t.lock"),
        pytest.raises(StoreLocked, match=r"locked by another process.*\n.*try again"),
        translated(tmp_path),
        Locks(tmp_path, patience=0.05).hold("t"),
    ):
        pass
    with locks.hold("t"):
        assert (tmp_path / "t.lock").exists()


def test_a_folder_that_may_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "threads").write_bytes(b"a file in the way")
    store = JsonlStore(tmp_path / "threads", lambda: START)
    with pytest.raises(StoreError, match="cannot be read or written"):
        store.create_thread(make_thread())
    assert text_of(make_message("a")) == "hello"
