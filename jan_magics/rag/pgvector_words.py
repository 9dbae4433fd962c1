"""Words that are asked for, and chunks that have them, by the server's own rank.

The words are those of every other index here; the server only stems and ranks them. Its rank
knows how often a word stands in a chunk and how near words are, not how rare a word is: it is no
BM25, and is not called so.
"""

from collections.abc import Sequence
from typing import Final

from jan_magics.domain.segmentation import Phrase
from jan_magics.rag.dialect import Ranked, Where
from jan_magics.rag.keywords import terms
from jan_magics.rag.statements import fetched
from jan_magics.storage.database import Database
from jan_magics.storage.postgres_dialect import lexeme

LONGEST: Final = 500
"""Characters of a word: the server takes 2,046 bytes."""
MOST: Final = 50_000
"""A tsvector holds a megabyte; what stands behind so many words of one chunk is not found."""
_STEMS: Final = (
    "SELECT word, coalesce((ts_lexize('stem', word))[1], word)"
    " FROM unnest(CAST(? AS TEXT[])) AS wanted (word)"
)
# A long chunk has more words by chance: 1 divides by the logarithm of its length.
_RANKED: Final = """
    WITH hit AS MATERIALIZED (
        SELECT words.n, ts_rank(body, CAST(:query AS tsquery), 1) AS score FROM words
        WHERE body @@ CAST(:query AS tsquery){inside}
    ), best AS (
        SELECT hit.n, score, chunk.id FROM hit JOIN chunk ON chunk.n = hit.n
        ORDER BY score DESC, chunk.id LIMIT :limit
    )
    SELECT n, score, true FROM best
    UNION ALL SELECT n, score, false FROM hit WHERE n = ANY (CAST(:besides AS BIGINT[]))
"""


def clipped(words: Sequence[str]) -> str:
    """Return the words of a chunk as the server takes them."""
    return " ".join(word[:LONGEST] for word in words[:MOST])


def ranked(
    connection: Database,
    question: str,
    k: int,
    where: Where | None = None,
    besides: Sequence[int] = (),
) -> Ranked:
    """Return the numbers and scores of the k best chunks, ties by id; higher is better.

    Third is the score of each chunk of `besides` that has one of the words, best or not.
    """
    phrases = terms(question)
    if not phrases or k <= 0:
        return [], [], {}
    asked = {"query": query(connection, phrases), "limit": k, "besides": list(besides)}
    inside = ""
    if where is not None:
        condition, values = named(where)
        inside = f" AND words.n IN ({condition})"
        asked |= values
    rows = fetched(connection, _RANKED.replace("{inside}", inside), asked)
    best = [(n, score) for n, score, is_best in rows if is_best]
    others = {n: score for n, score, is_best in rows if not is_best}
    return [n for n, _ in best], [score for _, score in best], others


def query(connection: Database, phrases: Sequence[Phrase]) -> str:
    """Return the question as the server reads it: any phrase, the words of one side by side."""
    words = list(dict.fromkeys(word[:LONGEST] for each in phrases for word in each.words))
    stems = dict(fetched(connection, _STEMS, (words,)))
    made = []
    for phrase in phrases:
        parts = [lexeme(stems[word[:LONGEST]]) for word in phrase.words]
        made.append("(" + " <-> ".join(parts) + (":*" if phrase.open else "") + ")")
    return " | ".join(made)


def named(where: Where) -> tuple[str, dict[str, object]]:
    """Return a filter whose values have names, so that it can stand beside others.

    >>> named(("SELECT n FROM chunk WHERE page = ? AND n > ?", [3, 4]))
    ('SELECT n FROM chunk WHERE page = :w_a AND n > :w_b', {'w_a': 3, 'w_b': 4})
    """
    condition, values = where
    first, *rest = condition.split("?")
    names = [_name(place) for place in range(len(values))]
    written = first + "".join(f":{name}{part}" for name, part in zip(names, rest, strict=True))
    return written, dict(zip(names, values, strict=True))


def _name(place: int) -> str:
    letters = chr(ord("a") + place % 26)
    while place := place // 26:
        letters += chr(ord("a") + place % 26)
    return f"w_{letters}"
