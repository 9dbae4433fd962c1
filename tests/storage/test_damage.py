"""Damage in a thread's files: nothing is lost, it is told, `repair` restores what it can."""

from dataclasses import replace
from pathlib import Path

import pytest

from jan_magics.domain.messages import Json, Message, Thread
from jan_magics.domain.overlays import CellLink
from jan_magics.domain.tree import Changes
from jan_magics.storage.jsonl import JsonlStore
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


def test_an_orphan_is_counted_as_the_tree_shows_it(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "threads", ticking())
    store.create_thread(make_thread())
    store.save(make_message("a", parent=None), make_message("b", parent="nobody"))
    assert (row(store).messages, row(store).branches) == (2, 1)
