"""A session without a notebook: its model is a double, its store is on disk."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jan_magics.domain.events import Finish, StreamEvent, TextDelta
from jan_magics.domain.messages import Message, Thread
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelInfo, ModelRef
from jan_magics.engine.asking import Asking
from jan_magics.engine.assemble import new_id
from jan_magics.engine.assistants import Assistants
from jan_magics.engine.cells import Here, marks_of
from jan_magics.engine.choose import Finder
from jan_magics.engine.engine import Engine
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.session import Session
from jan_magics.engine.settings import Settings, Source
from jan_magics.engine.stores import open_search
from jan_magics.engine.threads import Threads
from jan_magics.engine.titling import Titling
from jan_magics.notebook.identity import NotebookFiles
from jan_magics.storage.jsonl import JsonlStore

NOON = datetime(2026, 3, 9, 12, 34, tzinfo=UTC)


class Model:
    """A provider that says what it is told to, and remembers what it was asked.

    `busy` looks find it at work; `slow` seconds pass before it answers a request for a title.
    """

    def __init__(self, *answers: str, busy: int = 0, slow: float = 0.0) -> None:
        self.answers = list(answers)
        self.asked: list[ChatRequest] = []
        self.busy = busy
        self.slow = slow
        self.closed = 0
        self.looks = 0

    @property
    def name(self) -> str:
        return "double"

    @property
    def continues(self) -> bool:
        return False

    def check(self, model: ModelRef, options: ChatOptions) -> None:
        """Accept everything."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        self.asked.append(request)
        try:
            if request.options.think is False:
                await asyncio.sleep(self.slow)
            yield TextDelta(self.answers.pop(0) if self.answers else "yes")
            yield Finish("stop")
        except (asyncio.CancelledError, GeneratorExit):
            self.closed += 1
            raise

    async def idle(self) -> bool:
        self.looks += 1
        return self.looks > self.busy

    async def models(self) -> Sequence[ModelInfo]:
        return ()

    async def close(self) -> None:
        """Nothing was opened."""


@dataclass
class Opened:
    """A session with its model; `clock` is what it takes for the time."""

    session: Session
    model: Model
    clock: list[datetime] = field(default_factory=list)

    async def send(self, text: str, **flags: Any) -> Outcome:
        asking = Asking(text, model=flags.pop("model", "double:m"), **flags)
        return await self.session.send(asking, lambda _: None)

    async def background(self) -> None:
        """Wait for what goes on in the background."""
        if task := self.session.titling.task:
            await asyncio.wait({task}, timeout=10)

    def thread(self) -> Thread:
        found = self.session.current()
        assert found is not None
        return found

    def messages(self) -> Sequence[Message]:
        return self.session.engine.store.messages(self.thread().id)


def opened(folder: Path, model: Model, settings: Mapping[str, object] | None = None) -> Opened:
    """Open a session whose settings can be changed while it runs."""
    clock = [NOON]

    async def release() -> None:
        """Nothing was started."""

    async def discover() -> tuple[ModelInfo, ...]:
        return ()

    def now() -> datetime:
        return clock[0]

    store = JsonlStore(folder / "threads", now)
    search = open_search(store, folder)
    engine = Engine(store, folder, now, new_id, lambda _: model, release, search)
    known = {} if settings is None else settings
    session = Session(
        engine,
        Threads(engine, lambda: Here("work.ipynb", marks_of("0a1b2c3d", "")), NotebookFiles()),
        Finder(discover, lambda: None),
        lambda: Settings((Source("test", known),), {}),
        Assistants(folder / "assistants", new_id, now),
        Titling(engine),
    )
    return Opened(session, model, clock)
