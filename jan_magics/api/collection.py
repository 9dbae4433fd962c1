"""`jan.Collection`: documents, how they are cut, and what a question finds in them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from jan_magics.api.evaluating import evaluated
from jan_magics.api.hit_tables import documents_table, explained_table, hits_table
from jan_magics.api.ingesting import Adding, Given, ingest
from jan_magics.api.opening import host_here
from jan_magics.api.retrieval_tables import questions_table
from jan_magics.api.shelf import Shelf, questions_in
from jan_magics.domain.errors import SettingError
from jan_magics.frames import frame
from jan_magics.rag.doctor import examine
from jan_magics.rag.questions import known_items

if TYPE_CHECKING:
    import pandas as pd


Where: TypeAlias = str | Mapping[str, Any] | None


class Collection:
    """A collection by its name or path; without either the notebook's own. `len()` counts chunks.

    Nothing is made before something is added. `embedder` is that of a new collection; another one
    than before makes all vectors anew while the old ones answer.
    """

    def __init__(
        self, name_or_path: str | Path | None = None, *, data_folder: str | Path | None = None,
        embedder: str | None = None, read_only: bool = False,
    ) -> None:  # fmt: skip
        if name_or_path is not None and not isinstance(name_or_path, str | Path):
            raise SettingError(
                f"a collection is named by text or a path, not {name_or_path!r}",
                "Write jan.Collection('support') or jan.Collection('support.db').",
            )
        own = None if data_folder is None else host_here({"data_folder": str(data_folder)})
        name = None if name_or_path is None else str(name_or_path)
        self._shelf = Shelf(own, name, read_only)
        self._embedder = embedder

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def __len__(self) -> int:
        if self._shelf.found() is None:
            return 0
        with self._shelf.open().snapshot() as snapshot:
            return snapshot.count()

    def __repr__(self) -> str:
        return f"Collection({self._shelf.name!r})"

    def close(self) -> None:
        """Close what was opened for it alone."""
        if self._shelf.own_host is not None:
            self._shelf.own_host.close()

    def add(  # noqa: PLR0913 - the surface
        self, paths_or_series_or_frame: Given, *, size: int | str = 200, overlap: int | str = 40,
        splitter: str = "recursive", text: str | None = None, embedder: str | None = None,
        dask: str | None = None,
    ) -> "pd.DataFrame":  # fmt: skip
        """Read, cut, embed and keep documents; a row for each of them says what became of it.

        Files, folders and patterns by their paths; a Series of texts; a DataFrame whose column
        `text` holds them and whose other columns `--where` can name. What is there unchanged costs
        nothing. Sizes are tokens, or characters with a `c` ("512c").

        Raises:
            SettingError: when a size, a splitter or what is given cannot be used.
            EmbedderError: when the embedder is not installed, or fails.
            RetrievalError: when the collection is read-only, or cannot be read.
        """
        if dask is not None:
            raise SettingError("documents cannot be read on Dask yet", "Leave dask out.")
        recipe = {"size": size, "overlap": overlap, "splitter": splitter}
        # Before the collection is made: one that cannot be filled leaves none behind.
        chosen = self._shelf.embedder(embedder or self._embedder)
        listed = self._shelf.retriever().collections.obtain(self._shelf.name)
        collection = self._shelf.writable(listed)
        adding = Adding(collection, listed, recipe, chosen)
        rows = ingest(self._shelf.host(), adding, paths_or_series_or_frame, text)
        return documents_table(rows)

    def documents(self) -> "pd.DataFrame":
        """Return what is in it, a row a document, by source."""
        return documents_table(self._shelf.open().documents())

    def remove(self, source: str) -> None:
        """Forget a document: nothing of it is found any more. Raises RetrievalError."""
        self._shelf.writable(self._shelf.existing()).remove(source)

    def delete(self, off: bool = False) -> None:  # noqa: FBT001, FBT002 - the surface
        """Move the collection to the bin; `off` takes that back, the last deletion of this name.

        Raises:
            RetrievalError: when it is not there, or another one has taken its place meanwhile.
        """
        if off:
            self._shelf.take_back()
        else:
            self._shelf.retriever().collections.delete(self._shelf.existing())

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

    def doctor(self, vacuum: bool = False) -> "pd.DataFrame":  # noqa: FBT001, FBT002
        """Return a row a check; with `vacuum` the file is first made as small as it can be."""
        listed = self._shelf.existing()
        if vacuum:
            self._shelf.writable(listed).vacuum()
        found = [*examine(self._shelf.open()), *self._shelf.in_the_bin()]
        return frame("doctor", map(asdict, found))
