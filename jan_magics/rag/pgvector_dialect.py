"""Collections in PostgreSQL: tsvectors for words, pgvector for vectors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from jan_magics.rag import pgvector_near, pgvector_words, where_sql
from jan_magics.rag.dialect import Hash, Ranked, Sound, Where
from jan_magics.rag.pgvector_near import Near
from jan_magics.rag.statements import fetched, marks
from jan_magics.rag.where import Tree
from jan_magics.storage.database import Database

_HEAD: Final = 4
"""Bytes before the numbers of a vector that the server sends: how many there are."""
_SPELLING: Final = where_sql.Spelling(
    fields="fields(document.metadata)",
    headings="items(chunk.headings)",
    texts="unnest(CAST(? AS TEXT[])) AS wanted (value)",
    numbers="unnest(CAST(? AS NUMERIC[])) AS wanted (value)",
    listed=lambda values: [str(int(v) if isinstance(v, bool) else v) for v in values],
    read=(
        "to_char(to_timestamp(document.indexed_at / 1000.0) AT TIME ZONE 'UTC',"
        " 'YYYY-MM-DD\"T\"HH24:MI:SS')"
    ),
    either="CASE WHEN kind <> 'number' THEN {} ELSE {} END",
    number="CAST(value AS NUMERIC)",
    plain='{} COLLATE "C" {} ?',
)


class PostgresDialect:
    """What is written for PostgreSQL alone; `near` is how it looks for neighbours."""

    words: Final = "ts_rank"
    fields: Final = _SPELLING.fields
    sound: Final = Sound("words", "n", "vector_dims(data) <> ?")

    def __init__(self, near: Near = "exact") -> None:
        self.near = near

    def where(self, tree: Tree) -> Where:
        """Return a filter as a query. Raises WhereError."""
        return where_sql.numbers(tree, _SPELLING)

    def ranked(
        self,
        connection: Database,
        question: str,
        k: int,
        where: Where | None = None,
        besides: Sequence[int] = (),
    ) -> Ranked:
        """Return the k best by the server's rank."""
        return pgvector_words.ranked(connection, question, k, where, besides)

    def nearest(
        self,
        connection: Database,
        generation: int,
        query: bytes,
        k: int,
        where: Where | None = None,
    ) -> list[int]:
        """Ask the server for the nearest; where the graph has too few, all are measured."""
        row = np.frombuffer(query, "<f4")
        table, asked = f"vectors_{generation}", pgvector_near.written(row.tolist())
        if self.near != "exact":
            half = len(row) if self.near == "hnsw-half" else None
            found = pgvector_near.walked(connection, table, asked, k, where, half)
            if len(found) >= k:
                return found
        return pgvector_near.exactly(connection, table, asked, k, where)

    def put_words(self, connection: Database, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Write the words of chunks."""
        connection.executemany(
            "INSERT INTO words (n, body) VALUES (?, lexemes(?))",
            ((n, pgvector_words.clipped(words)) for n, words in rows),
        )

    def drop_words(self, connection: Database, chunks: Sequence[int]) -> None:
        """Forget the words of chunks."""
        connection.execute("DELETE FROM words WHERE n = ANY (CAST(? AS BIGINT[]))", (list(chunks),))

    def make_vectors(self, connection: Database, generation: int, dim: int) -> None:
        """Make the empty table of a generation."""
        # A NULL is a text that its embedder gave no usable vector for, so that nobody asks again.
        connection.execute(
            f"CREATE TABLE vectors_{generation} (passage BIGINT PRIMARY KEY, data vector({dim}))"
        )
        # Measuring all rows reads them in order, which is slow where they are kept elsewhere.
        connection.execute(f"ALTER TABLE vectors_{generation} ALTER data SET STORAGE PLAIN")

    def drop_vectors(self, connection: Database, generation: int) -> None:
        """Drop the table of a generation, when nobody looks into it any more."""
        connection.execute("LOCK TABLE generation IN ACCESS EXCLUSIVE MODE")
        connection.execute(f"DROP TABLE IF EXISTS vectors_{generation}")

    def put_vectors(
        self, connection: Database, generation: int, vectors: Mapping[Hash, bytes | None]
    ) -> None:
        """Write the vectors of texts that are there; of the others nothing is kept."""
        connection.executemany(
            f"INSERT INTO vectors_{generation} (passage, data)"
            " SELECT n, CAST(? AS vector) FROM passage WHERE hash = ? ON CONFLICT DO NOTHING",
            ((_written(data), key) for key, data in vectors.items()),
        )

    def vectors_of(
        self, connection: Database, generation: int, hashes: Sequence[Hash]
    ) -> dict[Hash, bytes | None]:
        """Return the vectors that are there of texts."""
        found = fetched(
            connection,
            f"SELECT hash, vector_send(data) FROM passage JOIN vectors_{generation} AS v"
            f" ON v.passage = passage.n WHERE hash IN ({marks(hashes)})",
            hashes,
        )
        return {key: None if sent is None else _little(sent) for key, sent in found}

    def read(
        self, connection: Database, generation: int, condition: str, values: Sequence[Any]
    ) -> list[Any]:
        """Return number, id and vector of the chunks for which a condition of SQL holds."""
        found = fetched(
            connection,
            "SELECT chunk.n, chunk.id, vector_send(data) FROM chunk"
            f" JOIN vectors_{generation} AS v ON v.passage = chunk.passage"
            f" WHERE data IS NOT NULL AND {condition} ORDER BY chunk.n",
            values,
        )
        return [(n, identity, _little(sent)) for n, identity, sent in found]

    def copies(self, connection: Database) -> list[int]:
        """Return nothing: the server itself keeps its indexes in step."""
        return []

    def copy_forgets(
        self, connection: Database, copies: Sequence[int], chunks: Sequence[int]
    ) -> None:
        """Do nothing: there are no copies."""

    def copy_takes(self, connection: Database, generation: int, chunks: range) -> None:
        """Do nothing: there are no copies."""

    def copy_is_kept(self, connection: Database, copies: Sequence[int]) -> None:
        """Do nothing: there are no copies."""


def _written(data: bytes | None) -> str | None:
    return None if data is None else pgvector_near.written(np.frombuffer(data, "<f4").tolist())


def _little(sent: bytes) -> bytes:
    """Return a vector as it is kept in memory from how the server sends it: big-endian."""
    return np.frombuffer(sent, ">f4", offset=_HEAD).astype("<f4").tobytes()
