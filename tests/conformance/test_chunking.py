"""Chunks of the reference, and where ours differ from them on purpose."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.domain.errors import SettingError
from jan_magics.domain.retrieval import Document
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import estimated
from jan_magics.rag.fitting import fitted
from jan_magics.rag.recipes import recipe_of
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas


class Characters:
    """An embedder to which each character is so many tokens."""

    def __init__(self, each: int) -> None:
        self.each = each

    def tokens(self, text: str) -> int:
        return len(text) * self.each


def run_chunk_text(given: Any) -> object:
    """Cut as the reference does: windows of characters."""
    size, overlap = given["chunk_size"], given["chunk_overlap"]
    try:
        recipe = recipe_of(estimated(), size=f"{size}c", overlap=f"{overlap}c", splitter="chars")
    except SettingError as refused:
        return {"error": refused.message}
    chunks = cut(Document("a", given["text"]), recipe, estimated())
    return [given["text"][chunk.start : chunk.end] for chunk in chunks]


def run_clamp(given: Any) -> object:
    """Return the size that a text is cut to, whatever the embedder can read."""
    size, overlap = given["chunk_size"], given["chunk_overlap"]
    recipe = recipe_of(estimated(), size=f"{size}c", overlap=f"{overlap}c", splitter="chars")
    return recipe.size


def run_split(given: Any) -> object:
    """Cut a chunk again that an embedder cannot read whole."""
    length = given["text_length"]
    document = Document("a", "x" * length)
    recipe = recipe_of(estimated(), size=f"{length}c", overlap="0c", splitter="chars")
    chunks = cut(document, recipe, estimated())
    embedder = Characters(given["tokens_per_char"])
    pieces = fitted(document, recipe, chunks, embedder, given["token_budget"])
    return [piece.end - piece.start for piece in pieces]


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {
        "rag.chunk_text": run_chunk_text,
        "rag.clamp_chunk_size": run_clamp,
        "rag.split_to_fit": run_split,
    }
)
REFUSED: Final = "an overlap as large as the size is refused: a step of one character helps nobody"
OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "rag.chunk_text/overlap_equal_size": Ours(
            {"error": "the overlap 3 is not smaller than the size 3"}, REFUSED
        ),
        "rag.chunk_text/overlap_greater": Ours(
            {"error": "the overlap 9 is not smaller than the size 2"}, REFUSED
        ),
        "rag.chunk_text/size_zero": Ours(
            {"error": "the size 0 is not between 1 and 8,192"},
            "a size of nothing is refused instead of giving nothing",
        ),
        "rag.clamp_chunk_size/tiny_ctx_min64": Ours(
            512,
            "the size stays what was asked for; a chunk that the embedder cannot read whole is cut "
            "again by the embedder's own count, with its reason",
        ),
        "rag.split_to_fit/min_stop": Ours(
            [1] * 64, "what the embedder reads is a limit, also below 64 characters"
        ),
    }
)


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_chunks(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)
