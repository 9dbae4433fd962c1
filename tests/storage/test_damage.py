"""Damage in a thread's files: nothing is lost, it is told, `repair` restores what it can."""

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from jan_magics.domain.messages import Json, Message, Thread
from jan_magics.domain.overlays import CellLink
from jan_magics.domain.tree import Changes
from jan_magics.storage.convert import Kind, open_kind
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.sqlite import SqliteStore
from tests.storage.samples import START, ids, make_message, make_thread, row
from tests.storage.writer import ticking


def test_lines_set_aside_stay_beside_the_log(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "threads", ticking())
    store.create_thread(make_thread())
    for name in ("messages.jsonl", "jan_magics.jsonl"):
        (tmp_path / "threads" / "t" / name).write_bytes(b"\n\xff{\n")
    assert [line.split(": ", 1)[1] for line in store.check()] == [
        "1 damaged line in messages.jsonl"
    ]
    store.repair()
    assert list(store.check()) == []
    kept = tmp_path / "threads" / "t" / "messages.damaged.jsonl"
    assert len(kept.read_bytes().splitlines()) == 2
    (tmp_path / "bin" / "threads").mkdir(parents=True)
    former = tmp_path / "bin" / "threads" / "t.quarantine.jsonl"
    former.write_bytes(b"{}\n")
    store.create_thread(make_thread("u"))
    store.delete_thread("u")
    store.vacuum()
    assert (kept.exists(), former.exists(), list(store.binned())) == (True, True, [])


@pytest.mark.parametrize("goes_on", [False, True], ids=["at once", "after a turn"])
def test_a_lost_log_comes_back_from_its_copy(tmp_path: Path, goes_on: bool) -> None:
    store = JsonlStore(tmp_path / "threads", ticking())
    store.create_thread(make_thread())
    for name in ("a", "b", "c"):
        store.create(make_message(name))
    store.delete("t", "b")
    store.close()  # folds, and keeps the log as it was
    folder = tmp_path / "threads" / "t"
    (folder / "messages.jsonl").unlink()
    if goes_on:
        for text in ("one", "two"):
            store.save(make_message("d", text))
            store.close()
    [fault] = store.check()
    assert "messages.jsonl was lost; messages." in fault
    [done] = store.repair()
    assert "2 messages brought back" in done
    assert ids(store.messages("t")) == ["a", "c", "d"][: 3 if goes_on else 2]
    assert list(store.check()) == []


def answered(name: str, model: str) -> Message:
    known: Json = {"model": model}
    return replace(make_message(name), role="assistant", metadata={"jan_magics": known})


@pytest.mark.parametrize("taken", [False, True], ids=["alone", "the notebook has another"])
@pytest.mark.parametrize(
    ("left", "title"), [(b'{"id": "broken', ""), (b'{"title": "named", "', "named"), (None, "")]
)
def test_what_is_known_of_a_damaged_record(
    tmp_path: Path, taken: bool, left: bytes | None, title: str
) -> None:
    store = JsonlStore(tmp_path / "threads", ticking())
    store.create_thread(make_thread())
    links = [CellLink("/old.ipynb", "c1", 0, "a"), CellLink("/笔记.ipynb", "c2", 0, "a")]
    messages = make_message("a", "hello"), answered("b", "offline:echo"), answered("c", "x:y")
    store.apply("t", Changes(messages), links)
    if taken:
        ours: Json = {"notebook": "/笔记.ipynb", "cells": ["c9"]}
        store.create_thread(Thread("u", "", START, START, {"jan_magics": ours}))
    record = tmp_path / "threads" / "t" / "thread.json"
    record.unlink() if left is None else record.write_bytes(left)
    assert row(store).damaged
    store.repair()
    known: Json = {"notebook": "/笔记.ipynb", "cells": ["c1", "c2"], "model": "x:y"}
    if (taken or title) and isinstance(known, dict):
        del known["cells"]
        title = title or "hello"
    assert store.thread("t").metadata == {"jan_magics": known}
    assert (store.thread("t").title, row(store).fault) == (title, None)


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
def test_an_orphan_is_counted_as_the_tree_shows_it(tmp_path: Path, kind: Kind) -> None:
    store = open_kind(kind, tmp_path / "one", ticking())
    store.create_thread(make_thread())
    store.save(make_message("a", parent=None), make_message("b", parent="nobody"))
    assert (row(store).messages, row(store).branches) == (2, 1)
    assert list(store.check()) == []
    other = open_kind(kind, tmp_path / "other", ticking())
    other.adopt(store.whole("t"))
    assert (row(other).messages, row(other).branches) == (2, 1)
    store.close()
    other.close()


def test_what_hangs_below_a_damaged_message_stays_one_branch(tmp_path: Path) -> None:
    path = tmp_path / "jan.db"
    store = SqliteStore(path, ticking())
    store.create_thread(make_thread())
    for name, parent in (("a", None), ("b", "a"), ("c", "b"), ("d", "c")):
        store.save(make_message(name, parent=parent))
    store.close()
    write_sql(path, "UPDATE message SET data = '{' WHERE id = 'b'")
    store.repair()
    assert (row(store).messages, row(store).branches) == (3, 1)
    assert ids(store.messages("t")) == ["a", "c", "d"]
    assert dict(store.tombstones("t")) == {"b": "a"}
    assert (list(store.check()), list(store.repair())) == ([], [])


@pytest.mark.parametrize("taken", [False, True], ids=["alone", "the notebook has another"])
@pytest.mark.parametrize("title", ["", "笔记"])
def test_a_damaged_row_of_a_thread_keeps_its_notebook(
    tmp_path: Path, title: str, taken: bool
) -> None:
    path = tmp_path / "jan.db"
    store = SqliteStore(path, ticking())
    store.create_thread(Thread("t", title, START, START, {}))
    store.apply("t", Changes((make_message("a", "hello"), answered("b", "offline:echo"))),
                [CellLink("/笔记.ipynb", "c1", 0, "a")])  # fmt: skip
    if taken:
        ours: Json = {"notebook": "/笔记.ipynb", "cells": ["c9"]}
        store.create_thread(Thread("u", "", START, START, {"jan_magics": ours}))
    store.close()
    write_sql(path, "UPDATE thread SET data = '[\"x' WHERE id = 't'")
    assert row(store).damaged
    store.repair()
    known: Json = {"notebook": "/笔记.ipynb", "model": "offline:echo"}
    if not (taken or title) and isinstance(known, dict):
        known["cells"] = ["c1"]
    assert store.thread("t").metadata == {"jan_magics": known}
    assert (store.thread("t").title, row(store).fault) == (title, None)


def write_sql(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()
