"""Threads on their way out of a store and into one: twice is fine, and nothing is lost."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.domain.errors import SettingError, StoreError
from jan_magics.domain.messages import Json, Message, TextPart, Thread, text_of
from jan_magics.domain.overlays import Hidden
from jan_magics.domain.tree import Changes, TreeIndex
from jan_magics.storage.overlays import encode_overlay
from jan_magics.storage.thread_file import read_thread_file, write_thread_file
from jan_magics.storage.thread_folder import read_thread_folder, write_thread_folder
from jan_magics.storage.transfer import Incoming, Taken, WholeStore, read_threads, take_in
from jan_magics.storage.upkeep import WholeThread
from tests.storage.samples import START, ids, make_message, make_thread, messages, overlays, threads
from tests.storage.writer import open_store


@pytest.fixture
def here(kind: str, tmp_path: Path) -> WholeStore:
    store = open_store(kind, tmp_path / "here")
    assert isinstance(store, WholeStore)
    return store


def whole(*said: Message, thread: Thread | None = None, **options: object) -> WholeThread:
    graves = options.get("tombstones", {})
    records = options.get("records", [])
    assert isinstance(graves, dict)
    assert isinstance(records, list)
    return WholeThread(thread or make_thread(), said, records, graves)


def taken(store: WholeStore, each: WholeThread) -> Taken:
    return take_in(store, Incoming(each.thread.id, each))


QUESTION = make_message("q", "what is 过拟合?", parent=None)
ANSWER = replace(make_message("a", "learning by heart", parent="q"), role="assistant")


def test_a_thread_comes_in_once(here: WholeStore) -> None:
    thread = whole(QUESTION, ANSWER, records=[{"type": "later kind", "x": 1}])
    assert taken(here, thread) == Taken("t", "added", "", 2)
    assert taken(here, thread) == Taken("t", "unchanged", "", 2)
    assert here.whole("t") == replace(thread, messages=list(thread.messages))


def test_a_thread_that_went_on_elsewhere_is_taken_in(here: WholeStore) -> None:
    taken(here, whole(QUESTION))
    later = make_thread(title="renamed")
    later = replace(later, updated_at=START + timedelta(days=400))
    hidden: dict[str, Json] = encode_overlay(Hidden("q"))
    went_on = whole(QUESTION, ANSWER, thread=later, records=[hidden])
    assert taken(here, went_on) == Taken("t", "replaced", "1 new message", 2)
    assert ids(here.messages("t")) == ["q", "a"]
    assert here.thread("t").title == "renamed"
    assert list(here.overlays("t")) == [Hidden("q")]
    assert taken(here, went_on).status == "unchanged"
    older = replace(make_thread(), updated_at=START - timedelta(days=400))
    assert taken(here, whole(QUESTION, thread=older)).status == "unchanged"
    assert here.thread("t").title == "renamed"


def test_two_that_both_went_on_become_branches(here: WholeStore) -> None:
    taken(here, whole(QUESTION, ANSWER))
    other = make_message("b", "another answer", parent="q")
    assert taken(here, whole(QUESTION, other)).status == "replaced"
    assert ids(here.messages("t")) == ["q", "a", "b"]


def test_other_words_under_one_id_stand_beside(here: WholeStore) -> None:
    notebook: dict[str, Json] = {"jan_magics": {"notebook": "a.ipynb", "model": "m:n"}}
    taken(here, whole(QUESTION, thread=replace(make_thread(), metadata=notebook)))
    other = whole(make_message("q", "something else", parent=None))
    other = replace(other, thread=replace(make_thread(), metadata=notebook))
    row = taken(here, other)
    assert row.status == "added"
    assert row.thread != "t"
    assert "other words" in row.reason
    assert taken(here, other) == replace(row, status="unchanged")
    assert text_of(here.messages("t")[0]) == "what is 过拟合?"
    assert text_of(here.messages(row.thread)[0]) == "something else"
    assert here.thread(row.thread).metadata["jan_magics"] == {"model": "m:n"}
    assert len(here.threads()) == 2


def test_without_branches_two_that_went_on_stand_beside_each_other(here: WholeStore) -> None:
    one, two, three = (make_message(name) for name in ("one", "two", "three"))
    taken(here, whole(one, two))
    assert taken(here, whole(one, three)).thread != "t"
    assert ids(here.messages("t")) == ["one", "two"]


def test_a_deleted_thread_comes_back_and_a_deleted_message_does_not(here: WholeStore) -> None:
    taken(here, whole(QUESTION, ANSWER))
    here.delete("t", "a")
    here.delete_thread("t")
    row = taken(here, whole(QUESTION, ANSWER))
    assert (row.thread, row.status, row.reason) == ("t", "added", "it was in the bin")
    assert ids(here.messages("t")) == ["q"]


def test_an_id_that_cannot_be_one_gets_another(here: WholeStore) -> None:
    bad = whole(QUESTION, thread=make_thread("../evil"))
    row = taken(here, bad)
    assert row.status == "added"
    assert len(row.thread) == 32
    assert taken(here, bad).status == "unchanged"


def test_a_path_of_words_brings_only_what_is_new(here: WholeStore) -> None:
    taken(here, whole(QUESTION, ANSWER))
    plain = replace(ANSWER, parts=(TextPart("shortened"),))
    new = make_message("n", "more", parent="a")
    row = take_in(here, Incoming("t", whole(QUESTION, plain, new), partial=True))
    assert row.status == "replaced"
    assert [text_of(m) for m in here.messages("t")] == [
        "what is 过拟合?", "learning by heart", "more",
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------- files

unique = st.lists(messages, max_size=4, unique_by=lambda message: message.id)


@settings(max_examples=60)
@given(threads, unique, st.lists(overlays, max_size=2))
def test_a_file_holds_all_of_a_thread(
    thread: Thread, said: list[Message], own: Sequence[object]
) -> None:
    records: list[dict[str, Json]] = [encode_overlay(each) for each in own]  # type: ignore[arg-type]
    records.append({"type": "later kind", "日": ["本"]})
    said = [replace(message, thread_id=thread.id) for message in said]
    given = WholeThread(thread, said, records, {"gone": "q", "root": None})
    text = write_thread_file(given)
    read, lost = read_thread_file(text.encode(), "x.json")
    assert lost == 0
    assert write_thread_file(read) == text
    assert (read.thread, read.messages) == (thread, said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "no thread"),
        ('{"format": "jan_magics.thread", "version": 2}', "Upgrade"),
        ('{"format": "jan_magics.thread", "version": 1}', "not a thread"),
    ],
)
def test_a_file_that_is_no_thread_says_so(text: str, said: str) -> None:
    with pytest.raises(StoreError) as error:
        read_thread_file(text, "x.json")
    assert said in str(error.value)


def test_a_folder_of_jans_holds_all_of_a_thread(tmp_path: Path, here: WholeStore) -> None:
    thread = whole(QUESTION, ANSWER, records=[{"type": "later"}], tombstones={"gone": "q"})
    written = write_thread_folder(thread, tmp_path / "jan")
    assert sorted(each.name for each in written.iterdir()) == [
        "jan_magics.jsonl", "messages.jsonl", "thread.json",
    ]  # fmt: skip
    assert [each.name for each in (tmp_path / "jan" / "threads").iterdir()] == ["t"]
    for path in (tmp_path / "jan", tmp_path / "jan" / "threads", written, written / "thread.json"):
        rows = [take_in(here, each) for each in read_threads(path, START)]
        assert [row.thread for row in rows] == ["t"]
    assert here.whole("t") == replace(thread, messages=list(thread.messages))


def test_a_folder_is_written_again_only_where_nothing_is_lost(tmp_path: Path) -> None:
    write_thread_folder(whole(QUESTION), tmp_path / "jan")
    write_thread_folder(whole(QUESTION, ANSWER), tmp_path / "jan")
    with pytest.raises(SettingError, match="has messages that this thread has not"):
        write_thread_folder(whole(QUESTION), tmp_path / "jan")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(SettingError, match="no data folder"):
        write_thread_folder(whole(QUESTION), tmp_path / "mine")
    read, note = read_thread_folder(tmp_path / "jan" / "threads" / "t", START)
    assert (ids(read.messages), note) == (["q", "a"], "")


def test_a_torn_folder_is_salvaged_and_says_so(tmp_path: Path, here: WholeStore) -> None:
    folder = write_thread_folder(whole(QUESTION, ANSWER), tmp_path / "jan")
    log = folder / "messages.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    (folder / "thread.json").write_text("{")
    write_thread_folder(whole(thread=make_thread("empty")), tmp_path / "jan")
    (tmp_path / "jan" / "threads" / "empty" / "thread.json").write_text("{")
    rows = {r.thread: r for r in (take_in(here, i) for i in read_threads(tmp_path / "jan", START))}
    assert rows["empty"].status == "failed"
    assert "damaged" in rows["empty"].reason
    assert rows["t"].status == "added"
    assert "1 damaged line left out" in rows["t"].reason
    assert "thread.json cannot be read" in rows["t"].reason
    assert ids(here.messages("t")) == ["q"]


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("nowhere", "empty"):
        with pytest.raises(StoreError):
            list(read_threads(tmp_path / name, START))


@given(st.lists(st.sampled_from(["q", "a", "b", "c"]), unique=True), st.integers(0, 4))
def test_nothing_that_was_here_is_lost(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], split: int
) -> None:
    store = open_store("sqlite", tmp_path_factory.mktemp("lost"))
    assert isinstance(store, WholeStore)
    said = [make_message(name, name, parent=None) for name in names]
    taken(store, whole(*said[:split]))
    store.apply("t", Changes(), [Hidden("q")])
    rest = [message for message in said[split:] if message.id != "q"]
    taken(store, whole(*rest, QUESTION))
    found = {text_of(m) for row in store.threads() for m in store.messages(row.thread.id)}
    assert found >= {text_of(m) for m in (*said[:split], *rest, QUESTION)}
    store.close()


def test_an_exported_file_called_thread_json_is_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "thread.json"
    path.write_text(write_thread_file(whole(QUESTION, ANSWER, thread=make_thread("u"))), "utf-8")
    (incoming,) = read_threads(path, START)
    assert incoming.whole is not None
    assert (incoming.name, ids(incoming.whole.messages)) == ("u", ["q", "a"])


def test_an_answer_that_jan_left_without_its_question_has_it_again(
    tmp_path: Path, here: WholeStore
) -> None:
    # Jan's own fault: links were lost where a question was asked anew while its answer came.
    alone = replace(make_message("b", "by more data", parent=None), role="assistant")
    late = [
        replace(each, created_at=START + timedelta(minutes=n))
        for n, each in enumerate(
            (QUESTION, ANSWER, make_message("r", "and now?", parent="a"), alone)
        )
    ]
    write_thread_folder(whole(*late), tmp_path / "jan")
    rows = [take_in(here, each) for each in read_threads(tmp_path / "jan", START)]
    assert [(row.status, row.reason) for row in rows] == [
        ("added", "1 answer put behind the question before")
    ]
    path = TreeIndex(here.messages("t")).path()
    assert [text_of(each) for each in path][-2:] == ["and now?", "by more data"]
    again = [take_in(here, each) for each in read_threads(tmp_path / "jan", START)]
    assert [row.status for row in again] == ["unchanged"]
