"""A collection with the small library in it, one of each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jan_magics.rag.collection import SqliteCollection
from tests.rag.library import DOCUMENTS, add, opened


@pytest.fixture(params=["sqlite"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteCollection]:
    """An empty collection; another kind is one more parameter."""
    collection = opened(tmp_path / "library.db")
    yield collection
    collection.close()


@pytest.fixture
def library(empty: SqliteCollection) -> SqliteCollection:
    add(empty, *DOCUMENTS)
    return empty
