"""Measuring searches on questions whose answers are known, also under other recipes of chunks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from jan_magics.api.shelf import Shelf
from jan_magics.domain.errors import SettingError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Hit
from jan_magics.engine.retrieving import of_settings
from jan_magics.frames import is_frame, read_frame
from jan_magics.rag.chunking import cut
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.counting import counter_here
from jan_magics.rag.evaluate import Report, Search, Setting, evaluate, settings_of
from jan_magics.rag.ingest import add
from jan_magics.rag.judging import Question, read_questions
from jan_magics.rag.options import Options
from jan_magics.rag.recipes import recipe_of
from jan_magics.rag.remembered import Remembered
from jan_magics.rag.search import search

RECIPE: Final = ("size", "overlap", "splitter")
SEARCH: Final = ("k", "mode", "threshold", "rerank", "where", "fusion", "weight", "index")


@dataclass(slots=True)
class Bench:
    """A collection under test, and copies of it that are cut otherwise, gone with `stack`."""

    shelf: Shelf
    collection: SqliteCollection
    how: Mapping[str, Any]
    embedder: Embedder | None
    stack: ExitStack
    cut: dict[tuple[Any, ...], SqliteCollection] = field(default_factory=dict)

    def searching(self, setting: Setting) -> Search:
        """Return the search of a setting: as it was asked for, with what the setting says."""
        known = {**self.how, **{key: setting[key] for key in SEARCH if key in setting}}
        rerank = self.shelf.retriever().embedders.reranker(known.pop("rerank", None))
        options = Options(rerank=rerank, **known)
        collection = self._cut({key: setting[key] for key in RECIPE if key in setting})
        return partial(self._found, collection, options)

    def _found(
        self, collection: SqliteCollection, options: Options, question: str
    ) -> Sequence[Hit]:
        (found,) = search(collection, [question], options, self.embedder)
        return found.hits

    def _cut(self, recipe: Mapping[str, Any]) -> SqliteCollection:
        """Return the collection cut by a recipe; each is made once."""
        if not recipe:
            return self.collection
        key = tuple(sorted(recipe.items()))
        if key not in self.cut:
            counter = counter_here()
            chosen = recipe_of(counter, **recipe)
            folder = self.stack.enter_context(TemporaryDirectory())
            made = SqliteCollection(Path(folder) / "cut.db", self.collection.now)
            self.stack.callback(made.close)
            rows = self.collection.documents()
            documents = (self.collection.document(row.source) for row in rows)
            for _ in add(made, documents, chosen, lambda d, r: cut(d, r, counter), self.embedder):
                pass
            self.cut[key] = made
        return self.cut[key]


def evaluated(
    shelf: Shelf, questions: Any, grid: Mapping[str, Sequence[Any]] | None, how: Mapping[str, Any]
) -> Report:
    """Return how good searches are. `questions` is a table, or a file with one.

    `grid` maps options of a search, or size, overlap and splitter, to values to try.

    Raises:
        SettingError: when the table has no questions, or a key of the grid is not known.
        RetrievalError, EmbedderError: as the search does.
    """
    for key in grid or {}:
        if key not in (*RECIPE, *SEARCH):
            raise SettingError(
                f"no key {key!r} in a grid of searches",
                f"It can be: {', '.join((*SEARCH, *RECIPE))}",
            )
    known = {**of_settings(shelf.host().session().settings()), **how}
    k = known.get("k", 5)
    with _bench(shelf, known) as bench:
        return evaluate(questions_of(questions), settings_of(grid), bench.searching, k=k)


@contextmanager
def _bench(shelf: Shelf, how: Mapping[str, Any]) -> Iterator[Bench]:
    collection = shelf.open()
    own = shelf.retriever().embedders.of(collection.fingerprint)
    # A question or a text is embedded once, under however many settings it is tried.
    embedder = Remembered(own) if own else None
    with ExitStack() as stack:
        yield Bench(shelf, collection, how, embedder, stack)


def questions_of(given: Any) -> tuple[Question, ...]:
    """Return the questions of a table or of a file with one. Raises SettingError."""
    table = given if is_frame(given) else read_frame(given)
    rows = [{str(key): each for key, each in row.items()} for row in table.to_dict("records")]
    if not rows:
        raise SettingError(
            "the table has no questions", "Make some from your documents: %rag questions"
        )
    return read_questions(rows)
