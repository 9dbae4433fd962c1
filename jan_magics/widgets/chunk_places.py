"""A chunk with what stands around it in its document."""

from typing import Final

from jan_magics.notebook.hazards import legible
from jan_magics.widgets.comm import Message

AROUND: Final = 1_500
"""Characters of the document before and after a chunk."""
LONGEST: Final = 4_000
"""Characters of a chunk that are shown whole."""


def in_place(text: str, start: int, end: int) -> Message:
    """Return a span of a document with what is around it; characters, half-open.

    `cut` says whether the document goes on before and after.
    """
    first, end = max(0, start - AROUND), min(end, start + LONGEST)
    return {
        "cut": [first > 0, end + AROUND < len(text)],
        "before": legible(text[first:start]),
        "text": legible(text[start:end]),
        "after": legible(text[end : end + AROUND]),
    }
