"""How near texts are to a question, and which of them can be compared with it at all."""

import unicodedata
from collections.abc import MutableMapping, Sequence
from typing import Any, Final

import numpy as np

from jan_magics.domain.protocols import Embedder, Vectors
from jan_magics.rag.vectors import FloatMatrix, product

_JAPANESE: Final = frozenset({"HIRAGANA", "KATAKANA"})


def cosines(
    embedder: Embedder,
    texts: Sequence[str],
    question: str,
    known: MutableMapping[str, Vectors] | None = None,
) -> list[float]:
    """Return the cosine of each text with a question; `known` keeps rows by their texts.

    Raises:
        EmbedderError: when the embedder fails.
    """
    rows: MutableMapping[str, Any] = {} if known is None else known
    if new := [text for text in dict.fromkeys(texts) if text not in rows]:
        rows.update(zip(new, embedder.embed(new), strict=True))
    if not texts:
        return []
    matrix: FloatMatrix = np.vstack([rows[text] for text in texts])
    found = product(matrix, embedder.embed([question], query=True)[0])
    return [float(each) for each in np.nan_to_num(found, posinf=0.0, neginf=0.0)]


def scripts_of(text: str) -> frozenset[str]:
    """Return the scripts whose letters a text has: vectors of others say little.

    >>> sorted(scripts_of("画图 with Python"))
    ['CJK', 'LATIN']
    """
    letters = {character for character in text if character.isalpha()}
    found = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    # What is written in kana has ideographs beside them.
    return frozenset("CJK" if script in _JAPANESE else script for script in found if script)
