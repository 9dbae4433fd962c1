"""`jan.Collection`: documents, how they are cut, and what a question finds in them."""

from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from jan_magics.api.given_documents import Given, taken
from jan_magics.api.hit_tables import documents_table
from jan_magics.api.ingesting import ingest, refuse_where_off
from jan_magics.api.opening import host_here
from jan_magics.api.pushing import moved, there
from jan_magics.api.searching import Searching
from jan_magics.api.shelf import Shelf
from jan_magics.api.usual import OVERLAP, SIZE, SPLITTER, named
from jan_magics.domain.errors import SettingError
from jan_magics.frames import frame
from jan_magics.rag.distributed import check
from jan_magics.rag.doctor import examine
from jan_magics.storage.postgres_url import PostgresUrl, is_postgres

if TYPE_CHECKING:
    import pandas as pd


class Collection(Searching):
    """A collection by its name, path or address; else the notebook's own. `len()` counts chunks.

    Nothing is made before something is added. `embedder` is that of a new collection; another one
    than before makes all vectors anew while the old ones answer.
    """

    def __init__(
        self, name_or_path: str | Path | None = None, *, data_folder: str | Path | None = None,
        embedder: str | None = None, read_only: bool = False,
    ) -> None:  # fmt: skip
        if name_or_path is not None and not isinstance(name_or_path, str | Path):
            raise SettingError(
                f"a collection is named by text or a path, not {name_or_path!r}",
                "Write jan.Collection('support') or jan.Collection('support.db').",
            )
        own = None if data_folder is None else host_here({"data_folder": str(data_folder)})
        name = None if name_or_path is None else str(name_or_path)
        if name is not None and is_postgres(name):
            PostgresUrl.read(name)  # one with a password goes no further
        super().__init__(Shelf(own, name, read_only))
        self._embedder = embedder

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def __len__(self) -> int:
        if self._shelf.found() is None:
            return 0
        with self._shelf.open().snapshot() as snapshot:
            return snapshot.count()

    def __repr__(self) -> str:
        return f"Collection({self._shelf.name!r})"

    def close(self) -> None:
        """Close what was opened for it alone."""
        if self._shelf.own_host is not None:
            self._shelf.own_host.close()

    def add(  # noqa: PLR0913 - the surface
        self, paths_or_series_or_frame: Given, *, size: int | str = SIZE,
        overlap: int | str = OVERLAP, splitter: str = SPLITTER, text: str | None = None,
        embedder: str | None = None, dask: str | None = None,
    ) -> "pd.DataFrame":  # fmt: skip
        """Read, cut, embed and keep documents; a row for each of them says what became of it.

        Files, folders and patterns by their paths; a Series of texts; a DataFrame whose column
        `text` holds them and whose other columns `where` can name. What is there unchanged costs
        nothing; what is no longer there is named, and stays until it is removed.

        Sizes are tokens, or characters with a `c` ("512c"). Without any, a document keeps the
        recipe that it was cut by, and a new one is cut as the collection was last told. Of size,
        overlap and splitter those that are named change, for the documents of this run and for new
        ones; an overlap goes with its size. Another `embedder` than before makes all vectors anew;
        "none" forgets them. `dask` is the address of a scheduler whose workers read, cut and embed
        files, with the same result.

        Raises:
            SettingError: when a size, a splitter or what is given cannot be used.
            EmbedderError: when the embedder is not installed, or fails.
            RetrievalError: when the collection is read-only, or cannot be read.
        """
        if dask is not None:
            check(dask)
        # Before the collection is made: one that cannot be filled leaves none behind.
        refuse_where_off(self._shelf.host())
        given = taken(paths_or_series_or_frame, text)
        how = named({"size": size, "overlap": overlap, "splitter": splitter})
        adding = replace(self._shelf.adding(how, embedder or self._embedder), dask=dask)
        table = documents_table(ingest(self._shelf.host(), adding, given))
        table.attrs["jan"]["said"] = list(given.said)
        return table

    def documents(self) -> "pd.DataFrame":
        """Return what is in it, a row a document, by source."""
        return documents_table(self._shelf.documents())

    def remove(self, source: str | Path) -> None:
        """Forget a document, all below a folder, or all that a pattern matches.

        Paths are read as `add` reads them; that the files are still there is not needed.

        Raises:
            RetrievalError: when there is none; with the nearest name.
            SettingError: when it is no name.
        """
        self._shelf.remove(source)

    def push(self, url: str) -> "pd.DataFrame":
        """Send it to an address, or into a file, with its vectors; a row a document.

        What is there and equal is not sent again, so that an interrupted one goes on. What is only
        there stays.

        Raises:
            RetrievalError: when there are vectors of another embedder.
            SettingError, StoreError: when the address cannot be used, or its server.
        """
        host, source = self._shelf.host(), self._shelf.existing()
        return moved(host, source, there(host, url, made=True))

    def pull(self, url: str) -> "pd.DataFrame":
        """Fetch what is at an address, or in a file, with its vectors; raises as `push`."""
        host = self._shelf.host()
        source = there(host, url, made=False)
        return moved(host, source, self._shelf.obtain())

    def delete(self, off: bool = False) -> None:  # noqa: FBT001, FBT002 - the surface
        """Move the collection to the bin; `off` takes that back, the last deletion of this name.

        Raises:
            RetrievalError: when it is not there, or another one has taken its place meanwhile.
        """
        if off:
            self._shelf.take_back()
        else:
            self._shelf.delete()

    def doctor(self, vacuum: bool = False) -> "pd.DataFrame":  # noqa: FBT001, FBT002
        """Return a row a check; with `vacuum` the file is first made as small as it can be."""
        listed = self._shelf.existing()
        if vacuum:
            self._shelf.writable(listed).vacuum()
        found = [
            *examine(self._shelf.open(), self._shelf.existing().base),
            *self._shelf.in_the_bin(),
        ]
        return frame("doctor", map(asdict, found))
