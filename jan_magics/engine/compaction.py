"""Asking a model for a summary, and keeping it. Whatever goes wrong, the thread is as before.

The summary is written last, in one transaction with the change that `undo` takes back: an
interrupt, a failure or a kill before that leaves nothing behind.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from jan_magics.context.budget import Budget
from jan_magics.context.compact import (
    Stretch,
    excerpt,
    is_worth,
    made_of,
    split,
    stretch_of,
    tail_of,
)
from jan_magics.context.plan import ContextPlan
from jan_magics.context.prompts import SUMMARISE, request_text
from jan_magics.context.summary import is_chinese, summary_text
from jan_magics.domain.errors import JanError
from jan_magics.domain.messages import Json, Message, TextPart, Thread, text_of
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef
from jan_magics.domain.overlays import Change, Overlay, Summary
from jan_magics.domain.protocols import Provider, Tokenizer
from jan_magics.domain.tree import Changes
from jan_magics.engine.engine import Engine
from jan_magics.engine.fitting import Breaker, Fit
from jan_magics.engine.reply import Progress, Reply

Show: TypeAlias = Callable[[Progress], None]

PATIENCE: Final = 20.0
"""Seconds that a turn waits for a summary before it goes on with trimming."""
FAILURES: Final = 3
"""Failures after which no compaction begins by itself in a thread."""
LONGEST: Final = 1024
"""The most tokens of a summary."""
SHORTEST: Final = 128
INSTRUCTIONS: Final = 400
"""Tokens of a request for a summary beside what is to be summarised."""


@dataclass(frozen=True, slots=True)
class Summariser:
    """Who writes a summary: `ask` takes system and user text and returns what was answered."""

    engine: Engine
    provider: Provider
    model: ModelRef
    budget: Budget
    tokenizer: Tokenizer

    @property
    def longest(self) -> int:
        """Return the most tokens of a summary: a tenth of what may be sent, within bounds."""
        return max(SHORTEST, min(LONGEST, self.budget.input // 10))

    async def summarise(self, stretch: Stretch, language: str | None, show: Show) -> str:
        """Return a summary of a stretch; too much for one request is divided, then joined.

        Raises:
            ProviderError: as the model's server says.
        """
        language = language or language_of(stretch.messages)
        before = stretch.old.text if stretch.old else ""
        room = self.budget.input - self.longest - INSTRUCTIONS - self.tokenizer.count(before)
        runs = split(stretch.messages, self.tokenizer, max(SHORTEST, room))
        count = len(stretch.messages)
        parts: list[str] = []
        for number, run in enumerate(runs, 1):
            part = f", part {number} of {len(runs)}" if len(runs) > 1 else ""
            show(Progress(note=f"compacting {count} messages{part}"))
            shown = self._cut(excerpt(run), max(SHORTEST, room))
            parts.append(await self._ask(shown, before if len(runs) == 1 else "", language))
        if len(parts) == 1:
            return parts[0]
        show(Progress(note=f"compacting {count} messages, joining {len(parts)} parts"))
        return await self._ask(self._cut("\n\n".join(parts), max(SHORTEST, room)), before, language)

    async def _ask(self, shown: str, before: str, language: str) -> str:
        text = request_text(shown, before, language)
        parts = (TextPart(text),)
        message = Message(self.engine.new_id(), "", "user", parts, self.engine.now(), None)
        options = ChatOptions(temperature=0.0, max_tokens=self.longest, think=False)
        request = ChatRequest(self.model, (message,), SUMMARISE[language], options=options)
        reply = Reply(lambda _: None, lambda: None)
        await reply.receive(self.provider, request)
        return reply.folding.text()

    def _cut(self, text: str, limit: int) -> str:
        """Leave out the middle of a text that is too long, which only a single message can be."""
        tokens = self.tokenizer.count(text)
        if tokens <= limit:
            return text
        half = int(len(text) * limit / tokens * 0.45)
        return f"{text[:half]}\n[…]\n{text[-half:]}"


async def make_room(
    engine: Engine,
    provider: Provider,
    thread: Thread | None,
    fit: Fit,
    plan: ContextPlan,
    show: Show,
) -> tuple[ContextPlan, tuple[str, ...]]:
    """Compact what stands before the protected tail, and plan anew; else trimming is kept.

    Returns the plan to be sent by, and what is to be told. `thread` None: nothing is stored.
    Nothing but an interrupt stops a turn here: a summary that fails, is late or frees too little
    leaves everything as it was.
    """
    tail = tail_of(plan.measured.path, plan.seen, fit.tokenizer, **_room(plan))
    stretch = stretch_of(plan.measured.path, plan.seen, fit.tokenizer, tail)
    if stretch is None or not fit.breaker.closed or not is_worth(stretch, SHORTEST):
        return plan, ()
    summariser = Summariser(engine, provider, fit.model, fit.budget, fit.tokenizer)
    try:
        async with asyncio.timeout(PATIENCE):
            summary = await make(summariser, stretch, fit.language, show)
        records = keep(engine, thread, summary) if thread else [summary]
        known = replace(fit, records=(*fit.records, *records), earlier=plan)
        after = known.plan(plan.measured.path, plan.terms.system)
    except (JanError, TimeoutError) as failure:
        fit.breaker.failures += 1
        return plan, (_failed(failure, fit.breaker),)
    fit.breaker.failures = 0
    said = freed(stretch, summary, fit.tokenizer)
    show(Progress(note=said))
    return after, (f"{said} · back: %chat compact --off",)


def _room(plan: ContextPlan) -> dict[str, int]:
    budget = plan.budget
    target = budget.share(budget.compact_to, plan.costs.history)
    return {"target": target, "protect": budget.protect}


def _failed(failure: Exception, breaker: Breaker) -> str:
    why = failure.message if isinstance(failure, JanError) else f"no summary in {PATIENCE:.0f} s"
    end = "" if breaker.closed else "; none begins by itself any more: %chat compact"
    return f"compacting failed, the oldest messages are left out instead ({why}){end}"


def keep(engine: Engine, thread: Thread, summary: Summary) -> list[Overlay]:
    """Write a summary and the change that made it; returns both records."""
    before: dict[str, Json] = {"messages": len(summary.covers)}
    change = Change(summary.change, "compact", before, engine.now())
    records: list[Overlay] = [summary, change]
    engine.apply(thread, Changes(), records)
    return records


async def make(
    summariser: Summariser, stretch: Stretch, language: str | None, show: Show
) -> Summary:
    """Return the summary of a stretch; nothing is stored.

    Raises:
        ProviderError: as the model's server says.
        ThreadError: when it is of no use or frees too little.
    """
    text = await summariser.summarise(stretch, language, show)
    window = summariser.budget.window or summariser.budget.input
    change = summariser.engine.new_id()
    return made_of(stretch, text, change, summariser.tokenizer, window)


def freed(stretch: Stretch, summary: Summary, tokenizer: Tokenizer) -> str:
    """Say what a compaction did: how many messages, from how many tokens to how many."""
    after = tokenizer.count(summary_text(summary))
    about = "" if tokenizer.exact else "≈"
    return (
        f"{len(stretch.messages)} messages compacted into a summary:"
        f" {about}{stretch.tokens:,} → {about}{after:,} tokens"
    )


def language_of(messages: Sequence[Message]) -> str:
    """Return the language that a thread is written in: zh or en."""
    return "zh" if is_chinese("\n".join(text_of(m) for m in messages if m.role == "user")) else "en"
