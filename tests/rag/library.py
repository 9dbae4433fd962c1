"""A small library for the tests of retrieval: documents, a simple way to cut them, collections."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Chunk, Document, DocumentRow, Recipe, chunk_id
from jan_magics.rag import ingest
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.embed_hash import HashEmbedder
from jan_magics.rag.embedders import WordsAlone
from jan_magics.rag.options import Options
from jan_magics.rag.pgvector import PostgresCollection
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.search import Found, search
from jan_magics.rag.statements import fetched
from jan_magics.storage.database import Database
from tests.storage.servers import schema_at

RECIPE = Recipe("chars", 80, 0, "chars")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HASH = HashEmbedder(256)

DOCUMENTS = (
    Document(
        "guide/threads.md",
        "The active path of a thread is the one that is shown.\n"
        "A fork makes two branches of one thread.\n"
        "Rename a thread to find it again.\n",
        "markdown",
        metadata={"year": 2024, "author": "Ada"},
    ),
    Document(
        "guide/budget.md",
        "A token budget says how much of the window is used.\n"
        "Trimming drops the oldest turns first.\n",
        "markdown",
        metadata={"year": "2025", "author": "Grace", "date": "2025-03-14"},
    ),
    Document("zh.txt", "如何重置密码，请看下面的说明。\n过拟合是机器学习的问题。\n🎉 版本发布\n"),
)


def lines(document: Document, recipe: Recipe) -> tuple[Chunk, ...]:
    """Cut a document at its lines; a line with a # is a heading for those that follow."""
    chunks: list[Chunk] = []
    seen: Counter[str] = Counter()
    headings: tuple[str, ...] = ()
    at = 0
    for line in document.text.splitlines(keepends=True):
        start, at = at, at + len(line)
        if line.startswith("#"):
            headings = (line.strip("# \n"),)
        if not line.strip():
            continue
        identity = chunk_id(document.source, recipe, line, seen[line])
        seen[line] += 1
        page = sum(place <= start for place in document.pages) or None
        chunks.append(
            Chunk(identity, document.id, len(chunks), start, at, len(line.split()), headings, page)
        )
    return tuple(chunks)


def opened(path: Path, *, read_only: bool = False, kind: str = "sqlite") -> RowCollection:
    """Open the collection of a file, or of a schema that stands for it."""
    if kind == "postgres":
        return PostgresCollection(schema_at(path), lambda: NOON, read_only=read_only)
    return opened_file(path, read_only=read_only)


def opened_file(path: Path, *, read_only: bool = False) -> SqliteCollection:
    """Open the collection of a file."""
    return SqliteCollection(path, lambda: NOON, read_only=read_only)


def add(
    collection: RowCollection,
    *documents: Document | DocumentRow,
    embedder: Embedder | WordsAlone | None = HASH,
    recipe: Recipe = RECIPE,
) -> list[DocumentRow]:
    """Ingest documents."""
    return list(ingest.add(collection, documents, recipe, lines, embedder))


def ask(
    collection: RowCollection,
    question: str,
    options: Options | None = None,
    embedder: Embedder | None = HASH,
) -> Found:
    """Ask a question."""
    return search(collection, [question], options or Options(), embedder)[0]


def texts(found: Found, *, used: bool = True) -> list[str]:
    """Return the texts of the rows that are used, or of those that are not."""
    return [hit.text.strip() for hit in found.hits if hit.used is used]


def statuses(rows: Sequence[DocumentRow]) -> list[tuple[str, str]]:
    """Return source and status of rows."""
    return [(row.source, row.status) for row in rows]


def tables_of(collection: RowCollection, connection: Database) -> list[str]:
    """Return the names of the tables that hold a collection."""
    query = (
        "SELECT name FROM sqlite_schema WHERE type = 'table'"
        if isinstance(collection, SqliteCollection)
        else "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    )
    return [name for (name,) in fetched(connection, query)]
