"""What went wrong elsewhere, a test each, where no other file has its place; the names are ids."""

import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from jan_magics.domain.protocols import Vectors
from jan_magics.domain.retrieval import Document, Fingerprint
from jan_magics.rag import near
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.collection_file import CollectionFile
from jan_magics.rag.doctor import examine
from jan_magics.rag.embed_hash import HashEmbedder
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.statements import fetched
from tests.rag.library import DOCUMENTS, HASH, NOON, add, ask, texts


class Prefixed:
    """The hash embedder behind prefixes, as instruction-tuned models want them."""

    def __init__(self, query: str = "query: ", passage: str = "passage: ") -> None:
        self._inner = HashEmbedder(256)
        self._prefixes = query, passage
        self.seen: list[str] = []

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("prefixed", "1", 256, "sum", True, *self._prefixes)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.seen += [self._prefixes[not query] + text for text in texts]
        return self._inner.embed(self.seen[-len(texts) :])

    def reads(self, text: str) -> bool:
        return True


def test_e6_another_prefix_is_another_embedder(empty: RowCollection) -> None:
    plain, other = Prefixed(), Prefixed(query="Instruct: find\nQuery: ")
    add(empty, DOCUMENTS[0], embedder=plain)
    ask(empty, "thread", embedder=plain)
    assert {text.split(":")[0] for text in plain.seen[:-1]} == {"passage"}
    assert plain.seen[-1] == "query: thread"
    found = ask(empty, "thread", embedder=other)
    assert found.facts["mode"] == "keyword"
    assert "not at hand" in " ".join(found.notes)


def test_s5_neighbours_on_the_disk_are_asked_for_by_k(filed: SqliteCollection) -> None:
    ask(filed, "thread", Options(mode="vector", index="vec0"))
    said: list[str] = []
    with filed.snapshot("vec0") as snapshot:
        connection = snapshot._connection
        assert isinstance(connection, apsw.Connection)
        connection.trace_v2(1, lambda event: said.append(event["sql"]))
        near.nearest(connection, 1, HASH.embed(["thread"])[0].tobytes(), 3)
    asked = [sql for sql in said if "MATCH" in sql]
    assert asked
    assert all("k = ?" in sql and "LIMIT" not in sql for sql in asked)


def test_s8_what_is_not_known_of_a_document_is_no_error(empty: RowCollection) -> None:
    rows = [Document("a.txt", "one fox", metadata={"year": None, "tag": "x"}),
            Document("b.txt", "two foxes", metadata={"tag": None})]  # fmt: skip
    add(empty, *rows)
    found = ask(empty, "fox", Options(index="vec0", where="tag = x"))
    assert texts(found) == ["one fox"]
    assert ask(empty, "fox", Options(where="year = 2024")).hits == ()


def test_s9_every_key_is_a_whole_number(filed: SqliteCollection) -> None:
    ask(filed, "thread", Options(mode="vector", index="vec0"))
    with filed.file.reading() as connection:
        tables = dict(fetched(connection, "SELECT name, sql FROM sqlite_schema WHERE sql <> ''"))
    assert "primary key" not in tables["near_1"].lower()
    for table in ("document", "chunk", "passage"):
        assert "n INTEGER PRIMARY KEY" in tables[table]


def test_s14_on_a_network_the_log_is_not_shared_and_it_is_said(tmp_path: Path) -> None:
    shared = SqliteCollection(tmp_path / "c.db", lambda: NOON)
    shared.database = shared.file = CollectionFile(tmp_path / "c.db", network=lambda _: "nfs4")
    add(shared, *DOCUMENTS)
    assert not list(tmp_path.glob("c.db-*"))
    told = {each.check: each for each in examine(shared)}
    assert "nfs4" in told["file system"].detail
    assert told["file system"].status == "warning"
    assert texts(ask(shared, "token budget"))


def test_s14_one_sqlite_library_a_process() -> None:
    code = (
        "import sys, jan_magics.api.collection, jan_magics.storage.sqlite;"
        "print('sqlite3' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"


def test_r3_a_cosine_is_shown_as_measured_with_its_percentile_beside(
    filed: SqliteCollection,
) -> None:
    found = ask(filed, "token budget", Options(mode="vector", k=50))
    rows = [hit.vector for hit in found.hits]
    assert [hit.score for hit in found.hits] == rows
    measured = [row for row in rows if row is not None]
    below = [sum(other < row for other in measured) / len(rows) for row in measured]
    assert found.facts["percentile"] == pytest.approx(below, abs=1e-4)
    disk = ask(filed, "token budget", Options(mode="vector", index="vec0"))
    assert "percentile" not in disk.facts


def test_r3_a_sample_tells_the_percentile_of_many(empty_file: SqliteCollection) -> None:
    add(
        empty_file,
        Document("many.txt", "".join(f"entry number{n} of {n % 97}\n" for n in range(5000))),
    )
    found = ask(empty_file, "entry number7", Options(mode="vector", k=5000))
    cosines = np.array([hit.vector for hit in found.hits])
    exact = [(cosines < cosine - 1e-5).mean() for cosine in cosines]
    assert found.facts["percentile"] == pytest.approx(exact, abs=0.05)


class Judge:
    """A cross-encoder's scores: log-odds, so far from 0 that as shares they are all the same."""

    name = "judge"

    def __init__(self, *logits: float) -> None:
        self._logits = logits

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [*self._logits, *[0.0] * len(texts)][: len(texts)]


def test_r9_log_odds_order_and_their_probability_stands_beside(library: RowCollection) -> None:
    found = ask(library, "thread", Options(rerank=Judge(41.0, 42.0, -800.0), all=True, k=3))
    again = [hit.rerank for hit in found.hits if hit.rerank is not None]
    assert again[:2] == [42.0, 41.0]
    beside: Any = found.facts["rerank_p"]
    shares = [each for each in beside if each is not None]
    assert shares == pytest.approx([1 / (1 + math.exp(-max(each, -700.0))) for each in again])
    plain = ask(library, "thread", Options(rerank=Judge(0.9, 0.2), k=3))
    assert "rerank_p" not in plain.facts
