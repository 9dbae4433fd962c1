"""Collections in PostgreSQL: the same answers as in files, and what a server does besides."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jan_magics.domain.errors import CollectionNotFound, RetrievalError, SchemaTooNew
from jan_magics.domain.retrieval import Document, Fingerprint, Index
from jan_magics.rag.doctor import examine
from jan_magics.rag.embed_hash import HashEmbedder
from jan_magics.rag.options import Options
from jan_magics.rag.pgvector import PostgresCollection
from jan_magics.rag.statements import first
from jan_magics.storage.postgres_connections import PostgresConnections
from tests.rag.embedding import Broken, Numbered
from tests.rag.library import DOCUMENTS, HASH, NOON, add, ask, opened, opened_file, texts
from tests.storage.servers import schema_at

ON_DISK: tuple[Index, ...] = ("auto", "numpy")
GRAPHS: tuple[Index, ...] = ("hnsw", "hnsw-half")


@pytest.fixture
def served(server: str, tmp_path: Path) -> Iterator[PostgresCollection]:
    collection = PostgresCollection(schema_at(tmp_path), lambda: NOON)
    yield collection
    collection.close()


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 2**32 - 1), st.booleans())
def test_law_6_files_and_servers_give_the_same_ids_and_scores(
    served: PostgresCollection, tmp_path: Path, n: int, k: int, seed: int, coarse: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, 256)).astype(np.float32)
    if coarse:
        # Few different vectors: most distances are equal, and ids decide.
        rows = np.sign(rows) * (np.arange(256) < 2)
    document = Document("a.txt", "".join(f"line number {i}\n" for i in range(n)))
    query = Broken(rng.standard_normal((1, 256)).astype(np.float32))
    filed = opened_file(tmp_path / "a.db")
    answers = []
    for collection in (filed, served):
        for source in collection.sources():
            collection.remove(source)
        add(collection, document, embedder=Numbered(rows.astype(np.float32)))
        for index in ON_DISK:
            for where in (None, "text ~ 1"):
                options = Options(k=k, mode="vector", index=index, where=where)
                found = ask(collection, "x", options, query)
                answers.append([(hit.chunk.id, hit.score) for hit in found.hits])
    filed.close()
    # Files answer first, without a filter and with one.
    for want, got in zip(answers[:2] * 3, answers[2:], strict=True):
        assert [each for each, _ in want] == [each for each, _ in got]
        assert all(abs(a[1] - b[1]) <= 1e-5 for a, b in zip(want, got, strict=True))
    assert len(answers[0]) == min(k, n)


@pytest.mark.parametrize("index", GRAPHS)
def test_r14_a_graph_finds_most_of_them_and_all_that_are_asked_for(
    served: PostgresCollection, index: Index
) -> None:
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((800, 64)).astype(np.float32)
    text = "".join(f"line number {i}\n" for i in range(800))

    class Wide(Numbered):
        @property
        def fingerprint(self) -> Fingerprint:
            return Fingerprint("wide", "1", 64, "sum")

    add(served, Document("a.txt", text), embedder=Wide(rows))
    asked = 0
    for place in range(0, 800, 50):
        query = Wide(rows[place : place + 1] + rng.standard_normal((1, 64)).astype("f4") * 0.1)
        question = "the nearest of 0"
        exact = ask(served, question, Options(k=10, mode="vector"), query)
        found = ask(served, question, Options(k=10, mode="vector", index=index), query)
        assert found.facts["index"] == index
        assert [hit.score for hit in found.hits] == sorted(
            (hit.score for hit in found.hits), reverse=True
        )
        asked += len({h.chunk.id for h in exact.hits} & {h.chunk.id for h in found.hits})
        few = Options(k=10, mode="vector", index=index, where="text ~ 'number 77'")
        assert len(ask(served, question, few, query).hits) == 10
    assert asked >= 0.95 * 160
    assert index in {each.check: each.detail for each in examine(served)}["hnsw"]
    add(served, Document("b.txt", "line number 3\n"), embedder=Wide(rows))
    with served.snapshot(index) as snapshot:
        assert snapshot.count() == 801


def test_without_a_graph_the_server_measures_all(served: PostgresCollection) -> None:
    add(served, *DOCUMENTS)
    for index, said in (("vec0", "collections in files"), ("hnsw", "read-only")):
        reader = PostgresCollection(served.connections.url, lambda: NOON, read_only=index == "hnsw")
        found = ask(reader, "token budget", Options(mode="vector", index=index))  # type: ignore[arg-type]
        assert found.facts["index"] == "pgvector"
        assert said in " ".join(found.notes)
        assert found.hits == ask(served, "token budget", Options(mode="vector")).hits
        reader.close()


def test_words_have_a_score_of_their_own_name(served: PostgresCollection) -> None:
    add(served, *DOCUMENTS)
    found = ask(served, "forked threads", Options(mode="keyword"))
    assert {hit.metric for hit in found.hits} == {"ts_rank"}
    assert found.facts["words"] == "ts_rank"
    assert texts(found)[0].startswith("A fork makes two branches")
    assert texts(ask(served, '"token budget"', Options(mode="keyword"))) == [
        "A token budget says how much of the window is used."
    ]
    assert texts(ask(served, "密码", Options(mode="keyword"))) == ["如何重置密码，请看下面的说明。"]


def test_the_same_words_find_the_same_chunks_as_in_a_file(
    served: PostgresCollection, tmp_path: Path
) -> None:
    filed = opened(tmp_path / "a.db")
    odd = Document(
        "odd.txt", "Ünïcode Straße ﬁle’s x86_64 1e5 it's \\'; DROP\n🎉 版本 " + "w" * 900
    )
    for collection in (filed, served):
        add(collection, *DOCUMENTS, odd)
    for question in (
        "threads", "strasse", "file", "1e5", "x86", "DROP", "🎉", "版", "w" * 900, "it's", "the of",
        "branch branches", '"past the window"', "renamed",
    ):  # fmt: skip
        options = Options(mode="keyword", k=50)
        here, there = (sorted(texts(ask(each, question, options))) for each in (filed, served))
        assert here == there, question
    filed.close()


@pytest.mark.parametrize(
    "where",
    [
        "text ~ strasse", "text ~ 'ŒUVRE'", "source ~ ÉTÉ", "tag ~ 'nul'", "heading ~ ﬁrst",
        "n = 1", "n >= 2.5", "flag = true", "n in (1, 3.5)", "date >= 2020", "date in (2026, 1)",
        "none = 1", "tag in ('a\\\\u0000b', x)",
        "text < B", "list ~ two",
    ],
)  # fmt: skip
def test_filters_mean_the_same_as_in_a_file(
    served: PostgresCollection, tmp_path: Path, where: str
) -> None:
    filed = opened(tmp_path / "a.db")
    documents = (
        Document("été.txt", "Straße and œuvre\n# ﬁrst\nA below\n", metadata={"n": 1, "flag": True}),
        Document("b.txt", "ß\nΣΑΣ\n", metadata={"n": "1", "tag": "NUL\0 x", "list": ["two", 1]}),
        Document("c.txt", "plain\n", metadata={"n": 3.5, "tag": "a\\u0000b", "date": "2020-02-02"}),
        Document("d.txt", "last\n", metadata={"none": None}),
    )
    for collection in (filed, served):
        add(collection, *documents)
    options = Options(mode="vector", k=50, where=where)
    here, there = (sorted(texts(ask(each, "x", options))) for each in (filed, served))
    assert here == there
    filed.close()


def test_a_text_with_a_nul_is_found_and_embedded_again(served: PostgresCollection) -> None:
    add(served, Document("a.txt", "before\0after\nplain\n"))
    assert ask(served, "before").hits[0].text == "before\0after\n"
    served.switch(HashEmbedder(64))
    assert served.fingerprint == HashEmbedder(64).fingerprint
    assert len(ask(served, "before", Options(mode="vector"), HashEmbedder(64)).hits) == 2


def test_nothing_that_a_reader_sees_is_dropped(served: PostgresCollection) -> None:
    add(served, *DOCUMENTS)
    other = PostgresCollection(served.connections.url, lambda: NOON)
    with ThreadPoolExecutor(1) as pool, served.snapshot() as snapshot:
        switching = pool.submit(other.switch, HashEmbedder(64))
        query = HASH.embed(["thread"])[0]
        for _ in range(20):
            assert len(snapshot.by_vector(query, 50)[0]) == 8
    switching.result(timeout=20)
    assert served.fingerprint == HashEmbedder(64).fingerprint
    other.close()


def test_a_collection_that_is_only_read_is_not_made(server: str, tmp_path: Path) -> None:
    reader = PostgresCollection(schema_at(tmp_path), lambda: NOON, read_only=True)
    assert not reader.is_there()
    with pytest.raises(CollectionNotFound, match="there is no collection at postgresql"):
        reader.documents()
    assert not reader.is_there()
    reader.close()


def test_a_schema_of_something_else_is_left_alone(server: str, tmp_path: Path) -> None:
    threads = PostgresConnections(schema_at(tmp_path))
    with threads.reading():
        pass  # threads of a team
    threads.close()
    collection = PostgresCollection(schema_at(tmp_path), lambda: NOON)
    with pytest.raises(RetrievalError, match="something else than a collection"):
        collection.documents()
    collection.close()


def test_a_newer_schema_is_refused(served: PostgresCollection) -> None:
    served.say("collection", "99")
    newer = PostgresCollection(served.connections.url, lambda: NOON)
    with pytest.raises(SchemaTooNew, match="schema 99"):
        newer.documents()
    newer.close()


def test_the_doctor_finds_what_belongs_to_nothing(served: PostgresCollection) -> None:
    add(served, *DOCUMENTS)
    told = {each.check: each for each in examine(served)}
    assert {each.status for each in told.values()} == {"ok"}
    assert "pgvector" in told["database"].detail
    with served.database.writing() as connection:
        connection.execute("DELETE FROM words WHERE n = 2")
        connection.execute("DELETE FROM vectors_1 WHERE passage = 1")
    told = {each.check: each for each in examine(served)}
    assert (told["orphans"].status, told["vectors"].status) == ("error", "error")
    served.vacuum()


def test_a_vector_comes_back_to_the_bit(served: PostgresCollection) -> None:
    rows = np.array([[1e-30, 0.1, 1 / 3, 7e-8] * 64], np.float32)
    add(served, Document("a.txt", "line 0\n"), embedder=Numbered(rows))
    with served.snapshot("numpy") as snapshot:
        kept = snapshot.rows([1])[1]
    assert np.allclose(kept, rows[0] / np.linalg.norm(rows[0].astype(float)), rtol=1e-7)
    with served.database.reading() as connection:
        sent = first(connection, "SELECT data::text FROM vectors_1")[0]
    assert (np.array(json.loads(sent), np.float32) == kept).all()
