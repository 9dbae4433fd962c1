"""A collection with the small library in it, one of each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.row_collection import RowCollection
from tests.rag.library import DOCUMENTS, add, opened, opened_file

KINDS = ("sqlite", "postgres")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "postgres":
        request.getfixturevalue("server")
    return str(request.param)


@pytest.fixture
def empty(kind: str, tmp_path: Path) -> Iterator[RowCollection]:
    """An empty collection; another kind is one more parameter."""
    collection = opened(tmp_path / "library.db", kind=kind)
    yield collection
    collection.close()


@pytest.fixture
def library(empty: RowCollection) -> RowCollection:
    add(empty, *DOCUMENTS)
    return empty


@pytest.fixture
def empty_file(tmp_path: Path) -> Iterator[SqliteCollection]:
    """An empty collection in a file, for what concerns files alone."""
    collection = opened_file(tmp_path / "library.db")
    yield collection
    collection.close()


@pytest.fixture
def filed(empty_file: SqliteCollection) -> SqliteCollection:
    """The library in a file."""
    add(empty_file, *DOCUMENTS)
    return empty_file
