"""A session on a store of its own, with the offline model: what a kernel has, without a kernel."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from jan_magics.domain.messages import Message, text_of
from jan_magics.domain.models import ChatOptions, ModelInfo
from jan_magics.domain.overlays import CellLink
from jan_magics.domain.protocols import Provider, Store
from jan_magics.engine.asking import Asking
from jan_magics.engine.assistants import Assistants
from jan_magics.engine.cells import Here, marks_of
from jan_magics.engine.choose import Finder
from jan_magics.engine.collections import Collections
from jan_magics.engine.embedding import Embedders
from jan_magics.engine.engine import Engine
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Progress
from jan_magics.engine.retrieving import Retriever
from jan_magics.engine.session import Session
from jan_magics.engine.settings import Settings, Source
from jan_magics.engine.threads import Threads
from jan_magics.engine.titling import Titling
from jan_magics.notebook.identity import NotebookFiles
from jan_magics.providers.offline import Behaviour, OfflineProvider
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.search import Search
from jan_magics.storage.sqlite import SqliteStore

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Kernel:
    """A session that can be opened again; ids and times count up.

    `provider` answers instead of the offline one.
    """

    folder: Path
    store: str = "sqlite"
    behaviour: Behaviour = field(default_factory=Behaviour)
    settings: dict[str, object] = field(default_factory=dict)
    provider: Provider | None = None
    shown: list[str] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.session = self.open()

    def open(self) -> Session:
        """Open the session as a restarted kernel would."""
        store, folder = self._store(), self.folder
        engine = Engine(
            store, folder, self._now, self._id,
            lambda _: self.provider or OfflineProvider(self.behaviour),
            self._released, Search(folder / "search.db", store),
        )  # fmt: skip
        sources = (Source("the test", {"model": "offline:echo", **self.settings}),)
        # Always the same cell, so that the notebook is known again.
        here = Here(str(folder / "work.ipynb"), marks_of("0a1b2c3d", ""))
        threads = Threads(engine, lambda: here, NotebookFiles())
        finder = Finder(_nothing, lambda: None)
        known = Assistants(folder / "assistants", self._id, self._now)
        settings = Settings(sources, {})
        self.session = Session(engine, threads, finder, lambda: settings, known, Titling(engine))
        self.session.retriever = cache(lambda: self._retriever(settings))
        return self.session

    def _retriever(self, settings: Settings) -> Retriever:
        folder, here = self.folder / "collections", str(self.folder / "work.ipynb")
        places = (lambda: here, tuple[str, ...], lambda: settings.get("project").value)
        return Retriever(
            Collections(folder, self._now, self._id, *places), Embedders(lambda: settings)
        )

    def ask(self, text: str = "", **asking: Any) -> Outcome:
        """Make a turn."""
        self.shown.clear()
        return asyncio.run(self.session.send(self.asking(text, **asking), self._show))

    def asking(self, text: str = "", **asking: Any) -> Asking:
        """Make an asking; `options` are fields of ChatOptions, `cell` is a cell's id."""
        cell, options = asking.pop("cell", None), asking.pop("options", {})
        link = CellLink("work.ipynb", cell, 0, "") if cell else None
        return Asking(text, options=ChatOptions(**options), cell=link, **asking)

    def path(self) -> list[str]:
        """Return the texts of the active path."""
        return texts(self.session.view().path())

    def everything(self) -> list[str]:
        """Return all texts in the order of writing."""
        return texts(self.session.view().index.messages)

    def id(self, place: int) -> str:
        """Return the id of a message of the active path."""
        return self.session.view().path()[place].id

    def _show(self, progress: Progress) -> None:
        self.shown.append(progress.text)

    def _store(self) -> Store:
        if self.store == "jsonl":
            return JsonlStore(self.folder / "threads", self._now)
        return SqliteStore(self.folder / "jan.db", self._now)

    async def _released(self) -> None:
        self.shown.append("released")

    def _now(self) -> datetime:
        self.count += 1
        return EPOCH + timedelta(milliseconds=self.count)

    def _id(self) -> str:
        self.count += 1
        return f"{self.count * 7919 % 10_000_019:08x}{self.count:024x}"


def texts(messages: Iterable[Message]) -> list[str]:
    return [text_of(message) for message in messages]


async def _nothing() -> tuple[ModelInfo, ...]:
    return ()
