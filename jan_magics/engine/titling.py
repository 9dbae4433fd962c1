"""Titles are made in the background, after a turn and never in the way of the next one."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from jan_magics.domain.errors import JanError, ProviderError
from jan_magics.domain.messages import Thread
from jan_magics.engine.asks import Turn
from jan_magics.engine.engine import Engine
from jan_magics.engine.naming import find_thread, own
from jan_magics.engine.narrowing import Objections
from jan_magics.engine.records import KEY
from jan_magics.engine.reply import Reply
from jan_magics.engine.titles import (
    AUTO_TITLE,
    SILENT,
    is_unnamed,
    question_title,
    should_title,
    title_of,
    title_request,
    transcript,
)

PATIENCE: Final = 1.0
"""Seconds that a busy local server is waited for."""
PROBES: Final = 6
PAUSE: Final = 0.15
"""Seconds between two looks whether it is idle."""
GRACE: Final = 1.0
"""Seconds that a cancelled request has to close its stream before the next turn goes on."""


@dataclass(slots=True)
class Titling:
    """The one title that may be in the making. Lives on the engine's loop."""

    engine: Engine
    task: asyncio.Task[None] | None = None

    async def cancel(self) -> None:
        """Let go of a title in the making: a turn comes first."""
        task, self.task = self.task, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE)

    async def begin(self, turn: Turn, setting: str) -> None:
        """Make a title in the background when one is due; returns at once.

        Beside a cassette it is waited for: whether it comes must not depend on who is faster.
        """
        answers = sum(message.role == "assistant" for message in turn.index.path())
        stopped = turn.stored or turn.finish not in ("stop", "length")
        if should_title(turn.thread, answers, setting, stopped=stopped):
            self.task = self.engine.begin(self._title(turn))
            deck = self.engine.deck
            if deck.playing or deck.recording:
                await asyncio.wait({self.task})

    async def _title(self, turn: Turn) -> None:
        try:
            said = await self._said(turn)
            title = None if said is None else title_of(said)
            if said is not None and title is None and not turn.thread.title:
                title = question_title(turn.index.path())
            if title is not None:
                self._keep(turn.thread, title)
        except JanError:
            # A title is icing: whatever is wrong with model or store, the next turn will say it.
            return

    async def _said(self, turn: Turn) -> str | None:
        """Ask the turn's model; None where it stays busy, "" where it is not to be asked."""
        model = turn.request.model
        if model.provider in SILENT:
            return ""
        provider = self.engine.provider(model)
        if not await wait_until_idle(provider.idle):
            return None
        text = transcript(turn.index.path(), turn.thread.title)
        request = title_request(model, text, self.engine.new_id(), self.engine.now())
        reply = Reply(lambda _: None, lambda: None)
        reply.objections = Objections(self.engine.learned)
        await reply.receive(provider, request)
        return reply.folding.text()

    def _keep(self, thread: Thread, title: str) -> None:
        """Write a title, unless somebody named the thread in the meantime."""
        store = self.engine.store
        newest = store.thread(thread.id)
        if not is_unnamed(newest) or newest.title == title:
            return
        free, number = title, 1
        while find_thread(store, free):
            number += 1
            free = f"{title} {number}"
        store.update_thread(
            thread.id, title=free, metadata={KEY: {**own(newest), AUTO_TITLE: free}}
        )


async def wait_until_idle(
    idle: Callable[[], Awaitable[bool]],
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> bool:
    """Wait a moment for an idle server; False when it stays busy, True when it does not say."""
    try:
        async with asyncio.timeout(PATIENCE):
            for probe in range(PROBES):
                if probe:
                    await pause(PAUSE)
                if await idle():
                    return True
    except ProviderError:
        return True
    except TimeoutError:
        return False
    return False
