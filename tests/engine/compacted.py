"""A thread that is compacted: its model answers at length, and summarises as a test tells it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jan_magics.api.transcript import transcript
from jan_magics.domain.events import Finish, StreamEvent, TextDelta
from jan_magics.domain.messages import text_of
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelInfo, ModelRef
from jan_magics.domain.overlays import Overlay
from jan_magics.engine.compacting import Compacted, compact
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Progress
from jan_magics.engine.session import Session
from tests.engine.threads import Kernel

Answering = Callable[[ChatRequest], str | Exception]

WORDS = "word " * 68


def two_sentences(_: ChatRequest) -> str:
    return "The user plans an experiment. Its data are being cleaned."


@dataclass
class Summarising:
    """A model with a small window. `asked` are its turns, `summaries` the requests for one.

    `answer` is what it says in every turn, where it is set.

    `told` gives the text of a summary, or an error that is raised; `slow` seconds pass before.
    `begun` is set when the first summary is asked for.
    """

    told: Answering = two_sentences
    window: int = 2048
    slow: float = 0.0
    answer: str = ""
    asked: list[ChatRequest] = field(default_factory=list)
    summaries: list[ChatRequest] = field(default_factory=list)
    name: str = "double"
    continues: bool = True
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    def check(self, model: ModelRef, options: ChatOptions) -> None:
        """Accept everything."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        if is_summary(request):
            self.summaries.append(request)
            self.begun.set()
            await asyncio.sleep(self.slow)
            answer = self.told(request)
            if isinstance(answer, Exception):
                raise answer
            yield TextDelta(answer)
        else:
            self.asked.append(request)
            number = text_of(request.messages[-1]).split()[-1]
            yield TextDelta(self.answer or f"answer {number} {WORDS}")
        yield Finish("stop")

    async def idle(self) -> bool:
        return True

    async def models(self) -> Sequence[ModelInfo]:
        return (ModelInfo(ModelRef("double", "m"), window=self.window, loaded=True),)

    async def close(self) -> None:
        """Nothing was opened."""


def is_summary(request: ChatRequest) -> bool:
    return request.options.think is False


@dataclass
class Talk:
    """A kernel whose model is a double; `notes` are what the display was told."""

    kernel: Kernel
    model: Summarising = field(default_factory=Summarising)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.open()

    @property
    def session(self) -> Session:
        return self.kernel.session

    def open(self) -> None:
        """Begin anew, as a restarted kernel would."""
        self.kernel.settings |= {"model": "double:m"}
        self.kernel.provider = self.model
        self.kernel.open()

    def ask(self, text: str = "", **asking: Any) -> Outcome:
        return asyncio.run(self.send(text, **asking))

    async def send(self, text: str = "", **asking: Any) -> Outcome:
        self.notes.clear()
        return await self.session.send(self.kernel.asking(text, **asking), self.show)

    def chat(self, first: int, last: int, **asking: Any) -> list[Outcome]:
        """Ask questions by their numbers, each long enough that a few fill the window."""
        return [self.ask(question(n), **asking) for n in range(first, last + 1)]

    def compact(self, keep: int | None = None, *, dry_run: bool = False) -> Compacted:
        return asyncio.run(compact(self.session, keep, self.show, dry_run=dry_run))

    def show(self, progress: Progress) -> None:
        if progress.note:
            self.notes.append(progress.note)

    def records(self) -> list[Overlay]:
        thread = self.session.current()
        return list(self.session.engine.store.overlays(thread.id)) if thread else []

    def stored(self) -> object:
        """Return all that the store keeps of the thread."""
        thread = self.session.current()
        assert thread
        store = self.session.engine.store
        return list(store.messages(thread.id)), list(store.overlays(thread.id))

    def view(self) -> str:
        """Return the thread as it is read, words shortened."""
        return str(transcript(self.session.view(), None)).replace(WORDS.strip(), "…")


def question(number: int) -> str:
    return f"{WORDS}question {number}"


def sent(request: ChatRequest) -> list[str]:
    """Return what a request says, words shortened."""
    return [text_of(each).replace(WORDS, "") for each in request.messages]


def compacting(folder: Path, store: str = "sqlite", **settings: object) -> Talk:
    """Open a thread that is compacted by itself."""
    known = {"overflow": "compact", "tokenizer": "chars/3.5", **settings}
    return Talk(Kernel(folder, store, settings=known))
