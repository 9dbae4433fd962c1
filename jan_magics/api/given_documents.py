"""What is given to a collection: paths and addresses, a Series or a DataFrame.

It is looked at before the collection is made, so that what cannot be used leaves none behind.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.retrieval import Document, DocumentRow
from jan_magics.frames import is_frame, text_rows
from jan_magics.rag.decoding import clean
from jan_magics.rag.where import COLUMN, column_of

if TYPE_CHECKING:
    import pandas as pd

Given: TypeAlias = "str | Path | Iterable[str | Path] | pd.Series[Any] | pd.DataFrame"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    source: str
    words: str
    metadata: Mapping[str, Json]

    def read(self) -> Document | DocumentRow:
        """Return its text as a document, a row that says why where it has none."""
        if not self.words.strip():
            return DocumentRow(self.source, "skipped", "there is no text in it")
        cleaned = clean(self.words)
        return Document(
            self.source, cleaned.text, "row", metadata=self.metadata, warning=cleaned.warning
        )


@dataclass(frozen=True, slots=True)
class Taken:
    """What was given: paths and addresses, or the rows of a table; `said` is to be told of it."""

    paths: tuple[str | Path, ...] = ()
    rows: tuple[Row, ...] = ()
    said: tuple[str, ...] = ()


def taken(given: Given, text: str | None) -> Taken:
    """Return what was given as it can be read; `text` names the column of a DataFrame.

    Raises:
        SettingError: when nothing of this kind can be read.
    """
    if is_frame(given):
        return _rows(given, text)
    if text is not None:
        raise SettingError("text names a column, and no DataFrame was given", "Leave it out.")
    paths: object = [given] if isinstance(given, str | Path) else given
    if not isinstance(paths, Iterable) or isinstance(paths, bytes | Mapping):
        raise _strange(given)
    return Taken(tuple(map(checked, paths)))


def checked(path: object) -> str | Path:
    """Return a path or address as it is. Raises SettingError for what names nothing."""
    if not isinstance(path, str | Path):
        raise _strange(path)
    if not str(path).strip():
        raise SettingError(
            f"{path!r} names no file", "Name a file, a folder or a pattern; this folder is '.'"
        )
    if "\0" in str(path):
        raise SettingError(
            f"{str(path)!r} holds a NUL, and no file is called so",
            "Look where the name comes from: it may be what is in a file",
        )
    return path


def _rows(table: Any, text: str | None) -> Taken:
    rows = tuple(Row(*each) for each in text_rows(table, text))
    columns = rows[0].metadata if rows else ()
    return Taken(rows=rows, said=tuple(_said(each for each in columns if column_of(each) is None)))


def _said(hidden: Iterable[str]) -> Iterator[str]:
    """Yield what a column is called in a filter where its name means something else there."""
    for name in hidden:
        if name != "date":  # that is the date of its row
            yield f"the column {name!r} of the table is {COLUMN}{name} in --where"


def _strange(value: object) -> SettingError:
    return SettingError(
        f"{type(value).__name__} is nothing that can be added",
        "Give paths, a Series of texts, or a DataFrame with text='column'.",
    )
