"""Collections in SQLite: FTS5 for words, blobs for vectors, `vec0` for a copy of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from jan_magics.rag import keywords, near, where_sql
from jan_magics.rag.dialect import Hash, Ranked, Sound, Where
from jan_magics.rag.statements import fetched, marks
from jan_magics.rag.where import Tree
from jan_magics.storage.database import Database


class SqliteDialect:
    """What is written for SQLite alone."""

    words: Final = "bm25"
    fields: Final = where_sql.SQLITE.fields
    sound: Final = Sound("words_docsize", "id", "length(data) <> 4 * ?")

    def where(self, tree: Tree) -> Where:
        """Return a filter as a query. Raises WhereError."""
        return where_sql.numbers(tree, where_sql.SQLITE)

    def ranked(
        self,
        connection: Database,
        question: str,
        k: int,
        where: Where | None = None,
        besides: Sequence[int] = (),
    ) -> Ranked:
        """Return the k best by BM25."""
        return keywords.ranked(connection, question, k, where, besides)

    def nearest(
        self,
        connection: Database,
        generation: int,
        query: bytes,
        k: int,
        where: Where | None = None,
    ) -> list[int]:
        """Ask vec0 for the nearest."""
        return near.nearest(connection, generation, query, k, where)

    def put_words(self, connection: Database, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Write the words of chunks."""
        connection.executemany(
            "INSERT INTO words (rowid, body) VALUES (?, ?)",
            ((n, " ".join(words)) for n, words in rows),
        )

    def drop_words(self, connection: Database, chunks: Sequence[int]) -> None:
        """Forget the words of chunks."""
        connection.executemany("DELETE FROM words WHERE rowid = ?", ((n,) for n in chunks))

    def make_vectors(self, connection: Database, generation: int, dim: int) -> None:
        """Make the empty table of a generation."""
        # A NULL is a text that its embedder gave no usable vector for, so that nobody asks again.
        connection.execute(
            f"CREATE TABLE vectors_{generation} (passage INTEGER PRIMARY KEY, data BLOB)"
        )

    def drop_vectors(self, connection: Database, generation: int) -> None:
        """Drop the table of a generation, and its copy."""
        near.drop(connection, generation)
        connection.execute(f"DROP TABLE IF EXISTS vectors_{generation}")

    def put_vectors(
        self, connection: Database, generation: int, vectors: Mapping[Hash, bytes | None]
    ) -> None:
        """Write the vectors of texts that are there; of the others nothing is kept."""
        connection.executemany(
            f"INSERT OR IGNORE INTO vectors_{generation} (passage, data)"
            " SELECT n, ? FROM passage WHERE hash = ?",
            ((data, key) for key, data in vectors.items()),
        )

    def vectors_of(
        self, connection: Database, generation: int, hashes: Sequence[Hash]
    ) -> dict[Hash, bytes | None]:
        """Return the vectors that are there of texts."""
        statement = (
            f"SELECT hash, data FROM passage JOIN vectors_{generation} AS v"
            f" ON v.passage = passage.n WHERE hash IN ({marks(hashes)})"
        )
        return dict(fetched(connection, statement, hashes))

    def read(
        self, connection: Database, generation: int, condition: str, values: Sequence[Any]
    ) -> list[Any]:
        """Return number, id and vector of the chunks for which a condition of SQL holds."""
        return fetched(
            connection,
            "SELECT chunk.n, chunk.id, data FROM chunk"
            f" JOIN vectors_{generation} AS v ON v.passage = chunk.passage"
            f" WHERE data IS NOT NULL AND {condition} ORDER BY chunk.n",
            values,
        )

    def copies(self, connection: Database) -> list[int]:
        """Return the generations whose copy in vec0 is to be kept by what is written now."""
        found = fetched(connection, "SELECT n FROM generation ORDER BY n")
        return near.kept(connection, [n for (n,) in found])

    def copy_forgets(
        self, connection: Database, copies: Sequence[int], chunks: Sequence[int]
    ) -> None:
        """Take chunks out of the copies."""
        for generation in copies:
            near.forget(connection, generation, chunks)

    def copy_takes(self, connection: Database, generation: int, chunks: range) -> None:
        """Take new chunks into the copy of a generation."""
        near.add(connection, generation, chunks)

    def copy_is_kept(self, connection: Database, copies: Sequence[int]) -> None:
        """Say that the copies hold all that there is at this moment."""
        near.mark(connection, copies)
