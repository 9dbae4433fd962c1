"""What is added to a collection: files, folders, a Series or a DataFrame; told while it goes on."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from jan_magics.api.fetching import document_at
from jan_magics.api.hit_tables import documents_table
from jan_magics.api.host import Host, Showing, display_of
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Document, DocumentRow, Recipe
from jan_magics.engine.fetching import is_address
from jan_magics.engine.listed import Listed
from jan_magics.frames import is_frame, text_rows
from jan_magics.notebook.bridge import Stopped
from jan_magics.rag.chunking import cut
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.counting import Counter, counter_here
from jan_magics.rag.decoding import clean
from jan_magics.rag.documents import read
from jan_magics.rag.finding import found, source_of
from jan_magics.rag.ingest import add
from jan_magics.rag.limits import MEGABYTE, Limits, Unreadable
from jan_magics.rag.recipes import recipe_of

if TYPE_CHECKING:
    import pandas as pd

Given: TypeAlias = "str | Path | Iterable[str | Path] | pd.Series[Any] | pd.DataFrame"

SMALLEST = 64
"""Tokens that a chunk of a collection may have at least."""


@dataclass(frozen=True, slots=True)
class Adding:
    """Into which collection documents go, how they are cut, and who makes their vectors."""

    collection: SqliteCollection
    listed: Listed
    recipe: Mapping[str, int | str]
    embedder: Embedder | None


def ingest(host: Host, adding: Adding, given: Given, text: str | None) -> list[DocumentRow]:
    """Write what was given into a collection; returns what became of each document.

    An interrupt stops between two documents; those that are written stay.

    Raises:
        SettingError: when retrieval is off, or what was given is nothing that can be read.
    """
    settings = host.session().settings()
    if settings.get("rag.enabled").value == "off":
        raise SettingError(
            "retrieval is off (rag.enabled), and nothing is read",
            "Switch it on: %config JanMagics.rag_enabled = 'on'",
        )
    limits = Limits(int(settings.get("rag.max_file_mb").value or 100) * MEGABYTE)
    counter = counter_here()
    chosen = recipe_of(counter, **adding.recipe, smallest=SMALLEST)  # type: ignore[arg-type]
    display = display_of(host, Showing())

    def tell(what: str, done: int, total: int | None) -> None:
        of = f" of {total}" if total else ""
        display.update("", f"{adding.listed.name}: {counted(done, what.removesuffix('s'))}{of}")

    at = partial(document_at, host, limits=limits)
    documents = documents_of(given, text, adding.listed.base, limits, at)
    rows = add(adding.collection, documents, chosen, partial(_cut, counter), adding.embedder, tell)
    said, kept = f"{adding.listed.name}: not finished", list[DocumentRow]()
    try:
        for row in rows:
            kept.append(row)
        said = f"{adding.listed.name}: {counted(len(kept), 'document')}"
    except KeyboardInterrupt:
        why = f"{counted(len(kept), 'document')} done, and kept · the rest: the same once more"
        raise Stopped(answer=documents_table(kept), why=why) from None
    finally:
        display.clear(said)
    return kept


def documents_of(
    given: Given,
    text: str | None,
    base: Path | None,
    limits: Limits,
    at: Callable[[str], Document | Unreadable],
) -> Iterator[Document | DocumentRow]:
    """Yield documents, and a row for what cannot be read; `base` is what paths are relative to.

    `at` fetches what stands at an address.

    Raises:
        SettingError: when nothing of this kind can be read.
    """
    if is_frame(given):
        for source, words, metadata in text_rows(given, text):
            yield _row(source, words, metadata) if words and words.strip() else _empty(source)
        return
    if text is not None:
        raise SettingError("text names a column, and no DataFrame was given", "Leave it out.")
    paths = [given] if isinstance(given, str | Path) else list(_paths(given))
    for each in _read(paths, base, limits, at):
        if isinstance(each, Unreadable):
            yield DocumentRow(each.source, "failed", each.reason)
        else:
            yield each


def _read(
    paths: Iterable[str | Path],
    base: Path | None,
    limits: Limits,
    at: Callable[[str], Document | Unreadable],
) -> Iterator[Document | Unreadable]:
    files = []
    for path in paths:
        if isinstance(path, str) and is_address(path):
            yield at(path)
        else:
            files.append(path)
    for each in found(files, limits):
        yield each if isinstance(each, Unreadable) else read(each, limits, source_of(each, base))


def _paths(given: Any) -> Iterator[str | Path]:
    if not isinstance(given, Iterable):
        raise _strange(given)
    for each in given:
        if not isinstance(each, str | Path):
            raise _strange(each)
        yield each


def _strange(value: object) -> SettingError:
    return SettingError(
        f"{type(value).__name__} is nothing that can be added",
        "Give paths, a Series of texts, or a DataFrame with text='column'.",
    )


def _row(source: str, words: str, metadata: Mapping[str, Json]) -> Document:
    cleaned = clean(words)
    return Document(source, cleaned.text, metadata=metadata, warning=cleaned.warning)


def _empty(source: str) -> DocumentRow:
    return DocumentRow(source, "skipped", "there is no text in it")


def _cut(counter: Counter, document: Document, recipe: Recipe) -> Any:
    return cut(document, recipe, counter)
