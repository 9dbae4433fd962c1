"""What a question finds in a collection, why, and how good that is: the half that only reads."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from jan_magics.api.evaluating import evaluated
from jan_magics.api.hit_tables import explained_table, hits_table
from jan_magics.api.retrieval_tables import questions_table
from jan_magics.api.shelf import Shelf, questions_in
from jan_magics.rag.questions import known_items

if TYPE_CHECKING:
    import pandas as pd

Where: TypeAlias = str | Mapping[str, Any] | None


class Searching:
    """A collection that is asked; `shelf` finds and opens it."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def search(  # noqa: PLR0913 - the surface
        self, text_or_list_or_series: str | Iterable[str], *, k: int = 5, mode: str = "hybrid",
        threshold: float | None = None, rerank: str | None = None, where: Where = None,
        all: bool = False,
    ) -> "pd.DataFrame":  # fmt: skip
        """Return what questions find, with every score of every stage; higher is better.

        At most k rows a question, or `all` candidates with what dropped them. `threshold` is a
        cosine. `attrs` say how it was searched.

        Raises:
            SettingError, WhereError: when the options make no sense.
            EmbedderError: when vectors are asked for and cannot be had.
            RetrievalError: when the collection or a question is empty.
        """
        several = not isinstance(text_or_list_or_series, str)
        asked = questions_in(text_or_list_or_series)
        how = {"k": k, "mode": mode, "threshold": threshold, "where": where, "all": all}
        return hits_table(self._shelf.search(asked, rerank, how), several=several)

    def explain(  # noqa: PLR0913 - the surface
        self, text: str, chunk: str, *, k: int = 5, mode: str = "hybrid",
        threshold: float | None = None, rerank: str | None = None, where: Where = None,
    ) -> "pd.DataFrame":  # fmt: skip
        """Return which options would let a chunk in, and its rank then; then a row a stage.

        Each is turned alone; where that is not enough, the fewest together. `attrs` say at which
        stage it was lost. Raises as `search`, and RetrievalError for no such
        chunk.
        """
        how = {"k": k, "mode": mode, "threshold": threshold, "where": where}
        return explained_table(self._shelf.explain(text, chunk, rerank, how))

    def questions(self, n: int = 50) -> "pd.DataFrame":
        """Return at most n questions that headings, glossaries and FAQs of the documents answer.

        Raises:
            SettingError: when n is no number of questions.
        """
        collection = self._shelf.open()
        documents = (collection.document(row.source) for row in collection.documents())
        return questions_table(known_items(documents, n))

    def evaluate(
        self, questions: Any, *, grid: Mapping[str, Any] | None = None,
        per_question: bool = False, **search: Any,
    ) -> "pd.DataFrame":  # fmt: skip
        """Return how good searches are, a row a setting of the grid, or a row a question.

        `questions` is a table with `question, source` and perhaps `start, end`, or its file. The
        grid maps options of a search, or size, overlap and splitter, to values. `attrs` say which
        questions do not count, and where hybrid loses.

        Raises:
            SettingError: when the questions or a key of the grid cannot be used.
            Stopped: when it is interrupted; its `answer` is what was measured until then.
        """
        return evaluated(self._shelf, questions, grid, search, per_question=per_question)
