"""What waits in the journal of the JSONL layout, and how it comes into Jan's log."""

import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from jan_magics.domain.messages import Json, text_of
from jan_magics.domain.overlays import Hidden, Undone
from jan_magics.domain.protocols import Store
from jan_magics.domain.tree import Changes
from jan_magics.storage.files import replace_file
from jan_magics.storage.folder import Folder
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.writing import LIMIT, fold
from tests.storage.samples import ids, make_message, make_thread, row
from tests.storage.writer import open_store, ticking

QUESTION = make_message("q", "why?", parent=None)


def make_store(path: Path) -> JsonlStore:
    return JsonlStore(path / "threads", ticking())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JsonlStore]:
    opened = make_store(tmp_path)
    opened.create_thread(make_thread())
    opened.create(QUESTION)
    yield opened
    opened.close()


@pytest.fixture
def log(store: JsonlStore, tmp_path: Path) -> Path:
    return tmp_path / "threads" / "t" / "messages.jsonl"


@pytest.fixture
def journal(log: Path) -> Path:
    return log.with_name("jan_magics.jsonl")


def values(path: Path) -> list[dict[str, Json]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def texts(store: Store) -> list[tuple[str, str]]:
    return [(message.id, text_of(message)) for message in store.messages("t")]


def test_an_answer_that_grows_never_touches_the_log(
    store: JsonlStore, log: Path, journal: Path, tmp_path: Path
) -> None:
    before = log.read_bytes()
    for size in range(1, 6):
        store.save(make_message("a", "word " * size, parent="q"))
    assert log.read_bytes() == before
    assert [each["type"] for each in values(journal)] == ["message"] * 5
    assert texts(store) == [("q", "why?"), ("a", "word " * 5)]
    assert (row(store).messages, row(store).branches) == (2, 1)
    # Killed here: the next to open the thread finds the answer, and brings it into the log.
    assert texts(make_store(tmp_path)) == [("q", "why?"), ("a", "word " * 5)]
    assert [each["id"] for each in values(log)] == ["q", "a"]
    assert not journal.exists()


def test_a_settled_answer_is_in_the_log_at_once(
    store: JsonlStore, log: Path, journal: Path
) -> None:
    store.save(make_message("a", "wor", parent="q"))
    answer = make_message("a", "words", parent="q")
    store.apply("t", Changes((replace(QUESTION, active_child_id="a"), answer)))
    assert [each["id"] for each in values(log)] == ["q", "a"]
    assert texts(store) == [("q", "why?"), ("a", "words")]
    assert store.messages("t")[0].active_child_id == "a"
    store.close()
    assert not journal.exists()
    assert [each["metadata"] for each in values(log)] == [
        {"parentId": None, "activeChildId": "a"},
        {"parentId": "q"},
    ]


def test_the_order_of_writing_holds_while_something_waits(
    store: JsonlStore, log: Path, tmp_path: Path
) -> None:
    store.save(make_message("a", parent="q"))
    store.create(make_message("b", parent="q"))
    store.apply("t", Changes((make_message("d"), make_message("c"))))
    assert ids(store.messages("t")) == ["q", "a", "b", "d", "c"]
    assert ids(make_store(tmp_path).messages("t")) == ["q", "a", "b", "d", "c"]
    assert [each["id"] for each in values(log)] == ["q", "a", "b", "d", "c"]


def test_the_journal_is_folded_when_it_is_long(store: JsonlStore, log: Path, journal: Path) -> None:
    for number in range(LIMIT - 1):
        store.save(make_message("a", str(number)))
    assert [each["id"] for each in values(log)] == ["q"]
    store.save(make_message("a", "last"))
    assert not journal.exists()
    assert texts(store) == [("q", "why?"), ("a", "last")]
    store.save(*(make_message(f"m{number}") for number in range(LIMIT)))
    assert len(values(log)) == LIMIT + 2


def foreign(log: Path, change: Callable[[dict[str, Json]], None]) -> None:
    """Write the log as Jan does: all of it, with its own spelling of JSON."""
    found = values(log)
    change(found[0])
    log.write_text("".join(json.dumps(dict(sorted(each.items()))) + "\n" for each in found))


def test_an_entry_older_than_a_foreign_rewrite_loses(store: JsonlStore, log: Path) -> None:
    store.save(make_message("q", "ours", parent=None))
    foreign(log, lambda message: message.update(status="Jan was here"))
    assert [m.extra.get("status") for m in store.messages("t")] == ["Jan was here"]
    store.save(make_message("q", "newer", parent=None))
    assert texts(store) == [("q", "newer")]
    store.close()
    assert texts(store) == [("q", "newer")]
    assert "status" not in values(log)[0]


def test_another_spelling_is_no_rewrite(store: JsonlStore, log: Path) -> None:
    store.save(make_message("q", "ours", parent=None))
    foreign(log, lambda message: None)
    assert texts(store) == [("q", "ours")]
    store.close()
    assert texts(store) == [("q", "ours")]


def test_what_jan_deleted_does_not_come_back(store: JsonlStore, log: Path) -> None:
    store.create(make_message("b"))
    store.save(make_message("b", "changed"))
    log.write_bytes(log.read_bytes().split(b"\n")[0] + b"\n")
    assert ids(store.messages("t")) == ["q"]
    store.save(make_message("c"))
    store.close()
    assert ids(store.messages("t")) == ["q", "c"]


def test_a_fold_that_is_killed_halfway_can_be_done_again(
    store: JsonlStore, log: Path, journal: Path
) -> None:
    store.create(make_message("b"))
    store.save(make_message("q", "changed", parent=None), make_message("a", "new"))
    store.delete("t", "b")
    waiting = journal.read_bytes()
    assert fold(Folder(log.parent))
    folded = log.read_bytes()
    journal.write_bytes(waiting)
    assert texts(store) == [("q", "changed"), ("a", "new")]
    fold(Folder(log.parent))
    assert log.read_bytes() == folded
    assert values(journal) == [{"type": "tombstone", "id": "b", "parent": None}]


def test_what_jan_writes_while_we_fold_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"old\n")
    assert replace_file(path, b"ours\n", still=lambda: False) is None
    assert [file.name for file in tmp_path.iterdir()] == ["log"]
    assert path.read_bytes() == b"old\n"


