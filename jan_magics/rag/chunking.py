"""Cut documents into chunks: spans that cover the text, each within the size by the counter.

White space goes with the chunk before it, so that the spans cover the whole document; only what
would be nothing but white space is no chunk. The size is hard: a grapheme cluster is cut only where
it alone exceeds it, and that chunk says so.
"""

from bisect import bisect_right
from collections.abc import Iterator

from jan_magics.domain.retrieval import Chunk, Document, Kind, Recipe, chunk_ids
from jan_magics.rag.counting import CharacterCounter, Counter
from jan_magics.rag.packing import Packing, Span
from jan_magics.rag.places import places_of
from jan_magics.rag.splitters import Passages, Splitter, Windows
from jan_magics.rag.structure import Structure, structure_of


def cut(document: Document, recipe: Recipe, counter: Counter) -> tuple[Chunk, ...]:
    """Return the chunks of a document, in its order; always the same for the same three.

    `counter` counts the tokens, also those of chunks whose size is in characters.
    """
    text = document.text
    structure = structure_of(text, _kind(document, recipe))
    measure = CharacterCounter() if recipe.unit == "chars" else counter
    packing = Packing(
        text, measure.tokens(text), _splitter(text, recipe, structure), recipe.size, recipe.overlap
    )  # fmt: skip
    return tuple(_chunks(document, recipe, structure, packing.spans(), counter))


def _kind(document: Document, recipe: Recipe) -> Kind:
    if recipe.splitter == "code":
        return "code"
    plain = document.kind in ("text", "table", "row")
    return "markdown" if recipe.splitter == "markdown" and plain else document.kind


def _splitter(text: str, recipe: Recipe, structure: Structure) -> Splitter:
    if recipe.splitter in ("chars", "tokens"):
        return Windows(text)
    return Passages(text, places_of(text), structure, alone=recipe.splitter == "markdown")


def _chunks(
    document: Document,
    recipe: Recipe,
    structure: Structure,
    spans: Iterator[Span],
    counter: Counter,
) -> Iterator[Chunk]:
    text, pages, identity = document.text, document.pages, document.id
    identify = chunk_ids(document.source, recipe)
    ordinals: dict[str, int] = {}
    index = 0
    for span in spans:
        content = text[span.start : span.end]
        if content.isspace():
            continue
        ordinal = ordinals.get(content, 0)
        ordinals[content] = ordinal + 1
        yield Chunk(
            identify(content, ordinal),
            identity,
            index,
            span.start,
            span.end,
            counter.count(content) if recipe.unit == "chars" else span.size,
            structure.path_at(text, span.start, span.end),
            bisect_right(pages, span.start) if pages else None,
            span.warning,
        )
        index += 1
