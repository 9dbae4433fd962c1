"""Filters: what can be said, what it means, and what is refused."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.errors import WhereError
from jan_magics.domain.messages import Json
from jan_magics.domain.retrieval import Document
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.where import All, Comparison, Either, Not, parse, read
from tests.rag.library import add

BOOK = Document(
    'o\'brien "b".md',
    "# Ünïcode\nlength 1\n# Install\npip it\n# 安装\n用 pip 安装\n",
    "markdown",
    (0, 19),
    {"year": 2024, "draft": True, "tag": "Blue", "odd 'key'": "x", "none": None},
)
OLD = Document("old.txt", "an old note\n", metadata={"year": "2019", "date": "2019-05-06"})


@pytest.fixture
def books(empty: RowCollection) -> RowCollection:
    add(empty, BOOK, OLD)
    return empty


def passing(collection: RowCollection, where: str | Mapping[str, Json]) -> str:
    """Return the first letters of the chunks that a filter lets pass."""
    tree = read(where)
    assert tree is not None
    with collection.snapshot() as snapshot:
        return "".join(each.text[0] for each in snapshot.stored(snapshot.passing(tree)))


@pytest.mark.parametrize(
    ("where", "letters"),
    [
        ("source = old.txt", "a"),
        ("source ~ OLD", "a"),
        ("source = 'o\\'brien \"b\".md'", "#l#p#用"),
        ("heading = Install", "#p"),
        ("heading ~ unicode", "#l"),
        ("heading = 安装", "#用"),
        ("text ~ 'PIP'", "p用"),
        ("text ~ pip and not text ~ 安装", "p"),
        ("page = 1", "#l"),
        ("page >= 2", "#p#用"),
        ("page != 1", "#p#用a"),
        ("year = 2024", "#l#p#用"),
        ("year < 2020", "a"),
        ("year in (2019, 2020)", "a"),
        ("year not in (2019, 2020)", "#l#p#用"),
        ("draft = true", "#l#p#用"),
        ("tag ~ blue", "#l#p#用"),
        ("tag = blue", ""),
        ("tag != Blue", "a"),
        ("not tag = Blue", "a"),
        ("\"odd 'key'\" = x", "#l#p#用"),
        ("date = 2019", "a"),
        ("date >= 2020-01", "#l#p#用"),
        ("date < 2019-05-07 or heading = Install", "#pa"),
        ("NOT (page = 1 OR page = 2) AND missing != 3", "a"),
        ("none = 1", ""),
    ],
)
def test_what_passes(books: RowCollection, where: str, letters: str) -> None:
    assert passing(books, where) == letters


@pytest.mark.parametrize(
    ("where", "letters"),
    [
        ({"source": "old.txt"}, "a"),
        ({"page": [1, 3]}, "#l"),
        ({"year": {">=": 2020, "<": 2030}, "heading": {"~": "install"}}, "#p"),
    ],
)
def test_a_dict_works_too(books: RowCollection, where: Mapping[str, Json], letters: str) -> None:
    assert passing(books, where) == letters


def test_and_binds_tighter_than_or() -> None:
    a, b, c = (Comparison(name, "=", (1,)) for name in "abc")
    assert parse("a = 1 or b = 1 and not c = 1") == Either((a, All((b, Not(c)))))
    assert parse("(a = 1 or b = 1) and c = 1") == All((Either((a, b)), c))


@pytest.mark.parametrize(
    "where",
    [
        "page", "page =", "= 3", "page == 3", "page = 3 and", "(page = 3", "page = 3)", "page ~ 3",
        "heading < b", "page in 3", "page in ()", "page in (1", "year not 3", "page = x", "'open",
        "page = 3 page = 4", "not", "and = 3 or", "(" * 200 + "a = 1" + ")" * 200, "source ! 3",
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_how_it_is_written(books: RowCollection, where: str) -> None:
    with pytest.raises(WhereError) as caught:
        passing(books, where)
    assert caught.value.next_step


@pytest.mark.parametrize("where", [{}, {"page": {"like": 3}}, {"page": {"in": 3}}, {"page": None}])
def test_a_dict_that_makes_no_sense(where: Mapping[str, Json]) -> None:
    with pytest.raises(WhereError):
        read(where)


def test_none_and_blank_are_no_filter() -> None:
    assert read(None) is None
    assert read("  ") is None


@given(st.text(), st.text(min_size=1))
def test_s17_values_and_keys_are_never_part_of_the_statement(value: str, key: str) -> None:
    tree = read({key: value, "source": {"~": value}})
    assert isinstance(tree, All)
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    assert parse(f'source = "{quoted}"') == Comparison("source", "=", (value,))


@pytest.mark.parametrize("hostile", ["'; DROP TABLE chunk; --", '" OR 1=1', 'a\'b-c "d"', "中文"])
def test_s17_hostile_values_find_nothing(books: RowCollection, hostile: str) -> None:
    assert passing(books, {"source": hostile}) == ""
    assert passing(books, {hostile: 3}) == ""
    assert passing(books, {"source": "old.txt"}) == "a"
