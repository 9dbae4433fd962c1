"""Asking a model for a summary: how it is told, and how too much is divided. Nothing is stored."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from jan_magics.context.budget import UNKNOWN_WINDOW, Budget
from jan_magics.context.compact import Stretch, is_garbage, made_of, packed, readable, useless
from jan_magics.context.prompts import SUMMARISE, request_text
from jan_magics.context.summary import is_chinese
from jan_magics.domain.errors import ContextOverflow, SettingError
from jan_magics.domain.events import Compacting
from jan_magics.domain.messages import Message, TextPart, text_of
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef
from jan_magics.domain.overlays import Summary
from jan_magics.domain.protocols import Provider, Tokenizer
from jan_magics.engine.engine import Engine
from jan_magics.engine.narrowing import Objections
from jan_magics.engine.reply import Progress, Reply, note_of

Show: TypeAlias = Callable[[Progress], None]

LONGEST: Final = 1024
"""The most tokens of a summary."""
SHORTEST: Final = 128
"""The fewest that a summary may have, and the fewest that are read at once."""
FRAME: Final = 16
"""Tokens of what a template puts around the two texts of a request."""


@dataclass(frozen=True, slots=True)
class Summariser:
    """A model that writes summaries; `language` None: the one that the thread is written in."""

    engine: Engine
    provider: Provider
    model: ModelRef
    budget: Budget
    tokenizer: Tokenizer
    language: str | None
    show: Show

    @property
    def longest(self) -> int:
        """Return the most tokens of a summary: a tenth of what may be sent, within bounds."""
        return max(SHORTEST, min(LONGEST, self.budget.input // 10))

    async def summary(self, stretch: Stretch) -> Summary:
        """Return the summary of a stretch; nothing is stored.

        What does not fit into one request is read in parts, and the parts are joined.

        Raises:
            ProviderError: as the model's server says.
            ThreadError: when its answer is of no use.
            SettingError: when the user's own instructions cannot be read.
        """
        language = self.language or language_of(stretch.messages)
        told = instructions(self.engine.folder, language)
        before = self.cut(stretch.old.text, self.budget.input // 4) if stretch.old else ""
        asking = _Asking(self, len(stretch.messages), language, told, before)
        room = self.budget.input - self.longest - FRAME
        room -= self.tokenizer.count(told) + self.tokenizer.count(
            request_text("", before, language)
        )
        texts = readable(stretch.messages)
        room = max(SHORTEST, min(room, sum(map(self.tokenizer.count, texts)) + FRAME * len(texts)))
        try:
            text = await asking.summary(texts, room)
        except ContextOverflow:
            # The server counts otherwise than we do: once more, by half.
            text = await asking.summary(texts, room // 2)
        window = self.budget.window or UNKNOWN_WINDOW
        change = self.engine.new_id()
        # A long thread takes a second to look through, and other threads are being answered.
        return await asyncio.to_thread(made_of, stretch, text, change, self.tokenizer, window)

    async def ask(self, system: str, text: str) -> str:
        """Return a model's answer to one question. Raises ProviderError."""
        parts = (TextPart(text),)
        message = Message(self.engine.new_id(), "", "user", parts, self.engine.now(), None)
        options = ChatOptions(temperature=0.0, max_tokens=self.longest, think=False)
        reply = Reply(lambda _: None, lambda: None)
        reply.objections = Objections(self.engine.learned)
        request = ChatRequest(self.model, (message,), system, options=options, purpose="compaction")
        await reply.receive(self.provider, request)
        return reply.folding.text()

    def cut(self, text: str, limit: int) -> str:
        """Leave out the middle of a text that is too long."""
        tokens = self.tokenizer.count(text)
        if tokens <= limit:
            return text
        half = int(len(text) * limit / tokens * 0.45)
        return f"{text[:half]}\n[…]\n{text[-half:]}"


@dataclass(frozen=True, slots=True)
class _Asking:
    """What is the same in all requests for one summary."""

    summariser: Summariser
    count: int
    language: str
    told: str
    before: str

    async def summary(self, texts: Sequence[str], room: int) -> str:
        """Return a summary of texts, at most `room` tokens of which are read at once.

        The old summary is told where the last request joins all; half the room each at most, so
        that every round leaves fewer texts.
        """
        cut, count = self.summariser.cut, self.summariser.tokenizer.count
        while True:
            runs = [cut(run, room) for run in packed(texts, count, room)]
            whole = len(runs) == 1
            answers = list[str]()
            for number, run in enumerate(runs, 1):
                event = Compacting(self.count, number, len(runs))
                self.summariser.show(Progress(note=note_of(event)))
                asked = request_text(run, self.before if whole else "", self.language)
                answer = await self.summariser.ask(self.told, asked)
                if is_garbage(answer):
                    # A model that has nothing to say of one part is not asked about the others.
                    raise useless(answer)
                answers.append(answer)
            if whole:
                return answers[0]
            texts = [cut(answer, room // 3) for answer in answers]


def instructions(folder: Path, language: str) -> str:
    """Return what a summariser is told: the user's own `summarise.en.txt` where there is one.

    Raises:
        SettingError: when that file cannot be read, or says nothing.
    """
    path = folder / f"summarise.{language}.txt"
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except FileNotFoundError:
        return SUMMARISE[language]
    except (OSError, UnicodeDecodeError) as fault:
        raise SettingError(
            f"the instructions for summaries {path.name!r} cannot be read: {fault}",
            "Write them as UTF-8 text, or remove the file.",
        ) from fault
    if not text:
        raise SettingError(
            f"the instructions for summaries {path.name!r} are empty",
            "Write what a summary is to say, or remove the file.",
        )
    return text


def language_of(messages: Sequence[Message]) -> str:
    """Return the language that messages are written in: zh or en."""
    return "zh" if is_chinese("\n".join(text_of(m) for m in messages if m.role == "user")) else "en"
