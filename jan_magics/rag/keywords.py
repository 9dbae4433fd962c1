"""Words that are asked for, and chunks that have them, by BM25.

Any text is a question: every word is quoted, so that FTS5 sees no operator of its own. A chunk
need not have all words; what stands in quotes stands together.
"""

import re
from collections.abc import Sequence
from typing import Final

from jan_magics.domain.segmentation import Phrase, phrase_of, spans
from jan_magics.rag.dialect import Ranked, Where
from jan_magics.rag.statements import fetched, marks
from jan_magics.storage.database import Database

_COMMON: Final = """
    a about after all also an and any are as at be been but by can do does for from had has have he
    her his how i if in into is it its me my no not of on or our she should so some such than that
    the their them then there these they this those to was we were what when where which who why
    will with would you your
"""
STOP_WORDS: Final = frozenset(_COMMON.split())
"""Words that nearly every English text has: they cost time and tell nothing apart."""
_QUOTED: Final = re.compile('"([^"]*)"|“([^”]*)”')
_TIES: Final = 32


def terms(question: str) -> list[Phrase]:
    """Return what a question asks for, any of it.

    >>> [phrase.words for phrase in terms('how do "active paths" fork?')]
    [('active', 'paths'), ('fork',)]
    """
    phrases = []
    rest = question
    for quoted in _QUOTED.finditer(question):
        phrases.append(phrase_of(quoted[1] or quoted[2] or ""))
        rest = rest.replace(quoted[0], " ", 1)
    phrases += _words(rest)
    found = [phrase for phrase in dict.fromkeys(phrases) if phrase.words]
    telling = [phrase for phrase in found if not STOP_WORDS.issuperset(phrase.words)]
    return telling or found


def match(phrases: Sequence[Phrase]) -> str:
    """Return the question as FTS5 reads it."""
    return " OR ".join(f'"{" ".join(p.words)}"{" *" if p.open else ""}' for p in phrases)


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
    # Unary plus: with a list of rows FTS5 would weigh every word anew for each of them.
    inside, values = (f" AND +rowid IN ({where[0]})", where[1]) if where else ("", ())
    rows = fetched(
        connection,
        "WITH hit AS MATERIALIZED (SELECT rowid AS n, -bm25(words) AS score FROM words"
        f" WHERE words MATCH ?{inside}), best AS (SELECT n, score, 1 AS of FROM hit"
        " ORDER BY score DESC, n LIMIT ?)"
        " SELECT best.n, score, of, chunk.id FROM best JOIN chunk ON chunk.n = best.n"
        f" UNION ALL SELECT n, score, 0, '' FROM hit WHERE n IN ({marks(besides)})",
        (match(phrases), *values, k + _TIES, *besides),
    )
    best = sorted((row for row in rows if row[2]), key=lambda row: (-row[1], row[3]))[:k]
    others = {row[0]: row[1] for row in rows if not row[2]}
    return [row[0] for row in best], [row[1] for row in best], others


def _words(text: str) -> list[Phrase]:
    found = list(spans(text))
    words = []
    for place, word in enumerate(found):
        before = found[place - 1] if place else None
        # The last sign of a run stands in the pair before it already.
        inside = before and before.start <= word.start and word.end <= before.end
        if inside and len(word.text) == 1:
            continue
        words.append(phrase_of(word.text) if len(word.text) == 1 else Phrase((word.text,)))
    return words
