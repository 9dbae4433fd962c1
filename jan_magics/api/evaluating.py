"""Measuring searches on questions whose answers are known, also under other recipes of chunks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from jan_magics.api.host import Showing, display_of
from jan_magics.api.retrieval_tables import report_table
from jan_magics.api.search_values import (
    RECIPE,
    SEARCH,
    search_values,
    shown_setting,
    tried_values,
)
from jan_magics.api.shelf import Shelf
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Hit, Recipe
from jan_magics.engine.retrieving import of_settings
from jan_magics.frames import is_frame, read_frame
from jan_magics.notebook.bridge import Stopped
from jan_magics.notebook.live import Display
from jan_magics.rag.chunking import cut
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.counting import counter_here
from jan_magics.rag.evaluate import K, Report, Search, Setting, measured, report_of, settings_of
from jan_magics.rag.ingest import add
from jan_magics.rag.judging import Judged, Question, among, read_questions
from jan_magics.rag.options import Options, check
from jan_magics.rag.recipes import completed, recipe_of
from jan_magics.rag.remembered import Remembered
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.search import search
from jan_magics.rag.where import read

if TYPE_CHECKING:
    import pandas as pd


BEST: Final = 3
"""Combinations that an interrupted measurement names; the table has all."""


@dataclass(slots=True)
class Bench:
    """A collection under test, and copies of it that are cut otherwise, gone with `stack`."""

    shelf: Shelf
    collection: RowCollection
    how: Mapping[str, Any]
    embedder: Embedder | None
    stack: ExitStack
    cut: dict[Recipe, RowCollection] = field(default_factory=dict)

    def options(self, setting: Setting) -> Options:
        """Return how a setting searches. Raises SettingError, WhereError, EmbedderError."""
        known = {**self.how, **{key: setting[key] for key in SEARCH if key in setting}}
        rerank = self.shelf.retriever().embedders.reranker(known.pop("rerank", None))
        options = Options(rerank=rerank, **known)
        check(options)
        read(options.where)
        return options

    def recipe(self, setting: Setting) -> Recipe | None:
        """Return how a setting cuts, None as it is cut. Raises SettingError."""
        chosen: dict[str, Any] = {key: setting[key] for key in RECIPE if key in setting}
        if not chosen:
            return None
        whole: dict[str, Any] = completed(chosen, self.collection.recipe)
        return recipe_of(counter_here(), **whole)

    def searching(self, setting: Setting) -> Search:
        """Return the search of a setting: as it was asked for, with what the setting says."""
        return partial(self._found, self._cut(self.recipe(setting)), self.options(setting))

    def _found(self, collection: RowCollection, options: Options, question: str) -> Sequence[Hit]:
        (found,) = search(collection, [question], options, self.embedder)
        return found.hits

    def _cut(self, recipe: Recipe | None) -> RowCollection:
        """Return the collection cut by a recipe; each is made once."""
        if recipe is None:
            return self.collection
        if recipe not in self.cut:
            counter = counter_here()
            folder = self.stack.enter_context(TemporaryDirectory())
            made = SqliteCollection(Path(folder) / "cut.db", self.collection.now)
            self.stack.callback(made.close)
            rows = self.collection.documents()
            documents = (self.collection.document(row.source) for row in rows)
            for _ in add(made, documents, recipe, lambda d, r: cut(d, r, counter), self.embedder):
                pass
            self.cut[recipe] = made
        return self.cut[recipe]


@dataclass(slots=True)
class Watch:
    """How far a measurement is, shown while it goes on; `at` counts settings and questions."""

    display: Display
    questions: int
    settings: Sequence[Setting]
    at: tuple[int, int] = (0, 0)

    def tell(self, settings: int, questions: int) -> None:
        """Show how far it is."""
        self.at = (settings, questions)
        self.display.update("", self.place())

    def place(self) -> str:
        """Say which question of which combination is searched."""
        settings, questions = self.at
        question = f"question {questions + 1:,} of {self.questions:,}"
        if len(self.settings) == 1:
            return question
        shown = shown_setting(self.settings[settings])
        return f"combination {settings + 1} of {len(self.settings)} ({shown}): {question}"

    def stopped(self, report: Report, table: "pd.DataFrame") -> Stopped:
        """Return what says what was measured until then; the table has it."""
        done = [(row.ndcg, row.setting) for row in report.settings if row.ndcg is not None]
        best = sorted(done, key=lambda each: -each[0])[:BEST]
        named = "; ".join(f"{shown_setting(setting)} nDCG {ndcg:.3f}" for ndcg, setting in best)
        kept = f"{counted(len(done), 'combination')} measured, the best: {named}"
        return Stopped(
            answer=table, why=f"at {self.place()} · {kept if done else 'nothing is measured yet'}"
        )


def evaluated(
    shelf: Shelf,
    questions: Any,
    grid: Mapping[str, Any] | None,
    how: Mapping[str, Any],
    *,
    per_question: bool = False,
) -> "pd.DataFrame":
    """Return how good searches are. `questions` is a table, or a file with one.

    `grid` maps options of a search, or size, overlap and splitter, to values to try.

    Raises:
        SettingError: when the table has no questions, or a key of the grid is not known.
        RetrievalError, EmbedderError: as the search does.
        Stopped: when it is interrupted, with what was measured.
    """
    settings = settings_of(tried_values(grid))
    session = shelf.host().session()
    known = {**of_settings(session.settings()), **search_values(how)}
    with _bench(shelf, known) as bench:
        for setting in settings:  # before the first of them is measured
            bench.options(setting)
            bench.recipe(setting)
        asked = _answerable(shelf, bench.collection, questions)
        watch = Watch(display_of(shelf.host(), Showing()), len(asked), settings)
        report, whole = _watched(bench, asked, known.get("k", K), watch)
    if session.engine.deck.playing:
        # A recording has the answers of that day, and nobody's times.
        report = replace(report, settings=tuple(replace(row, ms=None) for row in report.settings))
    table = report_table(report, per_question=per_question)
    if not whole:
        raise watch.stopped(report, table)
    return table


def _watched(bench: Bench, asked: Sequence[Question], k: int, watch: Watch) -> tuple[Report, bool]:
    """Return the report on what was measured, and whether that is all: an interrupt ends it."""
    judged: list[Sequence[Judged]] = []
    of = len(watch.settings)
    try:
        for each in measured(asked, watch.settings, bench.searching, k=k, tell=watch.tell):
            judged.append(each)  # noqa: PERF402 - those before an interrupt are kept
    except KeyboardInterrupt:
        pass
    finally:
        watch.display.clear(f"measured: {len(judged)} of {counted(of, 'combination')}")
    return report_of(asked, watch.settings, judged), len(judged) == of


def _answerable(shelf: Shelf, collection: RowCollection, questions: Any) -> Sequence[Question]:
    """Return the questions of a table. Raises SettingError where none is answered here."""
    sources = [row.source for row in collection.documents()]
    asked = among(questions_of(questions), frozenset(sources))
    if any(each.absent for each in asked) and not any(each.wanted for each in asked):
        example = next(each.absent[0].source for each in asked if each.absent)
        raise SettingError(
            f"no question is answered in {shelf.existing().name!r}: it has no source {example!r}",
            f"Name sources as %rag documents lists them, as {sources[0]!r}"
            if sources
            else "Add documents first: %rag add PATH",
        )
    return asked


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
    if not hasattr(table, "columns"):
        raise SettingError(
            "a Series has no columns question and source", "Give a DataFrame, or its file"
        )
    known = table.astype(object).where(table.notna(), None)
    rows = [{str(key): each for key, each in row.items()} for row in known.to_dict("records")]
    if not rows:
        raise SettingError(
            "the table has no questions", "Make some from your documents: %rag questions"
        )
    return read_questions(rows)
