"""Documents, chunks and hits to cite, and an embedder of counted words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jan_magics.domain.retrieval import Chunk, Document, Fingerprint, Hit
from jan_magics.domain.segmentation import index_words

NOTES = Document(
    "notes/河流.md",
    "# River\n\nThe river froze early. Nobody crossed it.\n\n"
    "# 桥\n\n那座桥也关闭了。没有人知道原因。🌉\n",
)
PLAN = Document("plan.md", "The bridge opens in May.\n")


def hit(document: Document, text: str, *, headings: tuple[str, ...] = (), index: int = 0) -> Hit:
    """The chunk of a document that is this text, as a search would give it."""
    start = document.text.index(text)
    chunk = Chunk(
        f"{document.id}-{start}", document.id, index, start, start + len(text), 9, headings
    )
    return Hit(chunk, document.source, text, 1, 0.5, "cosine")


RIVER = hit(NOTES, "The river froze early. Nobody crossed it.", headings=("River",))
BRIDGE = hit(NOTES, "那座桥也关闭了。没有人知道原因。🌉", headings=("桥",), index=1)
MAY = hit(PLAN, "The bridge opens in May.")
HITS = (RIVER, BRIDGE, MAY)
TEXTS = {document.source: document.text for document in (NOTES, PLAN)}


@dataclass(frozen=True)
class WordCounts:
    """Counts words into 512 places: near is what shares words. ASCII only: reads no Chinese."""

    ascii_only: bool = False
    name: str = "words"

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.name, "1", 512)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 512), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in index_words(text):
                row[sum(word.encode()) * 31 % 512] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1)
        return rows

    def reads(self, text: str) -> bool:
        return text.isascii() or not self.ascii_only
