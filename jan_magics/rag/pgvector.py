"""A collection in a schema of PostgreSQL, with pgvector: many kernels of many users may use it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from jan_magics.domain.errors import StoreError
from jan_magics.domain.retrieval import Fingerprint, Index
from jan_magics.rag import generations, pgvector_near
from jan_magics.rag.pgvector_connections import CollectionConnections
from jan_magics.rag.pgvector_dialect import PostgresDialect
from jan_magics.rag.pgvector_near import Near
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.rows import generations as numbers_of
from jan_magics.rag.snapshot import Snapshot
from jan_magics.rag.soundness import Checked, Finding
from jan_magics.rag.statements import first
from jan_magics.storage.database import Database
from jan_magics.storage.postgres_url import PostgresUrl

_VEC0: Final = "vec0 is for collections in files; here the server finds the neighbours"
_TABLES: Final = ("document", "passage", "chunk", "words", "generation", "about")
_SIZE: Final = (
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class"
    " WHERE relkind = 'r' AND relnamespace = quote_ident(current_schema())::regnamespace"
)


class PostgresCollection(RowCollection):
    """Documents and what is found of them, on a server; the constructor touches nothing.

    Every method raises StoreError when the server cannot be reached or refuses.
    """

    of_many = True

    def __init__(
        self, url: PostgresUrl, clock: Callable[[], datetime], *, read_only: bool = False
    ) -> None:
        self.connections = CollectionConnections(url, read_only=read_only)
        self._read_only = read_only
        super().__init__(self.connections, PostgresDialect(), clock)

    @property
    def place(self) -> str:
        """Return its address."""
        return str(self.connections.url)

    @property
    def read_only(self) -> bool:
        """Tell whether it is only read."""
        return self._read_only

    def is_there(self) -> bool:
        """Tell whether there is such a collection; nothing is made."""
        return self.connections.is_there()

    def size(self) -> int:
        """Return the bytes that it takes on the server."""
        with self.database.reading() as connection:
            return int(first(connection, _SIZE)[0])

    @contextmanager
    def snapshot(self, index: Index = "auto") -> Iterator[Snapshot]:
        """Give one state of the collection for as long as a search takes.

        `index` is who finds neighbours: the server, which measures all (`auto`), or asks the graph
        of an HNSW index, also in half precision (`hnsw`, `hnsw-half`); or numpy, in memory.
        """
        near, note = self._near(index)
        with self.database.reading() as connection:
            held = generations.active(connection)
            dialect = PostgresDialect(near)
            if held is not None and index in ("numpy", "bits"):
                yield self._measured_here(connection, held, index, note)
            else:
                engine = "pgvector" if near == "exact" else near
                yield Snapshot(connection, dialect, held, None, note, engine=engine)

    def checked(self) -> Checked:
        """Look whether the server has all that it needs; nothing is changed."""
        with self.database.reading() as connection:
            server, extension = first(
                connection,
                "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension"
                " WHERE extname = 'vector')",
            )
            size = int(first(connection, _SIZE)[0])
            held = generations.active(connection)
            graphs = [] if held is None else _graphs(connection, held[0])
        told = f"PostgreSQL {server.split()[0]}, pgvector {extension}"
        made = " and ".join(graphs) or "none; made when `index = hnsw` first asks for it"
        return Checked(
            Finding("database", "ok", told),
            (Finding("hnsw", "ok", made), Finding("size", "ok", f"{size / 1e6:.1f} MB")),
        )

    def vacuum(self) -> None:
        """Give the room of what was forgotten back, and let the server look at what there is."""
        with self.database.reading() as connection:
            tables = [*_TABLES, *(f"vectors_{n}" for n in numbers_of(connection))]
        with self.connections.alone() as raw:
            raw.execute(f"VACUUM (FULL, ANALYZE) {', '.join(tables)}")

    def close(self) -> None:
        """Close all connections; a later call opens them again."""
        self.connections.close()
        self._held = self._coded = None

    def _near(self, index: Index) -> tuple[Near, str | None]:
        """Return how neighbours are looked for, made ready; and why not as was asked."""
        if index == "vec0":
            return "exact", _VEC0
        if index not in ("hnsw", "hnsw-half"):
            return "exact", None
        with self.database.reading() as connection:
            held = generations.active(connection)
            if held is None or pgvector_near.has_graph(connection, held[0], index):
                return index, None
        return self._made(index, *held)

    def _made(self, near: Near, n: int, fingerprint: Fingerprint) -> tuple[Near, str | None]:
        why = pgvector_near.unfit(near, fingerprint.dim)
        if why is None and self.read_only:
            why = "the collection is read-only and has no graph"
        try:
            if why is None:
                with self.database.writing() as connection:
                    if n in numbers_of(connection):
                        pgvector_near.make_graph(connection, n, near, fingerprint.dim)
                return near, None
        except StoreError as error:
            why = error.message
        return "exact", f"the server measures all vectors, one by one: {why}"


def _graphs(connection: Database, generation: int) -> list[str]:
    kinds: tuple[Near, ...] = ("hnsw", "hnsw-half")
    return [each for each in kinds if pgvector_near.has_graph(connection, generation, each)]
