"""Collections of a team in PostgreSQL, as a notebook uses them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.domain.errors import CollectionNotFound, RetrievalError, SettingError, StoreError
from jan_magics.engine.on_servers import OnServers, meant
from tests.conftest import require
from tests.kernel import running_kernel
from tests.storage.servers import missing_for_postgres, postgres

NOTES = (
    "# Threads\n\nA fork makes two branches of a thread.\n\n# 密码\n\n如何重置密码，请看下面。\n"
)


@pytest.fixture(scope="module")
def team() -> Iterator[str]:
    missing = missing_for_postgres()
    require("postgres", not missing, f"not installed: {', '.join(missing)}")
    with postgres() as address:
        yield address


def test_two_people_share_a_collection(team: str, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(NOTES, encoding="utf-8")
    url = f"{team}#共用 notes"
    with jan.Collection(url, data_folder=tmp_path / "ada", embedder="hash") as ada:
        with pytest.raises(CollectionNotFound, match="there is no collection"):
            ada.documents()
        assert list(ada.add(tmp_path / "notes.md").status) == ["added"]
        assert len(ada) == len(ada.search("fork", k=50, mode="vector")) > 0
    with jan.Collection(url, data_folder=tmp_path / "bob") as bob:
        found = bob.search("重置密码", k=1)
        assert "如何重置密码" in found.text[0]
        assert list(bob.add(tmp_path / "notes.md").status) == ["unchanged"]
        assert set(bob.doctor().status) == {"ok"}
        with pytest.raises(RetrievalError, match="others may be using it") as caught:
            bob.delete()
        assert caught.value.next_step.endswith('DROP SCHEMA "共用 notes" CASCADE')
        bob.remove(tmp_path / "notes.md")
        assert len(bob) == 0


def test_a_notebook_looks_things_up_on_a_server(team: str, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(NOTES, encoding="utf-8")
    url = f"{team}#shared"
    with running_kernel(tmp_path, JAN_EMBEDDER="hash") as kernel:
        kernel.ok("%load_ext jan_magics")
        assert "added" in str(kernel.ok(f"%rag add notes.md -c {url}").results)
        assert "server postgresql" in str(kernel.ok(f"%rag use {url}").results)
        assert "fork makes" in str(kernel.ok("%rag search two branches").results)
        assert "shared" in str(kernel.ok("%rag collections").results)
        kernel.ok("%config JanMagics.index = 'hnsw'")
        kernel.ok("hits = %rag search --mode vector fork")
        assert kernel.ok("hits.attrs['jan']['index']").result == "'hnsw'"
        answer = kernel.ok(f"%%chat -m offline:quote -c {url}\nWhat makes two branches?")
        assert "from shared" in str(answer.displays) + str(answer.results) + str(answer.updates)
        for line in ("%rag documents -c {}", "%%chat -m offline:echo -c {}\nhello"):
            ran = kernel.run(line.format("postgresql://ada:hunter2@db/x#notes"))
            assert ran.status == "error"
            assert "hunter2" not in f"{ran.error} {ran.out} {ran.err}"


def test_a_collection_is_sent_and_fetched(team: str, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(NOTES, encoding="utf-8")
    url = f"{team}#sent"
    with running_kernel(tmp_path, JAN_EMBEDDER="hash") as kernel:
        kernel.ok("%load_ext jan_magics")
        kernel.ok("%rag add notes.md")
        ran = kernel.ok(f"sent = %rag push {url}")
        assert "1 added" in ran.out + str(ran.displays)
        assert kernel.ok("list(sent.source), list(sent.status)").result == (
            "(['notes.md'], ['added'])"
        )
        assert "unchanged" in str(kernel.ok(f"%rag push {url}").results)
        assert "added" in str(kernel.ok(f"%rag pull {url} -c copy").results)
        assert "fork makes" in str(kernel.ok("%rag search -c copy two branches").results)
        (tmp_path / "notes.md").write_text(NOTES + "\nMore.\n", encoding="utf-8")
        kernel.ok("%rag add notes.md")
        assert "replaced" in str(kernel.ok(f"%rag push {url}").results)
        for line, said in (
            (f"push {url} -c {url}", "both are the same collection"),
            ("push somewhere", "no address of a collection"),
            (f"pull {team}#nowhere", "there is no collection"),
        ):
            ran = kernel.run(f"%rag {line}")
            assert said in f"{ran.error} {ran.err}"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://ada:hunter2@db/x#notes", "holds a password"),
        ("postgresql://ada@db/x?password=hunter2#notes", "holds a password"),
        ("postgresql://ada@db/x", "names no collection"),
        ("postgresql://ada@db/#notes", "names no database"),
    ],
)
def test_an_address_is_checked_and_shown_without_a_secret(
    url: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingError, match=said) as caught:
        jan.Collection(url, data_folder=tmp_path).documents()
    assert "hunter2" not in str(caught.value)


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    collection = jan.Collection("postgresql://ada@127.0.0.1:9/x#notes", data_folder=tmp_path)
    with pytest.raises(StoreError, match="cannot be reached"):
        collection.search("anything")


def test_collections_are_listed_when_a_server_is_gone(tmp_path: Path) -> None:
    missing = missing_for_postgres()
    require("postgres", not missing, f"not installed: {', '.join(missing)}")
    servers = OnServers(lambda: datetime(2026, 11, 30, tzinfo=UTC))
    with postgres() as address:
        servers.open(meant(f"{address}#gone")).say("name", "gone")
        assert servers.find(f"{address}#gone") == servers.listed()[0]
        servers.close()
    (listed,) = servers.listed()
    assert "cannot be reached" in str(listed.fault)
