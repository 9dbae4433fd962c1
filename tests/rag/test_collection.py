"""A collection keeps documents wholly, once, and nothing of what was forgotten."""

from pathlib import Path

import pytest

from jan_magics.domain.errors import (
    RetrievalError,
)
from jan_magics.domain.retrieval import Document, DocumentRow, Index, Recipe
from jan_magics.rag import ingest
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.statements import fetched
from tests.rag.embedding import Counting
from tests.rag.library import (
    DOCUMENTS,
    HASH,
    RECIPE,
    add,
    ask,
    lines,
    opened,
    statuses,
    tables_of,
    texts,
)


def counts(collection: RowCollection) -> dict[str, int]:
    """Return how many rows each table has that holds anything of a document."""
    tables = ["document", "passage", "chunk", "words"]
    with collection.database.reading() as connection:
        names = tables_of(collection, connection)
        tables += [n for n in names if n.startswith("vectors_") or n in ("near_1",)]
        return {t: fetched(connection, f"SELECT count(*) FROM {t}")[0][0] for t in tables}


def test_s11_unchanged_costs_nothing(empty: RowCollection) -> None:
    embedder = Counting()
    assert statuses(add(empty, *DOCUMENTS, embedder=embedder)) == [
        (each.source, "added") for each in DOCUMENTS
    ]
    asked, before = len(embedder.seen), counts(empty)
    again = add(empty, *DOCUMENTS, embedder=embedder)
    assert {row.status for row in again} == {"unchanged"}
    assert [row.chunks for row in again] == [3, 2, 3]
    assert (len(embedder.seen), counts(empty)) == (asked, before)


def test_s11_of_a_changed_document_only_new_texts_are_embedded(empty: RowCollection) -> None:
    embedder = Counting()
    add(empty, Document("a.txt", "one\ntwo\nthree\n"), embedder=embedder)
    embedder.seen.clear()
    rows = add(empty, Document("a.txt", "one\n2\nthree\nfour\n"), embedder=embedder)
    assert statuses(rows) == [("a.txt", "replaced")]
    assert embedder.seen == ["2\n", "four\n"]
    assert counts(empty)["chunk"] == counts(empty)["words"] == counts(empty)["vectors_1"] == 4


def test_s3_the_old_wording_is_not_found_any_more(empty: RowCollection) -> None:
    add(empty, Document("a.txt", "the secret word is abracadabra\nother\n"))
    for index in ("vec0", "numpy"):
        assert texts(ask(empty, "abracadabra", Options(mode="vector", index=index, k=1)))
    add(empty, Document("a.txt", "the secret word is gone\nother\n"))
    for options in (
        Options(mode="keyword"), Options(mode="vector", index="vec0"), Options(mode="vector"),
    ):  # fmt: skip
        assert not [t for t in texts(ask(empty, "abracadabra", options)) if "abra" in t]


def test_s12_two_sources_may_share_content(empty: RowCollection) -> None:
    embedder = Counting()
    twins = [Document(name, "the same text\n") for name in ("a.txt", "b.txt")]
    rows = add(empty, *twins, embedder=embedder)
    assert statuses(rows) == [("a.txt", "added"), ("b.txt", "added")]
    assert embedder.seen == ["the same text\n"]
    assert [hit.source for hit in ask(empty, "same text").hits] in (
        ["a.txt", "b.txt"], ["b.txt", "a.txt"],
    )  # fmt: skip
    empty.remove("a.txt")
    assert [hit.source for hit in ask(empty, "same text").hits] == ["b.txt"]
    assert counts(empty)["vectors_1"] == 1


def test_s10_what_is_removed_is_found_by_no_path(library: RowCollection) -> None:
    ask(library, "thread", Options(index="vec0"))
    ids = {hit.chunk.id for hit in ask(library, "thread", Options(k=50)).hits}
    for document in DOCUMENTS:
        library.remove(document.source)
    assert set(counts(library).values()) == {0}
    with library.snapshot() as snapshot:
        assert [snapshot.number(each) for each in ids] == [None] * len(ids)
    with pytest.raises(RetrievalError, match=r"zh\.txt"):
        library.remove("zh.txt")


def test_s10_what_is_removed_leaves_the_file(tmp_path: Path) -> None:
    collection = opened(tmp_path / "a.db")
    add(collection, Document("a.txt", "xylophone quicksilver\n"), Document("b.txt", "rest\n"))
    collection.remove("a.txt")
    collection.vacuum()
    collection.close()
    data = (tmp_path / "a.db").read_bytes()
    assert b"xylophon" not in data
    assert b"quicksilv" not in data
    assert b"rest" in data


@pytest.mark.parametrize("name", ['a\'b-c "d".db', "中文 🎉.db", "%41?x#y.db"])
def test_s17_any_name_of_a_file(tmp_path: Path, name: str) -> None:
    collection = opened(tmp_path / name)
    add(collection, *DOCUMENTS)
    collection.close()
    reading = opened(tmp_path / name, read_only=True)
    assert texts(ask(reading, "token budget"))
    reading.close()
    assert name in [path.name for path in tmp_path.iterdir()]


def test_a_document_comes_back_as_it_was(library: RowCollection) -> None:
    for document in DOCUMENTS:
        assert library.document(document.source) == document
    rows = library.documents()
    assert [row.source for row in rows] == sorted(each.source for each in DOCUMENTS)
    assert {row.status for row in rows} == {"indexed"}
    assert rows[0].recipe == str(RECIPE)


def test_c15_half_characters_and_nul_harm_nobody(empty: RowCollection) -> None:
    odd = Document("\udcff.txt", "before \ud800 after\0\nplain\n")
    rows = add(empty, odd, DOCUMENTS[0])
    assert [row.status for row in rows] == ["added", "added"]
    assert "1 broken character" in (rows[0].reason or "")
    hit = ask(empty, "before after").hits[0]
    assert hit.text == "before \ufffd after\0\n"


def test_rows_of_unreadable_files_go_through(empty: RowCollection) -> None:
    scan = DocumentRow("scan.pdf", "failed", "a scan: no text in it")
    rows = add(empty, scan, DOCUMENTS[0], Document("blank.txt", " \n"))
    assert [row.status for row in rows] == ["failed", "added", "skipped"]


def test_a_source_twice_in_one_run_ends_in_the_later_form(empty: RowCollection) -> None:
    rows = add(empty, Document("a.txt", "old\n"), Document("a.txt", "new\n"))
    assert [row.status for row in rows] == ["added", "replaced"]
    assert empty.document("a.txt").text == "new\n"


def test_stopping_ends_between_documents(empty: RowCollection) -> None:
    class StopError(Exception):
        pass

    def progress(_what: str, done: int, _all: int | None) -> None:
        if done == 3:
            raise StopError

    many = [Document(f"{n}.txt", f"line {n} of many\n" * 300) for n in range(5)]
    with pytest.raises(StopError):
        list(ingest.add(empty, many, RECIPE, lines, HASH, progress))
    whole = list(empty.documents())
    assert 0 < len(whole) < 5
    assert {row.chunks for row in whole} == {300}


def test_another_recipe_cuts_anew(library: RowCollection) -> None:
    rows = add(library, DOCUMENTS[0], recipe=Recipe("chars", 90, 0, "chars"))
    assert statuses(rows) == [(DOCUMENTS[0].source, "replaced")]
    ids: Index = "numpy"
    assert len(ask(library, "thread", Options(k=50, mode="vector", index=ids)).hits) == 8
