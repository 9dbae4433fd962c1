"""Vectors on their way into a collection: whose they are, which are refused, who takes over."""

import numpy as np
import pytest

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.retrieval import Document
from jan_magics.rag import ingest
from jan_magics.rag.embedders import WORDS_ALONE
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from tests.rag.embedding import Broken, Counting
from tests.rag.library import DOCUMENTS, HASH, RECIPE, add, ask, lines, tables_of, texts


@pytest.mark.parametrize(
    "rows",
    [np.zeros((1, 256)), np.zeros((3, 8)), np.zeros((4, 256)), [], np.zeros(256)],
    ids=["short", "narrow", "long", "nothing", "flat"],
)
def test_e3_a_batch_of_another_shape_is_refused(empty: RowCollection, rows: object) -> None:
    with pytest.raises(EmbedderError, match="shape"):
        add(empty, DOCUMENTS[0], embedder=Broken(rows))
    assert empty.documents() == []


@pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf"), -float("inf")])
def test_e7_a_vector_without_direction_is_refused_and_listed(
    empty: RowCollection, bad: float
) -> None:
    vectors = HASH.embed(["one", "two", "three"])
    vectors[1] = bad
    rows = add(empty, Document("a.txt", "one\ntwo\nthree\n"), embedder=Broken(vectors))
    assert "no vector for 1 chunk:" in (rows[0].reason or "")
    for index in ("numpy", "vec0"):
        found = ask(empty, "two", Options(mode="vector", index=index))
        assert sorted(texts(found)) == ["one", "three"]
    assert texts(ask(empty, "two", Options(mode="keyword"))) == ["two"]


def test_e4_a_chunk_above_the_limit_is_cut_again_and_says_so(empty: RowCollection) -> None:
    embedder = Counting(limit=4)
    text = "a b c d e f g h i j\nshort\n"
    rows = add(empty, Document("a.txt", text), embedder=embedder)
    assert rows[0].reason == "4 chunks: split for hash: it reads 4 tokens"
    assert all(len(each.split()) <= 4 for each in embedder.seen)
    found = ask(empty, "c", Options(k=50, mode="vector"), embedder)
    spans = sorted((hit.chunk.start, hit.chunk.end) for hit in found.hits)
    assert "".join(text[start:end] for start, end in spans) == text
    assert sorted(hit.chunk.index for hit in found.hits) == list(range(len(spans)))


def test_e1_another_embedder_takes_over_when_it_is_complete(library: RowCollection) -> None:
    class StopError(Exception):
        pass

    other = Counting("2")

    def stop(_done: int, _all: int) -> None:
        raise StopError

    with pytest.raises(StopError):
        library.switch(other, stop)
    asked = len(other.seen)
    assert library.fingerprint == HASH.fingerprint
    assert ask(library, "token budget").facts["mode"] == "hybrid"
    add(library, Document("new.txt", "added meanwhile\n"))
    library.switch(other)
    assert other.seen[asked:] == ["added meanwhile\n"]
    assert library.fingerprint == other.fingerprint
    assert ask(library, "added meanwhile", Options(mode="vector"), other).hits
    with library.database.reading() as connection:
        names = tables_of(library, connection)
    assert [name for name in names if name.startswith("vectors_")] == ["vectors_2"]


def test_without_its_embedder_nothing_is_added(library: RowCollection) -> None:
    with pytest.raises(EmbedderError, match="hash"):
        add(library, Document("a.txt", "text\n"), embedder=None)


def test_a_collection_of_words_alone_gets_vectors_later(empty: RowCollection) -> None:
    add(empty, *DOCUMENTS, embedder=None)
    assert texts(ask(empty, "token budget", embedder=None))[0].startswith("A token")
    assert "no vectors" in ask(empty, "token budget").notes[0]
    add(empty, *DOCUMENTS)
    assert ask(empty, "token budget").facts["mode"] == "hybrid"


