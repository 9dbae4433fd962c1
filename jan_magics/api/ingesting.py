"""What is given becomes documents of a collection; told while it goes on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from jan_magics.api.fetching import document_at
from jan_magics.api.given_documents import Row, Taken
from jan_magics.api.hit_tables import documents_table
from jan_magics.api.host import Host, Showing, display_of
from jan_magics.api.working import Adding, ReadAhead, working
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError
from jan_magics.domain.retrieval import Document, DocumentRow, Recipe
from jan_magics.engine.fetching import is_address
from jan_magics.notebook.bridge import Stopped
from jan_magics.notebook.ingest_news import IngestNews, ingest_news
from jan_magics.notebook.live import Display
from jan_magics.rag.counting import Counter
from jan_magics.rag.documents import read
from jan_magics.rag.finding import found, source_of
from jan_magics.rag.ingest import add
from jan_magics.rag.limits import MEGABYTE, Limits, Unreadable
from jan_magics.rag.matching import gone, typed
from jan_magics.rag.recipes import SMALLEST_STORED, Keeping, completed, recipe_of

_GOING_ON: Final[Mapping[str, str]] = MappingProxyType({
    "documents": "documents", "chunks": "texts embedded", "re-embedded": "texts re-embedded",
    "cut again": "documents cut again", "sent": "documents sent",
})  # fmt: skip
"""What is said of each thing that is counted while it goes on."""
_IN: Final = ("added", "replaced", "unchanged")


def recipe_for(counter: Counter, named: Mapping[str, Any], kept: Recipe | None) -> Recipe | Keeping:
    """Return how what is added is cut: as was named, else as each document and the collection is.

    Raises:
        SettingError: when it cannot be cut so.
    """
    how = completed(named, kept)
    chosen = recipe_of(counter, **how, smallest=SMALLEST_STORED)  # type: ignore[arg-type]
    return chosen if named else Keeping(chosen, counter)


def refuse_where_off(host: Host) -> None:
    """Raise SettingError where retrieval is switched off."""
    if host.session().settings().get("rag.enabled").value == "off":
        raise SettingError(
            "retrieval is off (rag.enabled), and nothing is read",
            "Switch it on: %config JanMagics.rag_enabled = 'on'",
        )


def ingest(host: Host, adding: Adding, taken: Taken) -> list[DocumentRow]:
    """Write what was given into a collection; returns what became of each document.

    An interrupt stops between two documents; those that are written stay.

    Raises:
        Stopped: when it was interrupted; says how many are in.
    """
    limits = Limits(int(host.session().settings().get("rag.max_file_mb").value or 100) * MEGABYTE)
    pieces = _Pieces(host, adding, limits)
    telling = Telling.of(host, adding.listed.name)
    chosen = adding.recipe.recipe if isinstance(adding.recipe, Keeping) else adding.recipe
    kept: list[DocumentRow] = []
    said = f"{adding.listed.name}: not finished"
    try:
        telling.total = pieces.find(taken)
        adding.collection.cut_by(chosen)
        with working(adding, pieces.files(), limits) as work:
            rows = add(
                adding.collection,
                pieces.documents(work.read),
                adding.recipe,
                work.cut,
                work.embedder,
                telling.progress,
            )
            for row in rows:
                kept.append(row)  # noqa: PERF402 - what is in stays known when it is interrupted
        kept += pieces.left()
        said = f"{adding.listed.name}: {counted(len(kept), 'document')}"
    except KeyboardInterrupt:
        raise Stopped(answer=documents_table(kept), why=telling.stopped(kept)) from None
    finally:
        telling.end(said)
    return kept


@dataclass(slots=True)
class Telling:
    """How far it is; `total` counts what was given, 0 until that is known."""

    display: Display
    name: str
    news: IngestNews
    total: int = 0
    last: tuple[str, int, int | None] = ("documents", 0, None)

    @classmethod
    def of(cls, host: Host, name: str) -> Self:
        """Return what tells of a collection of that name, in the running cell and to pages."""
        return cls(display_of(host, Showing()), name, ingest_news(host.shell, name))

    def end(self, said: str) -> None:
        """Say how it ended."""
        self.display.clear(said)
        self.news.over()

    def progress(self, what: str, done: int, total: int | None) -> None:
        """Show what is done, and of how many."""
        self.last = what, done, total
        total = self.total if what == "documents" else total
        of = f" of {total:,}" if total and total >= done else ""
        self.display.update("", f"{self.name}: {done:,}{of} {_GOING_ON[what]}")
        self.news.tell(what, done, total if of else None)

    def stopped(self, rows: Sequence[DocumentRow]) -> str:
        """Say what is kept of a run that was interrupted."""
        what, done, total = self.last
        if what == "re-embedded":
            return (
                f"{done:,} of {total:,} texts are embedded anew, and all is as before until the"
                " last one is; the same line goes on"
            )
        known = sum(row.status in _IN for row in rows)
        of = f"{known:,} of {self.total:,}" if self.total else f"{known:,}"
        return f"{of} documents are in; the same line goes on"


@dataclass(slots=True)
class _Pieces:
    """What was given, piece by piece: addresses first, then files, or the rows of a table."""

    host: Host
    adding: Adding
    limits: Limits
    all: Sequence[Row | Path | Unreadable | str] = ()
    gone: dict[str, None] = field(default_factory=dict)

    def find(self, taken: Taken) -> int:
        """Find all files at once, and return how many there are: that is told as they are read."""
        paths = taken.paths
        addresses = [each for each in paths if isinstance(each, str) and is_address(each)]
        files = [each for each in paths if each not in addresses]
        self.all = [*taken.rows, *addresses, *found(files, self.limits)]
        sources = self.adding.collection.sources(of_files=True) if files else ()
        self.gone = dict.fromkeys(gone(files, sources, self.adding.listed.base))
        return len(self.all)

    def files(self) -> Iterator[tuple[Path, str]]:
        """Yield the files with what they are called, in their order."""
        for each in self.all:
            if isinstance(each, Path):
                yield each, source_of(each, self.adding.listed.base)

    def documents(self, ahead: ReadAhead) -> Iterator[Document | DocumentRow]:
        """Yield documents, and a row for what cannot be read."""
        for each in self.all:
            piece = self._read(each, ahead)
            if not isinstance(piece, Unreadable):
                yield piece
            elif piece.source in self.gone:
                del self.gone[piece.source]
                yield self._no_longer(piece.source)
            else:
                yield DocumentRow(piece.source, "failed", piece.reason)

    def left(self) -> list[DocumentRow]:
        """Return a row for each document among what was given whose file is no longer there."""
        return [self._no_longer(source) for source in self.gone]

    def _read(
        self, each: Row | Path | Unreadable | str, ahead: ReadAhead
    ) -> Document | DocumentRow | Unreadable:
        if isinstance(each, Row):
            return each.read()
        if isinstance(each, str):
            return document_at(self.host, each, self.limits)
        if isinstance(each, Path):
            done = ahead(each)
            source = source_of(each, self.adding.listed.base)
            return read(each, self.limits, source) if done is None else done
        return each

    def _no_longer(self, source: str) -> DocumentRow:
        where = f" -c {typed(self.adding.name)}" if self.adding.name else ""
        return DocumentRow(
            source, "skipped", f"no longer there: %rag remove{where} {typed(source)}"
        )
