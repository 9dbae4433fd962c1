"""Filters that are long, and filters that name what no document has."""

import pytest

from jan_magics.domain.errors import WhereError
from jan_magics.domain.retrieval import Document
from jan_magics.rag.explain import explain
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.where_sql import MOST
from tests.rag.library import DOCUMENTS, HASH, add, ask
from tests.rag.test_where import passing

ROW = Document("row/1", "a row\n", "text", metadata={"page": 7, "source": "档案", "year": 1999})


@pytest.mark.parametrize("name", ["source", "text", "heading", "date", "page", "author", "year"])
@pytest.mark.parametrize("sign", [" in ", "=", "!="])
@pytest.mark.parametrize("index", ["numpy", "vec0"])
def test_a_filter_of_thousands_of_terms_is_looked_at(
    library: RowCollection, name: str, sign: str, index: str
) -> None:
    values = [str(n) if name in ("page", "year") else f"'{n}.md'" for n in range(2_100)]
    where = {
        " in ": f"{name} in ({', '.join(values)})",
        "=": " or ".join(f"{name} = {value}" for value in values),
        "!=": f"not ({' and '.join(f'{name} != {value}' for value in values)})",
    }[sign]
    found = ask(library, "token budget", Options(where=where, index=index))  # type: ignore[arg-type]
    assert {hit.source for hit in found.hits} == (
        {"guide/threads.md", "guide/budget.md"} if name == "year" else set()
    )


@pytest.mark.parametrize("each", ["year in ({n}, 3)", "date in ({n}9, 4)", "text ~ {n}"])
@pytest.mark.parametrize("word", [" or ", " and "])
def test_as_many_things_as_can_be_compared(library: RowCollection, each: str, word: str) -> None:
    where = word.join(each.format(n=n) for n in range(2, 2 + MOST))
    for index in ("numpy", "vec0"):
        assert ask(library, "token", Options(where=where, index=index)).hits == ()


@pytest.mark.parametrize(
    ("where", "letters"),
    [
        ("source in (zh.txt, nowhere.md)", "如过🎉"),
        ("source not in (zh.txt, nowhere.md)", "TARAT"),
        ("year in (2024, 1)", "TAR"),
        ("year in ('2025', '2024')", "TARAT"),
        ("author in (Grace, 3)", "AT"),
        ("date in (2025-03, 1999)", "AT"),
        ("year = 123456789012345678901234567890", ""),
        ("year in (123456789012345678901234567890, 2024)", "TAR"),
    ],
)
def test_one_of_several_values(library: RowCollection, where: str, letters: str) -> None:
    assert passing(library, where) == letters


def test_a_number_beyond_all_measure_is_compared_as_it_is_written(
    library: RowCollection,
) -> None:
    add(library, Document("id.md", "numbered\n", metadata={"isbn": "9" * 30}))
    assert passing(library, {"isbn": int("9" * 30)}) == "n"
    assert passing(library, f"isbn = {'9' * 30}") == "n"
    assert passing(library, f"isbn = {'9' * 5000}") == ""


def test_more_things_than_can_be_compared_are_refused(library: RowCollection) -> None:
    where = " or ".join(f"year > {n}" for n in range(MOST + 1))
    with pytest.raises(WhereError, match="compares 201 things") as caught:
        ask(library, "token", Options(where=where))
    assert "source in (" in caught.value.next_step


def test_a_field_that_no_document_has_is_named_with_the_nearest(library: RowCollection) -> None:
    found = ask(library, "token", Options(where="yaer = 2024 or author = Ada"))
    assert found.notes == ("no document has a field 'yaer', closest: 'year'",)
    assert "'pages', closest: 'page'" in ask(library, "token", Options(where="pages = 1")).notes[0]
    other = ask(library, "token", Options(where="颜色 = red", mode="keyword"))
    assert "'颜色'; there are: source, heading, page, date, text, author, year" in other.notes[0]
    assert ask(library, "token", Options(where="author = nobody")).notes == ()


def test_documents_without_a_date_are_counted_where_dates_are_compared(
    library: RowCollection,
) -> None:
    found = ask(library, "token", Options(where="date >= 2025-01"))
    assert found.notes == (
        "2 of 3 documents have no date: for them the day counts on which they were read",
    )
    chunk = ask(library, "token").hits[0].chunk.id
    told = explain(library, "token", chunk, Options(where="date < 2020"), HASH)
    assert told.notes == found.notes


def test_a_field_called_like_a_name_of_ours_is_a_column(empty: RowCollection) -> None:
    add(empty, ROW, DOCUMENTS[0])
    assert passing(empty, "page = 7") == ""
    assert passing(empty, "column.page = 7") == "a"
    assert passing(empty, "column.source in (档案, x) and column.year < 2000") == "a"
    assert ask(empty, "row", Options(where="column.page = 7")).notes == ()
    near = ask(empty, "row", Options(where="column.pages = 7")).notes
    assert near == ("no document has a field 'column.pages', closest: 'column.page'",)