def test_e4_a_switch_to_an_embedder_with_a_limit_ignores_no_end(library: RowCollection) -> None:
    other = Counting("2", limit=4)
    library.switch(other)
    assert all(len(text.split()) <= 4 for text in other.seen)
    assert "".join(other.seen[:4]).startswith("The active path")
    # The last words of a chunk are found by meaning, too.
    found = ask(library, "that is shown", Options(mode="vector", k=1), other)
    assert texts(found)[0].endswith("that is shown.")


def test_a_slow_embedder_says_how_far_it_is(empty: RowCollection) -> None:
    said: list[tuple[str, int, int | None]] = []
    many = Document("many.txt", "".join(f"line {n} of it\n" for n in range(150)))

    def progress(what: str, done: int, total: int | None) -> None:
        said.append((what, done, total))

    list(ingest.add(empty, [many], RECIPE, lines, HASH, progress))
    assert said[:2] == [("documents", 1, None), ("chunks", 16, 150)]
    assert [done for _, done, _ in said[1:]] == sorted({done for _, done, _ in said[1:]})
    assert said[-1] == ("chunks", 150, 150)


def test_another_embedder_says_how_far_it_is_from_its_first_texts_on(
    empty: RowCollection,
) -> None:
    add(empty, Document("many.txt", "".join(f"line {n} of it\n" for n in range(300))))
    said: list[tuple[int, int]] = []
    empty.switch(Counting("2"), lambda done, total: said.append((done, total)))
    assert said[0] == (16, 300)
    assert said[-1] == (300, 300)


def test_e4_documents_that_nobody_named_are_cut_to_what_another_embedder_reads(
    empty: RowCollection,
) -> None:
    add(empty, Document("a.txt", "一 b c d e f g 🦊\n"), Document("b.txt", "short\n"))
    other = Counting("2", limit=4)
    rows = add(empty, Document("new.txt", "new\n"), embedder=other)
    assert [(row.source, row.status, row.reason) for row in rows] == [
        ("new.txt", "added", None),
        ("a.txt", "replaced", "re-embedded by hash; 2 chunks: split for hash: it reads 4 tokens"),
        ("b.txt", "unchanged", "re-embedded by hash"),
    ]
    found = ask(empty, "一 b", Options(k=9, mode="vector"), other)
    assert all(len(hit.text.split()) <= 4 for hit in found.hits)
    assert [row.status for row in add(empty, Document("b.txt", "short\n"), embedder=other)] == [
        "unchanged"
    ]


def test_e4_an_interrupted_cutting_goes_on_the_next_time(empty: RowCollection) -> None:
    class StopError(Exception):
        pass

    many = [Document(f"{n:02}.txt", f"{n} b c d e f g h\n") for n in range(40)]
    add(empty, *many)
    other = Counting("2", limit=4)

    def stop(what: str, done: int, _all: int | None) -> None:
        if what == "cut again" and done == 35:
            raise StopError

    with pytest.raises(StopError):
        list(ingest.add(empty, [], RECIPE, lines, other, stop))
    assert empty.fingerprint == other.fingerprint
    left = [row.source for row in add(empty, many[0], embedder=other) if row.status == "replaced"]
    assert 0 < len(left) < 40
    found = ask(empty, "b", Options(k=200, mode="vector"), other)
    assert all(len(hit.text.split()) <= 4 for hit in found.hits)
    assert empty.cut_for_others(4) == []


def test_none_by_choice_forgets_the_vectors(library: RowCollection) -> None:
    rows = add(library, embedder=WORDS_ALONE)
    assert {row.reason for row in rows} == {"its vectors are forgotten (--embedder none)"}
    assert (library.words_alone, library.fingerprint) == (True, None)
    with library.database.reading() as connection:
        names = tables_of(library, connection)
    assert not [name for name in names if name.startswith(("vectors_", "near_"))]
    assert texts(ask(library, "token budget"))[0].startswith("A token")
    add(library)
    assert not library.words_alone
    assert ask(library, "token budget").facts["mode"] == "hybrid"
