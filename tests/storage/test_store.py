"""The contract of every Store: one suite, each store a parameter."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.domain.errors import MessageNotFound, StoreError, ThreadNotFound
from jan_magics.domain.messages import Message, TextPart, ToolResultPart, text_of
from jan_magics.domain.protocols import Store
from jan_magics.domain.tree import Changes, TreeIndex
from jan_magics.storage.changes import count_branches, is_loose
from jan_magics.storage.upkeep import Upkeep
from tests.storage.samples import START, ids, make_message, make_thread, row
from tests.storage.writer import open_store


def test_an_empty_store_is_an_empty_list(kind: str, tmp_path: Path) -> None:
    store = open_store(kind, tmp_path / "not there yet")
    assert not (tmp_path / "not there yet").exists()
    assert list(store.threads()) == []
    with pytest.raises(ThreadNotFound):
        store.thread("t")
    with pytest.raises(ThreadNotFound):
        store.messages("t")


def test_a_thread_comes_back_as_it_was(store: Store) -> None:
    thread = replace(
        make_thread("u"), metadata={"model": "offline:echo", "n": None}, extra={"assistants": [1]}
    )
    store.create_thread(thread)
    assert store.thread("u") == thread
    store.create_thread(replace(thread, title="late"))
    assert store.thread("u") == thread


TITLES = ["a/b", "..", "CON", "🦊", "题" * 200, "", "\x00", "\ud800", "tab\there\nline"]


@pytest.mark.parametrize("title", TITLES, ids=ascii)
def test_any_title(store: Store, title: str) -> None:
    store.update_thread("t", title=title)
    assert store.thread("t").title == title
    assert row(store).thread.title == title


def test_metadata_is_merged_and_none_removes(store: Store) -> None:
    store.update_thread("t", metadata={"a": 1, "b": {"c": 2}})
    store.update_thread("t", metadata={"b": None, "d": False, "e": None})
    thread = store.thread("t")
    assert thread.metadata == {"a": 1, "d": False}
    assert thread.title == "a thread"
    store.update_thread("t", metadata={"a": 1})
    assert store.thread("t") == thread


def test_other_keys_are_merged_and_none_removes(store: Store) -> None:
    store.update_thread("t", extra={"assistants": [{"id": "a"}], "x": 1})
    store.update_thread("t", metadata={"a": 1}, extra={"x": None})
    thread = store.thread("t")
    assert thread.extra["assistants"] == [{"id": "a"}]
    assert "x" not in thread.extra
    assert thread.metadata["a"] == 1


def test_the_list_is_newest_first_and_counts(store: Store) -> None:
    for name in ["u", "v", "w"]:
        store.create_thread(make_thread(name))
        store.create(make_message("m", thread_id=name))
    store.create(make_message("n", thread_id="u"))
    store.create_thread(replace(make_thread("x"), updated_at=START.replace(year=2020)))
    listed = [row.thread.id for row in store.threads() if row.thread.id != "t"]
    assert listed == ["u", "w", "v", "x"]
    assert [(r.messages, r.branches, r.fault) for r in store.threads() if r.thread.id == "u"] == [
        (2, 1, None)
    ]
    assert row(store, "x").messages == row(store, "x").branches == 0


def test_branches_are_leaves(store: Store) -> None:
    store.save(
        make_message("a", parent=None),
        make_message("b", parent="a"),
        make_message("c", parent="a"),
        make_message("d", parent="c"),
    )
    assert row(store).branches == 2
    store.create(make_message("f", parent="e"))
    store.create(make_message("e", parent="b"))
    assert row(store).branches == 2
    store.save(make_message("f", parent=None))
    assert row(store).branches == 3
    store.create(make_message("unlinked"))
    store.delete("t", "d")
    assert (row(store).messages, row(store).branches) == (6, 3)


def test_only_a_change_touches_the_thread(store: Store) -> None:
    store.create(make_message("a"))
    before = store.thread("t").updated_at
    store.create(make_message("a", "late"))
    store.save(make_message("a"))
    store.save()
    store.update_thread("t", title="a thread")
    assert store.thread("t").updated_at == before
    store.save(make_message("a", "new"))
    assert store.thread("t").updated_at > before


def test_messages_keep_the_order_of_writing(store: Store) -> None:
    store.save(make_message("b"))
    store.create(make_message("a"))
    store.create(make_message("b", "late"))
    store.save(make_message("b", "newest"), make_message("c"), make_message("a", "new"))
    assert [(m.id, text_of(m)) for m in store.messages("t")] == [
        ("b", "newest"),
        ("a", "new"),
        ("c", "hello"),
    ]


def test_a_message_comes_back_as_it_was(store: Store) -> None:
    message = Message(
        id="ø\x00\ud800🦊/..",
        thread_id="t",
        role="assistant",
        parts=(TextPart("\u2028\x00\r\n"), ToolResultPart("1", "f", 0, "error")),
        created_at=START,
        parent_id="päpa",
        active_child_id="",
        metadata={"usage": {"input": 0}},
        extra={"status": "ready"},
    )
    store.create(message)
    assert list(store.messages("t")) == [message]
    store.delete("t", message.id)
    assert list(store.messages("t")) == []


def test_a_deleted_message_stays_deleted(store: Store) -> None:
    store.save(make_message("a"), make_message("b"))
    store.delete("t", "a")
    store.save(make_message("a", "late"), make_message("c"))
    store.create(make_message("a", "later"))
    assert ids(store.messages("t")) == ["b", "c"]
    with pytest.raises(MessageNotFound):
        store.delete("t", "a")
    with pytest.raises(MessageNotFound):
        store.delete("t", "never there")
    assert row(store).messages == 2


def test_one_id_in_two_threads_is_two_messages(store: Store) -> None:
    store.create_thread(make_thread("u"))
    store.create(make_message("a", "in t"))
    store.create(make_message("a", "in u", thread_id="u"))
    store.delete("t", "a")
    assert [text_of(message) for message in store.messages("u")] == ["in u"]


def test_the_bin(store: Store) -> None:
    store.create(make_message("a"))
    store.delete_thread("t")
    store.delete_thread("t")
    store.delete_thread("never there")
    assert list(store.threads()) == []
    calls: list[Callable[[], object]] = [
        lambda: store.thread("t"),
        lambda: store.messages("t"),
        lambda: store.create(make_message("b")),
        lambda: store.save(make_message("a", "late")),
        lambda: store.delete("t", "a"),
        lambda: store.update_thread("t", title="x"),
    ]
    for call in calls:
        with pytest.raises(ThreadNotFound):
            call()
    store.create_thread(make_thread("t", "another"))
    store.restore_thread("t")
    store.restore_thread("t")
    assert store.thread("t").title == "a thread"
    assert ids(store.messages("t")) == ["a"]
    with pytest.raises(ThreadNotFound):
        store.restore_thread("never there")


BAD = ["", ".", "..", "a/b", "..\\x", "CON", "aux.txt", "a" * 129, "dot.", "é", "a\n", "\x00"]


@pytest.mark.parametrize("thread_id", BAD, ids=ascii)
def test_an_id_that_is_no_folder_name_is_refused(
    store: Store, tmp_path: Path, thread_id: str
) -> None:
    before = sorted(tmp_path.rglob("*.json*"))
    with pytest.raises(StoreError, match="cannot be the id"):
        store.create_thread(make_thread(thread_id))
    for call in (store.thread, store.messages, store.restore_thread):
        with pytest.raises(ThreadNotFound):
            call(thread_id)
    with pytest.raises(ThreadNotFound):
        store.create(make_message("a", thread_id=thread_id))
    store.delete_thread(thread_id)
    assert sorted(tmp_path.rglob("*.json*")) == before


def test_one_save_is_one_thread(store: Store) -> None:
    store.create_thread(make_thread("u"))
    with pytest.raises(StoreError, match="several threads"):
        store.save(make_message("a"), make_message("b", thread_id="u"))
    assert list(store.messages("t")) == []


def test_two_stores_see_each_other(kind: str, store: Store, tmp_path: Path) -> None:
    other = open_store(kind, tmp_path)
    for index in range(6):
        (store if index % 2 else other).create(make_message(f"m{index}"))
    other.delete("t", "m0")
    store.save(make_message("m0", "late"), make_message("m1", "new"))
    assert ids(store.messages("t")) == ids(other.messages("t")) == [f"m{n}" for n in range(1, 6)]
    assert text_of(other.messages("t")[0]) == "new"
    other.update_thread("t", title="renamed")
    assert store.thread("t").title == "renamed"
    store.delete_thread("t")
    with pytest.raises(ThreadNotFound):
        other.create(make_message("m9"))


def test_a_closed_store_opens_again(kind: str, store: Store, tmp_path: Path) -> None:
    store.create(make_message("a"))
    store.close()
    store.close()
    assert ids(store.messages("t")) == ["a"]
    store.close()
    again = open_store(kind, tmp_path)
    assert ids(again.messages("t")) == ["a"]


def branches_of(store: Store) -> int:
    """Count the leaves as the tree shows them."""
    messages = store.messages("t")
    parents = {message.id: message.parent_id for message in messages}
    tree = TreeIndex(messages, tombstones=store.tombstones("t"))
    return tree.leaves if is_loose(parents) else count_branches(parents)


operations = st.lists(
    st.tuples(
        st.sampled_from(["create", "save", "save", "apply", "delete", "close", "other"]),
        st.sampled_from("abc"),
        st.sampled_from([None, "a", "b", "c"]),
    ),
    max_size=16,
)


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
@settings(max_examples=40, deadline=None)
@given(history=operations)
def test_any_order_of_writes_ends_in_the_newest_data(
    kind: str, history: list[tuple[str, str, str | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("law")
    stores = [open_store(kind, path), open_store(kind, path)]
    stores[0].create_thread(make_thread())
    expected: dict[str, Message] = {}
    gone: set[str] = set()
    for number, (operation, message_id, parent) in enumerate(history):
        message = make_message(message_id, str(number), parent=parent)
        store = stores[0]
        if operation in ("close", "other"):
            store.close() if operation == "close" else stores.reverse()
            continue
        if operation == "delete":
            if expected.pop(message_id, None) is None:
                with pytest.raises(MessageNotFound):
                    store.delete("t", message_id)
                continue
            store.delete("t", message_id)
            gone.add(message_id)
            continue
        if operation == "apply":
            store.apply("t", Changes((message,)))
        else:
            (store.create if operation == "create" else store.save)(message)
        if message_id not in gone and (operation != "create" or message_id not in expected):
            expected[message_id] = message
    store = stores[0]
    assert list(store.messages("t")) == list(expected.values())
    assert row(store).messages == len(expected)
    assert isinstance(store, Upkeep)
    store.repair()  # what hangs loose is counted where it was written, and else here
    assert row(store).branches == branches_of(store)
    for each in stores:
        each.close()
        assert list(each.messages("t")) == list(expected.values())
