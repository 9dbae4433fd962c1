"""Full-text search over the threads of a PostgreSQL store, on the server.

The words are those of every other index here, so that the same questions find the same messages.
What was written since the last search is taken in before the next one.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.legacy import words_of
from jan_magics.domain.messages import Message
from jan_magics.domain.segmentation import Phrase, index_words, query_phrases
from jan_magics.domain.snippets import snippet
from jan_magics.storage.codec import decode_message, parse
from jan_magics.storage.log import message_of
from jan_magics.storage.postgres import PostgresStore
from jan_magics.storage.postgres_dialect import lexeme
from jan_magics.storage.search import SHOWN, Found, read_path

CANDIDATES: Final = 1000
_BATCH: Final = 500
_MOST_WORDS: Final = 50_000
"""A tsvector holds a megabyte; what stands behind so many words of one message is not found."""
_RANKED: Final = """
    SELECT thread.id, hit.data FROM (
        SELECT message.n, message.data, message.thread, message.words FROM message
        JOIN thread ON thread.n = message.thread AND thread.deleted_at IS NULL
        WHERE words @@ :query::tsquery AND (:thread::text IS NULL OR thread.id = :thread)
        ORDER BY message.n DESC LIMIT :candidates
    ) AS hit
    JOIN thread ON thread.n = hit.thread
    ORDER BY ts_rank(hit.words, :query::tsquery, 1) DESC, hit.n DESC LIMIT :limit
"""


class PostgresSearch:
    """The index of one store, which lives in its own tables."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    def find(
        self, words: str, *, thread_id: str | None = None, limit: int = SHOWN
    ) -> Sequence[Found]:
        """Return messages that have all words, the best first; any text is a query.

        The last word may be the beginning of one; words in quotes stand together.
        """
        phrases = query_phrases(words)
        # Who may only read, searches what others have taken in.
        with suppress(StoreError):
            self._catch_up()
        if not phrases:
            return []
        asked = {
            "query": _query(phrases), "thread": thread_id, "limit": limit,
            "candidates": max(limit, CANDIDATES),
        }  # fmt: skip
        with self._store.database.reading() as database:
            rows = database.execute(_RANKED, asked).fetchall()
        hits = [(name, decode_message(parse(data))) for name, data in rows]
        return self._shown(hits, phrases)

    def close(self) -> None:
        """Do nothing: the connections are the store's."""

    def _shown(self, hits: Sequence[tuple[str, Message]], phrases: Sequence[Phrase]) -> list[Found]:
        threads, paths = {}, {}
        for name in {name for name, _ in hits}:
            with suppress(ThreadNotFound):
                threads[name] = self._store.thread(name)
                _, paths[name] = read_path(self._store, threads[name])
        return [
            Found(
                threads[name], each.id, each.role, each.created_at,
                snippet(words_of(each), phrases), each.id in paths[name],
            )
            for name, each in hits
            if name in paths
        ]  # fmt: skip

    def _catch_up(self) -> None:
        """Take in the messages that were written since the last search, some at a time."""
        while True:
            with self._store.database.writing() as database:
                rows = database.execute(
                    "SELECT n, data FROM message WHERE words IS NULL ORDER BY n LIMIT :many"
                    " FOR UPDATE SKIP LOCKED",
                    {"many": _BATCH},
                ).fetchall()
                database.executemany(
                    "UPDATE message SET words = :words::tsvector WHERE n = :n",
                    [{"n": n, "words": _vector(data)} for n, data in rows],
                )
            if len(rows) < _BATCH:
                return


def _vector(data: str) -> str:
    """Return the words of a stored message as a tsvector is written; a damaged one has none."""
    raw: Any = None
    with suppress(ValueError):
        raw = parse(data)
    if message_of(raw) is None:
        return ""
    found = index_words(words_of(decode_message(raw)))[:_MOST_WORDS]
    return " ".join(f"{lexeme(word)}:{place}" for place, word in enumerate(found, 1))


def _query(phrases: Iterable[Phrase]) -> str:
    """Return phrases as a tsquery: all of them, the words of one side by side."""
    terms = []
    for phrase in phrases:
        words = [lexeme(word) for word in phrase.words]
        terms.append(" <-> ".join(words) + (":*" if phrase.open else ""))
    return " & ".join(f"({term})" for term in terms)
