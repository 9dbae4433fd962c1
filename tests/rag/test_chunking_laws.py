"""Laws of chunks, for every splitter, on texts of all kinds."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.domain.retrieval import Chunk, Document, Recipe
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import Counter, counter_here, estimated
from jan_magics.rag.graphemes import is_boundary
from tests.rag.texts import PIECES, counter_of, recipes, texts

KINDS = ("text", "markdown", "rst", "code", "table")
kinds = st.sampled_from(KINDS)


def document(text: str, kind: str) -> Document:
    return Document("a.md", text, kind)  # type: ignore[arg-type]  # one of KINDS


def chunks(text: str, kind: str, recipe: Recipe, counter: Counter | None = None) -> list[Chunk]:
    return list(cut(document(text, kind), recipe, counter or counter_here()))


@settings(max_examples=400, deadline=None)
@given(texts, kinds, recipes())
def test_chunks_are_spans_that_cover_the_text(text: str, kind: str, recipe: Recipe) -> None:
    found = chunks(text, kind, recipe)
    assert [chunk.index for chunk in found] == list(range(len(found)))
    done = 0
    for chunk in found:
        # What no chunk holds is white space.
        assert not text[done : chunk.start].strip()
        assert 0 <= chunk.start < chunk.end <= len(text)
        assert text[chunk.start : chunk.end].strip()
        done = max(done, chunk.end)
    assert not text[done:].strip()


@settings(max_examples=400, deadline=None)
@given(texts, kinds, recipes())
def test_starts_and_ends_strictly_increase(text: str, kind: str, recipe: Recipe) -> None:
    for before, after in pairwise(chunks(text, kind, recipe)):
        assert before.start < after.start
        assert before.end < after.end


@settings(max_examples=400, deadline=None)
@given(texts, kinds, recipes())
def test_no_more_than_the_overlap_is_shared(text: str, kind: str, recipe: Recipe) -> None:
    counter = counter_of(recipe)
    for before, after in pairwise(chunks(text, kind, recipe)):
        assert counter.count(text[after.start : before.end]) <= recipe.overlap


@settings(max_examples=400, deadline=None)
@given(texts, kinds, recipes())
def test_the_size_is_hard_and_counted_exactly(text: str, kind: str, recipe: Recipe) -> None:
    counter = counter_of(recipe)
    for chunk in chunks(text, kind, recipe):
        content = text[chunk.start : chunk.end]
        size = counter.count(content)
        assert size <= recipe.size or (len(content) == 1 and chunk.warning)
        assert chunk.tokens == counter_here().count(content)


@settings(max_examples=400, deadline=None)
@given(texts, kinds, recipes())
def test_clusters_are_whole_unless_one_alone_exceeds_the_size(
    text: str, kind: str, recipe: Recipe
) -> None:
    for chunk in chunks(text, kind, recipe):
        whole = is_boundary(text, chunk.start) and is_boundary(text, chunk.end)
        assert whole or recipe.size < counter_of(recipe).count(cluster_around(text, chunk))


def cluster_around(text: str, chunk: Chunk) -> str:
    """Return the cluster that a chunk's torn end is in."""
    torn = chunk.end if not is_boundary(text, chunk.end) else chunk.start
    start = end = torn
    while not is_boundary(text, start):
        start -= 1
    while not is_boundary(text, end):
        end += 1
    return text[start:end]


@settings(max_examples=200, deadline=None)
@given(texts, kinds, recipes())
def test_the_same_text_is_cut_the_same_way_and_each_chunk_has_an_id(
    text: str, kind: str, recipe: Recipe
) -> None:
    found = chunks(text, kind, recipe)
    assert found == chunks(text, kind, recipe)
    assert len({chunk.id for chunk in found}) == len(found)


@settings(max_examples=200, deadline=None)
@given(texts, kinds, recipes(estimated()))
def test_an_estimate_holds_its_own_limit(text: str, kind: str, recipe: Recipe) -> None:
    counter = estimated()
    found = chunks(text, kind, recipe, counter)
    for chunk in found:
        content = text[chunk.start : chunk.end]
        size = len(content) if recipe.unit == "chars" else counter.count(content)
        assert size <= recipe.size or (len(content) == 1 and chunk.warning)
    assert "".join(text.split()) == "".join(joined(text, found).split())


def joined(text: str, found: list[Chunk]) -> str:
    done, parts = 0, []
    for chunk in found:
        parts.append(text[max(done, chunk.start) : chunk.end])
        done = chunk.end
    return "".join(parts)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join), st.data())
def test_a_stretch_is_counted_as_it_would_be_by_itself(text: str, data: st.DataObject) -> None:
    counter = counter_here()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    tokens = counter.tokens(text)
    assert tokens.count(start, end, 0, len(tokens.borders)) == counter.count(text[start:end])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_has_no_chunk(kind: str) -> None:
    recipe = Recipe()
    assert chunks("", kind, recipe) == []
    assert chunks(" \n\t\r\n ", kind, recipe) == []
