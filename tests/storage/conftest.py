"""Each store, with one thread in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jan_magics.domain.protocols import Store
from tests.storage.samples import make_thread
from tests.storage.writer import open_store

KINDS = ("sqlite", "jsonl", "postgres")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "postgres":
        request.getfixturevalue("server")
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(kind, tmp_path)
    opened.create_thread(make_thread())
    yield opened
    opened.close()
