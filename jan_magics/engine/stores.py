"""Which store a setting names, and the search over it. Whoever has SQLite loads no other."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from jan_magics.domain.protocols import Store
from jan_magics.storage.postgres_url import PostgresUrl, is_postgres
from jan_magics.storage.search import Search, Searching, log_stamp
from jan_magics.storage.sqlite import SqliteStore


def open_store(kind: str | None, path: Path, clock: Callable[[], datetime]) -> Store:
    """Return the store of a data folder, or of a team; nothing is written before the first thread.

    Raises:
        SettingError: when the address of a database cannot be read.
    """
    # The others are not loaded where they are not used: the first answer waits for all that is.
    if kind == "jsonl":
        from jan_magics.storage.jsonl import JsonlStore

        return JsonlStore(path / "threads", clock)
    if kind and is_postgres(kind):
        from jan_magics.storage.postgres import PostgresStore

        return PostgresStore(PostgresUrl.read(kind), clock)
    return SqliteStore(path / "jan.db", clock)


def open_search(store: Store, folder: Path) -> Searching:
    """Return the search over a store; its file is made by the first search."""
    if isinstance(store, SqliteStore):
        return Search(folder / "search.db", store)
    from jan_magics.storage.jsonl import JsonlStore

    if isinstance(store, JsonlStore):
        return Search(folder / "search.db", store, partial(log_stamp, folder / "threads"))
    from jan_magics.storage.postgres import PostgresStore
    from jan_magics.storage.postgres_search import PostgresSearch

    if isinstance(store, PostgresStore):
        return PostgresSearch(store)
    return Search(folder / "search.db", store)
