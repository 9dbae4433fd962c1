"""A whole store in the other form and back: the same bytes."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.domain.messages import Json, Message, Thread
from jan_magics.domain.overlays import Hidden, Overlay
from jan_magics.domain.tree import Changes
from jan_magics.storage.convert import Kind, convert, open_kind
from jan_magics.storage.transfer import WholeStore
from jan_magics.storage.upkeep import WholeThread
from tests.storage.samples import START, make_message, make_thread, messages, overlays, threads
from tests.storage.writer import ticking

OTHER: dict[Kind, Kind] = {"jsonl": "sqlite", "sqlite": "jsonl"}


def state(store: WholeStore) -> object:
    rows = store.threads()
    return [*rows, *store.binned()], [store.whole(row.thread.id) for row in rows]


def files(data: Path) -> dict[str, bytes]:
    """Return every file of a data folder of Jan's and of its bin; an empty log is no log."""
    found = [*(data / "threads").rglob("*"), *(data / "bin").rglob("*")]
    return {
        str(p.relative_to(data)): p.read_bytes() for p in found if p.is_file() and p.stat().st_size
    }


def fill(store: WholeStore) -> None:
    for name in ("t", "u", "v"):
        store.create_thread(make_thread(name, f"线程 {name}"))
    store.save(make_message("q", "什么", parent=None), make_message("a", parent="q"))
    store.apply("t", Changes(deleted=("a",), active_root_id="q"), [Hidden("q")])
    store.create(make_message("q", "deleted", thread_id="u"))
    store.delete_thread("u")


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
def test_a_store_is_the_same_in_the_other_form(kind: Kind, tmp_path: Path) -> None:
    source = open_kind(OTHER[kind], tmp_path, ticking())
    fill(source)
    made = convert(tmp_path, kind, ticking())
    assert [row.status for row in (*made.threads, *made.binned)] == ["added"] * 3
    target = open_kind(kind, tmp_path, ticking())
    assert state(target) == state(source)
    again = convert(tmp_path, kind, ticking())
    assert {row.status for row in (*again.threads, *again.binned)} == {"unchanged"}
    target.restore_thread("u")
    assert target.messages("u") == [make_message("q", "deleted", thread_id="u")]
    source.close()
    target.close()


def there_and_back(folder: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Convert the JSONL store of a folder to SQLite, and that into a store elsewhere."""
    before = files(folder)
    convert(folder, "sqlite", ticking())
    (folder / "back").mkdir()
    (folder / "jan.db").rename(folder / "back" / "jan.db")
    convert(folder / "back", "jsonl", ticking())
    return before, files(folder / "back")


def test_there_and_back_is_the_same_bytes(tmp_path: Path) -> None:
    store = open_kind("jsonl", tmp_path, ticking())
    fill(store)
    store.vacuum()  # folds what waits in the journals; the bin goes with it
    store.create_thread(make_thread("w"))
    store.create(make_message("q", thread_id="w"))
    store.delete_thread("w")
    store.close()
    before, after = there_and_back(tmp_path)
    assert before.keys() == after.keys()
    assert before == after
    assert any(name.startswith("bin") for name in before)


@settings(max_examples=30, deadline=timedelta(seconds=2))
@given(
    threads,
    st.lists(messages, max_size=4, unique_by=lambda message: message.id),
    st.lists(overlays, max_size=2),
    st.dictionaries(st.sampled_from(["x", "y"]), st.none() | st.just("z")),
)
def test_any_thread_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    thread: Thread,
    said: list[Message],
    own: list[Overlay],
    graves: dict[str, str | None],
) -> None:
    from dataclasses import replace

    from jan_magics.storage.overlays import encode_overlay

    folder = tmp_path_factory.mktemp("convert")
    store = open_kind("jsonl", folder, lambda: START)
    records: list[dict[str, Json]] = [encode_overlay(each) for each in own]
    records.append({"type": "later kind", "日": "本"})
    kept = [replace(m, thread_id="t") for m in said if m.id not in graves]
    store.adopt(WholeThread(replace(thread, id="t"), kept, records, graves))
    store.close()
    before, after = there_and_back(folder)
    assert before == after
