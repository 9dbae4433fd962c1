"""The list of threads of the JSONL layout: what is read again, and what is not."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jan_magics.storage.jsonl import JsonlStore
from tests.storage.samples import make_message, make_thread, row
from tests.storage.writer import ticking

COUNT = 250


def make_store(path: Path) -> JsonlStore:
    return JsonlStore(path / "threads", ticking())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JsonlStore]:
    """Many threads, as files: what Jan would have left here."""
    for number in range(COUNT):
        folder = tmp_path / "threads" / f"t{number}"
        folder.mkdir(parents=True)
        record = {"id": f"t{number}", "title": f"título {number}", "updated": number, "x": [number]}
        (folder / "thread.json").write_text(json.dumps(record), encoding="utf-8")
        (folder / "messages.jsonl").write_bytes(b'{"id":"a","metadata":{"parentId":null}}\n')
    opened = make_store(tmp_path)
    assert len(opened.threads()) == COUNT
    yield opened
    opened.close()


def test_the_next_process_reads_the_cache_and_no_thread(store: JsonlStore, tmp_path: Path) -> None:
    listed = store.threads()
    assert [each.thread.id for each in listed[:2]] == [f"t{COUNT - 1}", f"t{COUNT - 2}"]
    cache = tmp_path / "threads.index.json"
    raw = json.loads(cache.read_bytes())
    raw["title"][raw["name"].index("t7")] = "of the cache"
    cache.write_text(json.dumps(raw), encoding="utf-8")
    again = make_store(tmp_path)
    assert row(again, "t7").thread.title == "of the cache"
    assert [each for each in again.threads() if each.thread.id != "t7"] == [
        each for each in listed if each.thread.id != "t7"
    ]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version":99,"threads":{}}', b"\xff",
                                    b'{"version":2,"name":["t1"]}'])  # fmt: skip
def test_a_damaged_cache_is_made_anew(store: JsonlStore, tmp_path: Path, damage: bytes) -> None:
    listed = store.threads()
    (tmp_path / "threads.index.json").write_bytes(damage)
    assert make_store(tmp_path).threads() == listed
    assert len(json.loads((tmp_path / "threads.index.json").read_bytes())["name"]) == COUNT


def test_what_others_change_is_seen(store: JsonlStore, tmp_path: Path) -> None:
    folder = tmp_path / "threads"
    with (folder / f"t{COUNT - 1}" / "messages.jsonl").open("ab") as file:
        file.write(b'{"id":"b","metadata":{"parentId":null}}\n')
    (folder / "t3" / "thread.json").write_bytes(b'{"id":"t3","title":"renamed","updated":9999}')
    (folder / "t4" / "thread.json").rename(folder / "t4" / "gone")
    (folder / "t4" / "messages.jsonl").unlink()
    store.create_thread(make_thread("new"))
    store.create(make_message("a", thread_id="new"))
    store.delete_thread("t5")
    listed = store.threads()
    assert (len(listed), [each.thread.id for each in listed[:2]]) == (COUNT - 1, ["new", "t3"])
    assert row(store, f"t{COUNT - 1}").messages == row(store, f"t{COUNT - 1}").branches == 2
    assert row(store, "t3").thread.title == "renamed"
    assert make_store(tmp_path).threads() == listed


def test_a_fault_is_looked_at_each_time(store: JsonlStore, tmp_path: Path) -> None:
    record = tmp_path / "threads" / "t3" / "thread.json"
    sound = record.read_bytes()
    record.write_bytes(b"{")
    assert "damaged" in str(row(store, "t3").fault)
    store.delete_thread("t3")
    assert len(store.threads()) == COUNT - 1
    store.restore_thread("t3")
    assert "damaged" in str(row(store, "t3").fault)
    record.write_bytes(sound)
    assert row(store, "t3").fault is None


def test_a_folder_that_cannot_be_written_is_listed(tmp_path: Path) -> None:
    (tmp_path / "threads.index.json").mkdir()
    store = make_store(tmp_path)
    store.create_thread(make_thread())
    assert [each.thread.id for each in store.threads()] == ["t"]
