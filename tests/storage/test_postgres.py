"""What a store in PostgreSQL promises beside what every store does."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jan_magics.domain.errors import SchemaTooNew, SettingError, StoreError, StoreLocked
from jan_magics.storage.postgres import PostgresStore
from jan_magics.storage.postgres_connections import PostgresConnections, loaded
from jan_magics.storage.postgres_search import PostgresSearch
from jan_magics.storage.postgres_url import PostgresUrl
from tests.storage.samples import ids, make_message, make_thread
from tests.storage.servers import schema_at
from tests.storage.writer import ticking


@pytest.fixture
def url(server: str, tmp_path: Path) -> PostgresUrl:
    return schema_at(tmp_path)


@pytest.fixture
def store(url: PostgresUrl) -> Iterator[PostgresStore]:
    opened = PostgresStore(url, ticking())
    opened.create_thread(make_thread())
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("postgresql://ada:hunter2@db/x", "holds a password"),
        ("postgresql://ada@db/x?password=hunter2", "holds a password"),
        ("postgresql://ada@db/x?PASSFILE=hunter2", "holds a password"),
        ("postgresql://ada@db", "names no database"),
        ("mysql://db/x", "'?mysql'? is no database"),
        ("postgresql://db/x#" + "题" * 30, "too long"),
    ],
)
def test_an_address_without_secrets_is_wanted(text: str, words: str) -> None:
    with pytest.raises(SettingError, match=words) as caught:
        PostgresUrl.read(text)
    assert "hunter2" not in str(caught.value)


def test_the_schema_stands_behind_the_hash() -> None:
    assert PostgresUrl.read("postgresql://db/x").schema == "jan_magics"
    url = PostgresUrl.read("postgresql://ada@db:5432/x?sslmode=require#课程%20a")
    assert (url.address, url.schema) == ("postgresql://ada@db:5432/x?sslmode=require", "课程 a")


def test_two_schemas_know_nothing_of_each_other(store: PostgresStore, tmp_path: Path) -> None:
    other = PostgresStore(schema_at(tmp_path / "other"), ticking())
    assert list(other.threads()) == []
    other.create_thread(make_thread())
    store.create(make_message("a"))
    assert list(other.messages("t")) == []
    other.close()


def test_hostile_names_are_only_names(server: str) -> None:
    url = PostgresUrl(server, 'a"; DROP SCHEMA public; --')
    store = PostgresStore(url, ticking())
    store.create_thread(make_thread("t", "'; DROP TABLE thread; --"))
    again = PostgresStore(url, ticking())
    assert again.thread("t").title == "'; DROP TABLE thread; --"
    store.close()
    again.close()


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    store = PostgresStore(PostgresUrl(f"postgresql:///x?host={tmp_path}"), ticking())
    with pytest.raises(StoreError, match="cannot be reached"):
        store.threads()
    [said] = store.check()
    assert "cannot be reached" in said


def test_a_lost_connection_is_made_anew(store: PostgresStore, url: PostgresUrl) -> None:
    store.create(make_message("a"))
    with loaded().connect(url.address, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND application_name = 'jan_magics'"
        )
    assert ids(store.messages("t")) == ["a"]
    store.create(make_message("b"))
    assert ids(store.messages("t")) == ["a", "b"]


def test_a_newer_schema_is_refused(store: PostgresStore, url: PostgresUrl) -> None:
    with store.database.writing() as database:
        database.execute("UPDATE about SET schema_version = 99")
    with pytest.raises(SchemaTooNew, match="99"):
        PostgresStore(url, ticking()).threads()


def test_who_may_only_read_reads(store: PostgresStore, url: PostgresUrl) -> None:
    store.create(make_message("a", "什么是过拟合"))
    assert PostgresSearch(store).find("过拟")
    role = f"reader_{os.getpid()}"
    with store.database.writing() as database:
        database.execute(f"CREATE ROLE {role} LOGIN")
        database.execute(f'GRANT USAGE ON SCHEMA "{url.schema}" TO {role}')
        database.execute(f'GRANT SELECT ON ALL TABLES IN SCHEMA "{url.schema}" TO {role}')
    reader = PostgresStore(PostgresUrl(f"{url.address}&user={role}", url.schema), ticking())
    assert ids(reader.messages("t")) == ["a"]
    assert [hit.message_id for hit in PostgresSearch(reader).find("过拟")] == ["a"]
    with pytest.raises(StoreError, match="permission denied") as caught:
        reader.create(make_message("b"))
    assert "GRANT" in caught.value.next_step
    reader.close()


def test_one_who_holds_a_thread_is_waited_for_and_then_named(
    store: PostgresStore, url: PostgresUrl
) -> None:
    other = PostgresConnections(url, patience=1)
    with (
        store.database.writing("t"),
        pytest.raises(StoreLocked, match="somebody else"),
        other.writing("t"),
    ):
        pytest.fail("two wrote at once")
    other.close()


def test_a_changed_message_is_found_by_its_new_words(store: PostgresStore) -> None:
    search = PostgresSearch(store)
    store.create(make_message("a", "an old word"))
    assert search.find("old")
    store.save(make_message("a", "a new word, it's C:\\temp & !"))
    assert not search.find("old")
    for words in ("new", "it's", "c temp", '"new word"', "wor", "& ! | :*", "\\"):
        assert isinstance(search.find(words), list)
    assert search.find("new wor")
    store.delete_thread("t")
    assert not search.find("new")


def test_a_long_message_does_not_break_the_index(store: PostgresStore) -> None:
    words = " ".join(f"word{n}" for n in range(200_000))
    store.create(make_message("a", words))
    search = PostgresSearch(store)
    assert search.find("word7 word8")
    assert search.find("word40000")
