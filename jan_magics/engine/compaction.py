"""A compaction that begins by itself, and how a summary is kept.

Whatever goes wrong, the thread is as before: the summary is written last, in one transaction with
the change that `undo` takes back. An interrupt, a failure or a kill leaves nothing behind.
"""

import asyncio
from dataclasses import replace
from typing import Final

from jan_magics.context.compact import Stretch, is_worth, stretch_of, tail_of, too_little
from jan_magics.context.plan import ContextPlan
from jan_magics.context.summary import summary_text
from jan_magics.domain.errors import JanError
from jan_magics.domain.events import Compacted
from jan_magics.domain.messages import Json, Thread
from jan_magics.domain.overlays import Change, Overlay, Summary
from jan_magics.domain.protocols import Provider, Tokenizer
from jan_magics.domain.tree import Changes
from jan_magics.engine.engine import Engine
from jan_magics.engine.fitting import Fit
from jan_magics.engine.reply import Progress, note_of
from jan_magics.engine.summarising import SHORTEST, Show, Summariser

GROWN: Final = 2
"""By how much a stretch has to grow before a summary that freed too little is tried again."""


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
    Nothing but an interrupt stops a turn here.
    """
    stretch = _due(fit, plan)
    if stretch is None:
        return plan, ()
    if not is_worth(stretch, SHORTEST):
        return plan, _stopped(stretch, SHORTEST, fit)
    summariser = summariser_for(engine, provider, fit, show)
    try:
        async with asyncio.timeout(fit.patience):
            summary = await summariser.summary(stretch)
        size = fit.tokenizer.count(summary_text(summary))
        if not is_worth(stretch, size):
            fit.breaker.enough = stretch.tokens * GROWN
            return plan, _stopped(stretch, size, fit)
        known = replace(fit, records=(*fit.records, summary), earlier=plan)
        after = await known.plan(plan.measured.path, plan.terms.system, plan.terms.tools)
        if thread:
            keep(engine, thread, summary)
    except (JanError, TimeoutError) as failure:
        fit.breaker.failures += 1
        return plan, (_failed(failure, fit),)
    fit.breaker.reset()
    said = freed(stretch, summary, fit.tokenizer)
    show(Progress(note=said))
    return after, (f"{said} · back: %chat compact --off" if thread else said,)


def ahead(fit: Fit, plan: ContextPlan) -> Stretch | None:
    """Return what would be compacted before a request is sent, None where nothing is."""
    stretch = _due(fit, plan) if plan.due else None
    return stretch if stretch and is_worth(stretch, SHORTEST) else None


def _due(fit: Fit, plan: ContextPlan) -> Stretch | None:
    """Return what stands before the protected tail, None where it is not to be compacted now."""
    tail = tail_of(plan.measured.path, plan.seen, fit.tokenizer, **_room(plan))
    stretch = stretch_of(plan.measured.path, plan.seen, fit.tokenizer, tail)
    if stretch is None or not fit.breaker.closed or stretch.tokens < fit.breaker.enough:
        return None
    return stretch


def summariser_for(engine: Engine, provider: Provider, fit: Fit, show: Show) -> Summariser:
    """Return who summarises a turn's thread: the model that answers it."""
    return Summariser(engine, provider, fit.model, fit.budget, fit.tokenizer, fit.language, show)


def _room(plan: ContextPlan) -> dict[str, int]:
    budget = plan.budget
    target = budget.share(budget.compact_to, plan.costs.history)
    return {"target": target, "protect": budget.protect}


def _stopped(stretch: Stretch, after: int, fit: Fit) -> tuple[str, ...]:
    """Explain once why nothing is compacted."""
    if fit.breaker.told:
        return ()
    fit.breaker.told = True
    return (f"{too_little(stretch, after)}; the oldest messages are left out where room is short",)


def _failed(failure: Exception, fit: Fit) -> str:
    late = f"no summary in {fit.patience:g} s"
    why = failure.message if isinstance(failure, JanError) else late
    end = "" if fit.breaker.closed else "; none begins by itself any more: %chat compact"
    return f"compacting failed, the oldest messages are left out instead ({why}){end}"


def keep(engine: Engine, thread: Thread, summary: Summary) -> None:
    """Write a summary and the change that made it, in one transaction."""
    before: dict[str, Json] = {"messages": len(summary.covers)}
    records: list[Overlay] = [summary, Change(summary.change, "compact", before, engine.now())]
    engine.apply(thread, Changes(), records)


def freed(stretch: Stretch, summary: Summary, tokenizer: Tokenizer) -> str:
    """Say what a compaction did: how many messages, from how many tokens to how many."""
    after = tokenizer.count(summary_text(summary))
    event = Compacted(len(stretch.messages), stretch.tokens, after, tokenizer.exact)
    return note_of(event)
