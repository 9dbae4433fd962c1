"""Who reads, cuts and embeds what is added: this kernel, or workers of Dask ahead of it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Chunk, Document, Recipe
from jan_magics.engine.listed import Listed
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import Counter
from jan_magics.rag.embedders import WordsAlone
from jan_magics.rag.ingest import Cut
from jan_magics.rag.limits import Limits, Unreadable
from jan_magics.rag.recipes import Keeping
from jan_magics.rag.row_collection import RowCollection

ReadAhead: TypeAlias = Callable[[Path], Document | Unreadable | None]
"""Returns a file as it was read already, None where it was not."""


@dataclass(frozen=True, slots=True)
class Adding:
    """Into which collection documents go, how they are cut, and who makes their vectors.

    `name` is what the user called it, None for the default. `dask` is where workers are asked.
    """

    collection: RowCollection
    listed: Listed
    recipe: Recipe | Keeping
    counter: Counter
    embedder: Embedder | WordsAlone | None
    name: str | None = None
    dask: str | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """How what is added is read, cut and embedded."""

    read: ReadAhead
    cut: Cut
    embedder: Embedder | WordsAlone | None


@contextmanager
def working(adding: Adding, files: Iterator[tuple[Path, str]], limits: Limits) -> Iterator[Work]:
    """Give who does the work. Raises SettingError when the workers cannot be asked."""
    if adding.dask is None:
        here = partial(_cut, adding.counter)
        yield Work(lambda _: None, here, adding.embedder)
        return
    from jan_magics.rag.distributed import Ahead, Job, connected, prepared

    own = None if isinstance(adding.embedder, WordsAlone) else adding.embedder

    def job(path: Path, source: str) -> Job:
        known = adding.collection.known(source)
        recipe = adding.recipe
        if isinstance(recipe, Keeping):
            recipe = recipe.recipe if known is None else recipe.own(known.recipe)
        made_by = own.fingerprint if own else None
        # A worker does not cut what is there already; that the embedder is another one, it sees.
        same = known is not None and adding.collection.fingerprint == made_by
        content = known.content if known is not None and same and known.recipe == recipe else None
        return Job(str(path), source, limits, recipe, adding.counter.name, made_by, content)

    with connected(adding.dask) as client:
        ahead = Ahead(client, (job(*each) for each in files), adding.counter)
        yield Work(ahead.read, ahead.cut, adding.embedder if own is None else prepared(own, ahead))


def _cut(counter: Counter, document: Document, recipe: Recipe) -> Sequence[Chunk]:
    return cut(document, recipe, counter)