@pytest.mark.parametrize("name", ["messages.jsonl", "jan_magics.jsonl"])
def test_a_store_that_is_cut_at_any_byte_opens(tmp_path: Path, name: str) -> None:
    writer = make_store(tmp_path / "whole")
    writer.create_thread(make_thread())
    for number in range(3):
        writer.create(make_message(f"m{number}", parent=None))
        writer.save(make_message("m0", f"state {number}", parent=None))
    whole = tmp_path / "whole" / "threads" / "t"
    data = (whole / name).read_bytes()
    start = data.rindex(b"\n", 0, -1) + 1
    for cut in [*range(start, len(data) - 1, 7), len(data) - 1]:
        last = cut == len(data) - 1  # a line that lacks its newline only is whole
        target = tmp_path / str(cut) / "threads" / "t"
        target.mkdir(parents=True)
        for file in whole.iterdir():
            (target / file.name).write_bytes(file.read_bytes())
        (target / name).write_bytes(data[:cut])
        store = make_store(tmp_path / str(cut))
        found = dict(texts(store))
        if name == "messages.jsonl":
            assert found.keys() == {"m0", "m1", "m2"} - (set() if last else {"m2"})
        else:
            assert found == {"m0": f"state {1 + last}", "m1": "hello", "m2": "hello"}
        store.create(make_message("after"))
        assert ids(store.messages("t"))[-1] == "after"
        assert [line for line in store.check() if "moved to" not in line] == []


def test_records_of_unknown_kinds_survive_a_fold(store: JsonlStore, journal: Path) -> None:
    later: dict[str, Json] = {"type": "later kind", "x": [1.5, {"y": None}]}
    journal.write_bytes(json.dumps(later).encode() + b"\n[1]\n")
    store.apply("t", Changes((replace(QUESTION, active_child_id="a"),)), [Hidden("q")])
    store.close()
    assert values(journal) == [later, {"type": "hidden", "id": "q", "hidden": True}]
    assert list(store.overlays("t")) == [Hidden("q")]
    assert row(store).fault == "damaged lines were moved to messages.quarantine.jsonl"


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
@pytest.mark.parametrize("between", [True, False], ids=["reopened", "at once"])
def test_an_undo_brings_a_deleted_message_back(kind: str, between: bool, tmp_path: Path) -> None:
    store = open_store(kind, tmp_path)
    store.create_thread(make_thread())
    store.apply("t", Changes((make_message("a"),)))
    store.apply("t", Changes((make_message("b"),)))
    store.delete("t", "a")
    if between:
        store.close()
    store.apply("t", Changes((make_message("a", "back"),)))
    assert ids(store.messages("t")) == ["b"]
    store.apply("t", Changes((make_message("a", "back"),)), [Undone("c")])
    assert texts(store) == [("b", "hello"), ("a", "back")]
    assert store.tombstones("t") == {}
    store.close()
    assert texts(store) == [("b", "hello"), ("a", "back")]
    assert store.tombstones("t") == {}


def test_folding_is_no_repair(store: JsonlStore, journal: Path, tmp_path: Path) -> None:
    store.save(make_message("q", "why, then?", parent=None))
    assert journal.exists()
    assert list(make_store(tmp_path).repair()) == []
    assert not journal.exists()


def test_the_log_before_the_last_fold_is_kept(
    store: JsonlStore, log: Path, journal: Path, tmp_path: Path
) -> None:
    backup = log.with_name("messages.backup.jsonl")
    store.create(make_message("a", "因为", parent="q"))
    before = log.read_bytes()
    assert not backup.exists()
    store.save(make_message("a", "因为 🦊", parent="q"))
    store.close()
    assert (backup.read_bytes(), log.read_bytes() != before) == (before, True)
    folded = log.read_bytes()
    log.write_bytes(folded[:-9])  # Jan writes in place: it died in the middle
    assert texts(make_store(tmp_path)) == [("q", "why?")]
    assert backup.read_bytes() == before  # what is damaged is no backup
    [done] = make_store(tmp_path).repair()
    assert str(backup) in done
    make_store(tmp_path).backup(tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert "threads/t/messages.jsonl" in archive.namelist()
        assert "threads/t/messages.backup.jsonl" not in archive.namelist()
