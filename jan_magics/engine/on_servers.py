"""Collections on servers, which are named by their address; each is opened once a kernel."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from jan_magics.domain.errors import RetrievalError, SettingError, StoreError
from jan_magics.engine.listed import SERVER, Listed
from jan_magics.storage.postgres_schema import quoted
from jan_magics.storage.postgres_url import PostgresUrl

if TYPE_CHECKING:
    from jan_magics.rag.pgvector import PostgresCollection


@dataclass(slots=True)
class OnServers:
    """The collections on servers that this kernel has named."""

    now: Callable[[], datetime]
    _open: "dict[tuple[PostgresUrl, bool], PostgresCollection]" = field(default_factory=dict)
    _found: dict[PostgresUrl, Listed] = field(default_factory=dict)

    def find(self, address: str) -> Listed | None:
        """Return the collection of an address, None where there is none.

        Raises:
            SettingError: when it is no address of a collection, or holds a password.
            StoreError: when the server cannot be reached.
        """
        return self._there(meant(address))

    def made(self, listed: Listed) -> Listed:
        """List a collection that was just made, too; returns it."""
        if listed.url is not None:
            self._found[listed.url] = listed
        return listed

    def listed(self) -> list[Listed]:
        """Return those that were found here and are there still, or whose server is gone."""
        told = [self._told(listed) for listed in list(self._found.values())]
        return [each for each in told if each is not None]

    def _told(self, listed: Listed) -> Listed | None:
        try:
            return self._there(listed)
        except StoreError as error:
            return replace(listed, fault=error.message)

    def _there(self, listed: Listed) -> Listed | None:
        if listed.url is None or not self.open(listed).is_there():
            return None
        self._found[listed.url] = listed
        return listed

    def open(self, listed: Listed, *, read_only: bool = False) -> "PostgresCollection":
        """Return an open collection; its server is asked when it is used."""
        from jan_magics.rag.pgvector import PostgresCollection

        assert listed.url is not None  # noqa: S101 - for the type checker
        key = listed.url, read_only
        if key not in self._open:
            self._open[key] = PostgresCollection(listed.url, self.now, read_only=read_only)
        return self._open[key]

    def close(self) -> None:
        """Close what is open; a later call opens it again."""
        for each in self._open.values():
            each.close()
        self._open.clear()


def meant(address: str) -> Listed:
    """Return the collection that an address means; its server is not asked. Raises SettingError."""
    url = PostgresUrl.read(address)
    if not address.partition("#")[2]:
        raise SettingError(
            f"{url.address} names no collection",
            f"Its name stands behind a #: {url.address}#name",
        )
    return Listed(Path(str(url)), url.schema, SERVER, url=url)


def not_deleted(url: PostgresUrl) -> RetrievalError:
    """Return the error for a collection that is no file of this data folder."""
    return RetrievalError(
        f"{url} is on a server, where others may be using it",
        f"Its owner types there: DROP SCHEMA {quoted(url.schema)} CASCADE",
    )
