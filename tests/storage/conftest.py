"""Each store, with one thread in it."""

from pathlib import Path

import pytest

from jan_magics.domain.protocols import Store
from tests.storage.samples import make_thread
from tests.storage.writer import open_store


@pytest.fixture(params=["sqlite", "jsonl"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path) -> Store:
    opened = open_store(kind, tmp_path)
    opened.create_thread(make_thread())
    return opened
