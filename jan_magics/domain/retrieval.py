"""Values of retrieval: what was read, how it was cut, what was found, and what was cited."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from jan_magics.domain.messages import Json

Splitter: TypeAlias = Literal["recursive", "chars", "markdown", "code", "tokens"]
Kind: TypeAlias = Literal["text", "markdown", "rst", "code", "table", "row"]
Mode: TypeAlias = Literal["hybrid", "vector", "keyword"]
Fusion: TypeAlias = Literal["convex", "rrf"]
Index: TypeAlias = Literal["auto", "numpy", "bits", "vec0", "hnsw", "hnsw-half"]
Indexed: TypeAlias = Literal["added", "unchanged", "replaced", "skipped", "failed", "indexed"]

RECIPE_VERSION: Final = 1
"""Raised whenever the same text, splitter and sizes give other chunks than before."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text that was read, and where it is from.

    `source` names it in a collection: a path relative to the collection's owner where it is below
    it, else an absolute one; a URL; `name/label` for a row of a frame. `pages` are the places in
    `text` where the pages begin, ascending; () where there are none. `metadata` is what `--where`
    can name. `warning` says what a reader had to replace or leave out.
    """

    source: str
    text: str
    kind: Kind = "text"
    pages: tuple[int, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    warning: str | None = None

    @property
    def id(self) -> str:
        """Return the first 16 hex digits of the SHA-256 of the source."""
        return _digest(self.source)

    @property
    def content(self) -> str:
        """Return the SHA-256 of the text, in hex."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How documents are cut. `size` and `overlap` are tokens by `counter`, or `chars`."""

    splitter: Splitter = "recursive"
    size: int = 200
    overlap: int = 40
    unit: Literal["tokens", "chars"] = "tokens"
    counter: str = "o200k_base"
    exact: bool = True
    version: int = RECIPE_VERSION

    def __str__(self) -> str:
        """Return the recipe as it is printed with every table.

        >>> str(Recipe()), str(Recipe("chars", 512, 64, "chars"))
        ('recursive 200/40 tokens (o200k_base)', 'chars 512/64 chars')
        """
        if self.unit == "chars":
            return f"{self.splitter} {self.size}/{self.overlap} chars"
        counter = self.counter if self.exact else f"{self.counter}, ≈"
        return f"{self.splitter} {self.size}/{self.overlap} tokens ({counter})"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document: `document.text[start:end]` is its text, and no copy is kept.

    `start` and `end` are characters (code points), half-open; `index` counts from 0 in its
    document; `page` counts from 1. `warning` says what is odd about it, as one cluster that alone
    exceeds the limit.
    """

    id: str
    document_id: str
    index: int
    start: int
    end: int
    tokens: int
    headings: tuple[str, ...] = ()
    page: int | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """What became of a document, or how it stands in its collection (`indexed`).

    `reason` says why it was skipped or failed, or what is odd about it; None is not known.
    """

    source: str
    status: Indexed
    reason: str | None = None
    chunks: int | None = None
    tokens: int | None = None
    recipe: str | None = None
    indexed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What makes vectors comparable: two embedders with equal ones may share a collection."""

    id: str
    revision: str
    dim: int
    pooling: str = "mean"
    normalised: bool = True
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate of a search with what every stage says of it; None where a stage did not see it.

    `score` is the last stage's, higher is better on every path; `vector` is the raw cosine, which
    the threshold compares; `bm25` is higher for better, too. Ranks count from 1. `distance` is
    the metric's own where it has one. `dropped_by` names the stage that let it go, None where it
    is used.
    """

    chunk: Chunk
    source: str
    text: str
    rank: int
    score: float
    metric: str
    vector: float | None = None
    vector_rank: int | None = None
    bm25: float | None = None
    bm25_rank: int | None = None
    fused: float | None = None
    rerank: float | None = None
    distance: float | None = None
    dropped_by: str | None = None

    @property
    def used(self) -> bool:
        """Tell whether it is among the rows that were asked for."""
        return self.dropped_by is None


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in an answer and the place in a document that it names, by number `n`.

    All places are characters, half-open; `document.text[start:end] == cited_text`.
    """

    n: int
    chunk: str
    source: str
    start: int
    end: int
    cited_text: str
    answer_start: int
    answer_end: int
    score: float | None
    method: str


def chunk_id(source: str, recipe: Recipe, text: str, ordinal: int) -> str:
    """Return a chunk's id, the same whenever the same text of a source is cut the same way.

    `ordinal` counts from 0 the chunks of the document that have this text.
    """
    return chunk_ids(source, recipe)(text, ordinal)


def chunk_ids(source: str, recipe: Recipe) -> Callable[[str, int], str]:
    """Return what gives the ids of all chunks of one source."""
    begun = sha256(_encoded(f"{source}\0{recipe}\0{recipe.version}\0"))

    def identify(text: str, ordinal: int) -> str:
        whole = begun.copy()
        whole.update(_encoded(text))
        whole.update(b"\0%d" % ordinal)
        return whole.hexdigest()[:16]

    return identify


def _digest(text: str) -> str:
    return sha256(_encoded(text)).hexdigest()[:16]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
