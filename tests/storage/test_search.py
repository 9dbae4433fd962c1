"""Full-text search over all threads of each store, in a file that may vanish at any time."""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.domain.messages import Message
from jan_magics.domain.overlays import NextRoot
from jan_magics.domain.protocols import Store
from jan_magics.domain.tree import Changes
from jan_magics.storage.postgres import PostgresStore
from jan_magics.storage.postgres_search import PostgresSearch
from jan_magics.storage.search import Found, Search, Searching, log_stamp
from tests.storage.samples import make_message, make_thread
from tests.storage.writer import open_store


@pytest.fixture
def search(store: Store, tmp_path: Path) -> Iterator[Searching]:
    if isinstance(store, PostgresStore):
        yield PostgresSearch(store)
        return
    opened = Search(tmp_path / "search.db", store, partial(log_stamp, tmp_path / "threads"))
    yield opened
    opened.close()
    store.close()


def found(hits: Sequence[Found]) -> list[str]:
    return [hit.message_id for hit in hits]


def test_messages_of_all_threads_are_found(store: Store, search: Searching) -> None:
    store.create_thread(make_thread("u", "another"))
    store.create(make_message("a", "what is overfitting?"))
    store.create(make_message("b", "Overfitting is learning by heart", thread_id="u"))
    store.create(make_message("c", "something else"))
    hits = search.find("overfit")
    assert set(found(hits)) == {"a", "b"}
    assert {hit.thread.title for hit in hits} == {"a thread", "another"}
    assert "what is «overfitting»?" in [hit.snippet for hit in hits]
    assert found(search.find("overfit", thread_id="u")) == ["b"]
    assert search.find("overfit", thread_id="nowhere") == []


def test_chinese_is_found_by_any_part_of_it(store: Store, search: Searching) -> None:
    store.create(make_message("a", "什么是过拟合？"))
    store.create(make_message("b", "合适的模型"))
    for part in ("过拟合", "过拟", "过", "拟合", "什么是过拟合", "过拟合 什么"):
        assert found(search.find(part)) == ["a"], part
    assert set(found(search.find("合"))) == {"a", "b"}
    assert search.find("过合") == []


def test_all_words_must_be_there_and_phrases_in_a_row(store: Store, search: Searching) -> None:
    store.create(make_message("a", "the active path of a tree"))
    store.create(make_message("b", "a path that is active"))
    assert set(found(search.find("active path"))) == {"a", "b"}
    assert found(search.find('"active path"')) == ["a"]
    assert found(search.find("activ path")) == []  # only the last word may be cut
    assert found(search.find("tree acti")) == ["a"]


@pytest.mark.parametrize(
    "query", ['"', "a AND", "NOT x", "NEAR(", "col:x", "*", "^a", "a* OR b", "(", "-", "'", "\x00"]
)
def test_no_text_is_a_syntax_error(store: Store, search: Searching, query: str) -> None:
    store.create(make_message("a", "and not near col x b"))
    assert set(found(search.find(query))) <= {"a"}


def test_a_change_is_seen_by_the_next_search(store: Store, search: Searching) -> None:
    store.create(make_message("a", "one"))
    assert found(search.find("one")) == ["a"]
    store.save(make_message("a", "two"))
    assert search.find("one") == []
    assert found(search.find("two")) == ["a"]
    store.delete("t", "a")
    assert search.find("two") == []


def test_the_bin_is_not_searched(store: Store, search: Searching) -> None:
    store.create(make_message("a", "one"))
    assert found(search.find("one")) == ["a"]
    store.delete_thread("t")
    assert search.find("one") == []
    store.restore_thread("t")
    assert found(search.find("one")) == ["a"]


def test_it_says_what_is_on_the_path(store: Store, search: Searching) -> None:
    store.apply(
        "t",
        Changes(
            (
                make_message("q", "word", parent=None),
                make_message("a1", "word one", parent="q"),
                make_message("a2", "word two", parent="q"),
            )
        ),
    )
    assert {hit.message_id: hit.on_path for hit in search.find("word")} == {
        "q": True, "a1": False, "a2": True,
    }  # fmt: skip
    question = make_message("q", "word", parent=None)
    store.save(_pointing(question, "a1"))
    assert {hit.message_id: hit.on_path for hit in search.find("word")} == {
        "q": True, "a1": True, "a2": False,
    }  # fmt: skip

    store.apply("t", Changes(), [NextRoot("a new branch")])
    assert not any(hit.on_path for hit in search.find("word"))


def _pointing(message: Message, child: str) -> Message:
    return Message(
        message.id, message.thread_id, message.role, message.parts, message.created_at,
        message.parent_id, child,
    )  # fmt: skip


@pytest.mark.parametrize("damage", ["gone", "no database", "cut", "older"])
def test_a_damaged_index_is_made_anew(store: Store, tmp_path: Path, damage: str) -> None:
    search = Search(tmp_path / "search.db", store)
    store.create(make_message("a", "one"))
    assert found(search.find("one")) == ["a"]
    search.close()
    path = tmp_path / "search.db"
    if damage == "gone":
        path.unlink()
    elif damage == "no database":
        path.write_bytes(b"not a database at all" * 100)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        import apsw

        with apsw.Connection(str(path)) as other:
            other.pragma("user_version", 77)
        other.close()
    assert found(search.find("one")) == ["a"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="no one is refused here")
def test_a_folder_that_cannot_be_written_to_is_searched(store: Store, tmp_path: Path) -> None:
    store.create(make_message("a", "one"))
    store.threads()
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert found(Search(closed / "search.db", store).find("one")) == ["a"]


def test_an_index_that_has_no_place_is_kept_in_memory(store: Store, tmp_path: Path) -> None:
    store.create(make_message("a", "one"))
    (tmp_path / "file").write_text("in the way")
    assert found(Search(tmp_path / "file" / "search.db", store).find("one")) == ["a"]


def test_two_kernels_share_the_index(store: Store, tmp_path: Path, search: Searching) -> None:
    other = Search(tmp_path / "search.db", store, partial(log_stamp, tmp_path / "threads"))
    store.create(make_message("a", "one"))
    assert found(other.find("one")) == found(search.find("one")) == ["a"]
    store.delete("t", "a")
    assert search.find("one") == other.find("one") == []
    other.close()


def test_jan_changes_a_message_without_a_word(tmp_path: Path) -> None:
    store = open_store("jsonl", tmp_path)
    store.create_thread(make_thread())
    store.create(make_message("a", "before"))
    store.close()
    search = Search(tmp_path / "search.db", store, partial(log_stamp, tmp_path / "threads"))
    assert found(search.find("before")) == ["a"]
    log = tmp_path / "threads" / "t" / "messages.jsonl"
    log.write_text(log.read_text().replace("before", "behind"))
    assert found(search.find("behind")) == ["a"]
    assert search.find("before") == []
    search.close()


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["one", "two", "学习", ""])), max_size=12)
)
def test_it_finds_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("search")
    store = open_store("sqlite", folder)
    store.create_thread(make_thread())
    search = Search(folder / "search.db", store)
    there: dict[str, str] = {}
    gone: set[str] = set()
    for number, (n, text) in enumerate(steps):
        name = f"m{n}"
        if text and name not in gone:
            store.save(make_message(name, text))
            there[name] = text
        elif name in there:
            store.delete("t", name)
            gone.add(name)
            del there[name]
        if number % 3 == 0:
            search.find("one")
    for word in ("one", "two", "学习", "学"):
        wanted = {name for name, text in there.items() if word in text}
        assert set(found(search.find(word))) == wanted
    search.close()
    store.close()
