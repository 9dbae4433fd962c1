"""One turn, from a question to a stored answer: the path of every `%%chat` on one screen."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from jan_magics.context.plan import ContextPlan
from jan_magics.context.segments import TRUNCATED, look
from jan_magics.domain.branching import attach
from jan_magics.domain.errors import ContextOverflow
from jan_magics.domain.events import Folding
from jan_magics.domain.messages import FinishReason, Json, Message, Part
from jan_magics.domain.models import PATIENT, SENDS, ChatRequest, Usage
from jan_magics.domain.protocols import Provider
from jan_magics.domain.tree import Changes, TreeIndex
from jan_magics.engine.asked_with import WITH
from jan_magics.engine.asks import Ask, Turn
from jan_magics.engine.attached import told_apart
from jan_magics.engine.calls import answered
from jan_magics.engine.compaction import make_room
from jan_magics.engine.continuing import Continued, continued, receive, total_timings, total_usage
from jan_magics.engine.engine import Engine
from jan_magics.engine.fitting import Fit
from jan_magics.engine.given import as_sent, remembered
from jan_magics.engine.narrowing import Objections, told_first
from jan_magics.engine.records import digest, outcome, steps_of, timings_of, usage_of, with_facts
from jan_magics.engine.refitting import refitted
from jan_magics.engine.reply import Progress, Reply, told_of
from jan_magics.engine.screening import screened
from jan_magics.engine.shaping import shaped
from jan_magics.engine.spots import Draft, Placed, link_to, put
from jan_magics.engine.stepping import Further, Requesting, Steps
from jan_magics.sanitize.attachments import files_instruction
from jan_magics.sanitize.question import require_question
from jan_magics.sanitize.roles import alternate
from jan_magics.storage.live import LiveTurn

Show: TypeAlias = Callable[[Progress], None]

AGAIN: Final = "the server refused a longer request, so it was sent once more within its window"


async def run_turn(engine: Engine, ask: Ask, show: Show, over: Callable[[Turn], None]) -> Turn:
    """Ask a model. Raises ProviderError, StoreError, LeakFound; what was said is kept.

    `over` is told of the turn when its words are kept, also when it was stopped or failed.
    """
    # Whatever can be known to fail fails here, and leaves no question behind.
    provider = engine.ready(ask.model, ask.options)
    placed = place(engine, ask)
    plan = await planned(ask, placed)
    seen = screened(engine, ask, assemble(ask, plan))
    answer = ask.partial or empty_answer(engine, placed.question)
    live = None if ask.side else engine.live.begin(turn_of(placed.question, answer))
    index = keep_question(engine, ask, placed)  # on disk before it leaves: it is never lost
    reply = reply_for(engine, ask, answer, show)
    steps = Steps(reply, provider, ask.bench, plan, *further(engine, ask, placed, answer))
    steps.deck, steps.notes = engine.deck, [*seen]
    finish: FinishReason = "error"
    try:
        finish = await taken(engine, ask, placed, answer, steps, show)
        finish = await shaped(ask, steps, provider, finish)
    except asyncio.CancelledError:
        finish = "stopped"
        raise
    finally:
        await reply.settle()
        said = answered(reply.parts())
        # A failure without a word is no answer, and changes none; anything that was said is one.
        if said != answer.parts or finish not in ("error", "stopped"):
            answer = finished(ask, answer, reply, (finish, asked_for(ask, placed)), steps.plan)
            index = keep_answer(engine, ask, index, (placed.question, answer))
        if live:
            live.end()
        known = (finish, usage_of(answer), timings_of(answer), False)
        sent, notes = reply.sent or assemble(ask, steps.plan), (*steps.notes, *told_of(reply))
        more = (steps.plan, notes, reply.steps, not (reply.timed or reply.unrecorded))
        given = (ask.known(), ask.schema)
        turn = Turn(ask.thread, placed.question, answer, sent, index, *known, *more, *given)
        over(turn)
    return turn


async def taken(
    engine: Engine, ask: Ask, placed: Placed, answer: Message, steps: Steps, show: Show
) -> FinishReason:
    """Take the steps of a turn; once more where a server has refused the first for its size.

    Nothing was answered then, and by now it is known what it takes.
    """
    reply, provider = steps.reply, steps.provider
    first = partial(first_step, ask, reply, provider)
    steps.plan, told = await fitted(engine, provider, ask, steps.plan, show)
    steps.notes.extend(told)
    try:
        return await steps.run(first)
    except ContextOverflow as refused:
        smaller = refitted(ask.fit, refused, steps.plan)
        if smaller is None or reply.parts() != answer.parts or reply.steps > 1:
            raise
        ask, before = replace(ask, fit=smaller), steps.plan
        try:
            plan = await planned(ask, placed)
        except ContextOverflow as planned_now:
            raise planned_now from refused
        if plan.tokens >= before.tokens:
            raise
        steps.plan_with, steps.request = further(engine, ask, placed, answer)
        steps.plan, told = await fitted(engine, provider, ask, plan, show)
        steps.notes.extend((*told, AGAIN))
        reply.steps = 0
        return await steps.run(first)


async def fitted(
    engine: Engine, provider: Provider, ask: Ask, plan: ContextPlan, show: Show
) -> tuple[ContextPlan, tuple[str, ...]]:
    """Make room where it is due, and keep where trimming fell to; returns what is to be told."""
    notes: tuple[str, ...] = ()
    if plan.due:
        plan, notes = await make_room(engine, provider, ask.kept_in, ask.fit, plan, show)
    if plan.cut and not ask.side:
        engine.apply(ask.thread, Changes(), [plan.cut])
    return plan, notes


def place(engine: Engine, ask: Ask) -> Placed:
    """Give the question its place. Raises MessageNotFound, ThreadError."""
    named = (engine.new_id(), ask.thread.id, ask.text, engine.now())
    draft = Draft(*named, ask.attached, ask.told)
    return put(ask.index, ask.spot, draft)


def empty_answer(engine: Engine, question: Message) -> Message:
    """Begin an answer; its parent is fixed from here on."""
    return Message(engine.new_id(), question.thread_id, "assistant", (), engine.now(), question.id)


def turn_of(question: Message, answer: Message) -> LiveTurn:
    """Return what other kernels are told of a turn while it lasts."""
    return LiveTurn(question.thread_id, question.id, answer.id)


def reply_for(engine: Engine, ask: Ask, answer: Message, show: Show) -> Reply:
    """Return what takes the answer in, and writes it while it grows."""
    # From nothing, or from the words that it goes on from.
    folding = Continued(before=ask.partial.parts) if ask.partial else Folding()
    reply = Reply(show, lambda: keep_partial(engine, ask, answer, reply), folding)
    reply.new_id = engine.new_id
    reply.timed = engine.deck.playing is None
    reply.objections = Objections(engine.learned, ask.fit.profile)
    return reply


async def first_step(ask: Ask, reply: Reply, provider: Provider, request: ChatRequest) -> None:
    """Send the first request of a turn: a question, or what goes on with an answer."""
    if ask.partial:
        await receive(reply, provider, request, ask.partial)
    else:
        await reply.receive(provider, request)


def further(
    engine: Engine, ask: Ask, placed: Placed, answer: Message
) -> tuple[Further, Requesting]:
    """Return how a step that goes on with the answer is planned, and how a request is made."""

    async def plan(parts: tuple[Part, ...]) -> ContextPlan:
        now = ask
        if ask.kept_in:  # a compaction before the first step holds for all of them
            records = tuple(engine.trees.of(ask.thread.id).records)
            now = replace(ask, fit=replace(ask.fit, records=records))
        return await planned(now, placed, replace(answer, parts=parts))

    return plan, partial(assemble, ask)


async def planned(ask: Ask, placed: Placed, answer: Message | None = None) -> ContextPlan:
    """Plan the request: the path to the question, then what was answered so far.

    Raises ContextOverflow, PromptError.
    """
    question = as_sent(placed.question, ask.given, ask.aside)
    before = placed.before if ask.history else ()
    path = (*before, question, *([answer] if answer else []))
    # What the host has looked up is there already: no tool has to be named.
    about = "" if ask.given else files_instruction(path)
    system = "\n\n".join(filter(None, (ask.system, about)))
    retrieved = ask.fit.tokenizer.count(ask.given.text) if ask.given else 0
    found = await ask.fit.plan(path, system, ask.bench.specs(), retrieved)
    if ask.text:  # without one it is only looked at what a turn would cost
        require_question(found.messages)
    return found


def assemble(ask: Ask, plan: ContextPlan) -> ChatRequest:
    """Return what is sent; the question and what follows it are not sent so again."""
    places = range(len(plan.messages))
    stable = next((n for n in reversed(places) if plan.messages[n].role == "user"), 0)
    window = plan.budget.window if plan.budget.chosen else None
    sent = (ask.model, plan.messages, plan.system, plan.terms.tools, ask.options)
    schema, sends = ask.schema if ask.held else None, PATIENT if ask.purpose == "map" else SENDS
    about = (stable, window, ask.purpose, sends, schema)
    request = replace(ChatRequest(*sent, *about), anyway=ask.anyway, at_once=ask.at_once)
    return told_first(request) if ask.fit.profile.system == "none" else request


def asked_for(ask: Ask, placed: Placed) -> str:
    """Return what tells whether the same is asked again; what changes by itself does not count.

    That is the whole path but for what was hidden: how much of it fits is no part of the question.
    A row has a digest of its own.
    """
    if ask.row:
        return ask.row
    question = as_sent(placed.question, ask.given)
    path = (*(placed.before if ask.history else ()), question)
    statuses = look(path, ask.fit.records).statuses
    messages = alternate(told_apart(each) for each in path if statuses.get(each.id) != TRUNCATED)
    offered = tuple(tool.spec for tool in ask.bench.offered)
    asked = (ask.model, messages, ask.system, offered, ask.options)
    return digest(ChatRequest(*asked, schema=ask.schema))


def keep_question(engine: Engine, ask: Ask, placed: Placed) -> TreeIndex:
    """Write the question and which cell asked; a side turn comes later."""
    if ask.side:
        return ask.index
    linked = [link_to(each, placed.question) for each in ask.overlays]
    engine.apply(ask.thread, placed.changes, linked)
    return ask.index.after(placed.changes)


def keep_partial(engine: Engine, ask: Ask, answer: Message, reply: Reply) -> None:
    """Write what was said so far; should the kernel die now, this is how it is found again."""
    if not ask.side:
        mark: dict[str, Json] = {"jan_magics": {"model": str(ask.model), "finish": "interrupted"}}
        engine.trees.save(replace(answer, parts=answered(reply.parts()), metadata=mark))


def keep_answer(
    engine: Engine, ask: Ask, index: TreeIndex, turn: tuple[Message, Message]
) -> TreeIndex:
    """Write the answer and the pointer to it in one transaction."""
    if ask.side:
        keep = ask.keeping or partial(engine.keep_aside, ask.thread)
        keep(*turn)
        return index
    index = newest(engine, ask, index, turn[1])
    changes = attach(index, turn[1])
    engine.apply(ask.thread, changes)
    return index.after(changes)


def newest(engine: Engine, ask: Ask, index: TreeIndex, answer: Message) -> TreeIndex:
    """Return the tree as it is now where another kernel has written to it, else as it was known."""
    now = engine.tree(ask.thread)
    known = len(index) + (answer.id not in index)
    return index if len(now) + (answer.id not in now) == known else now


def finished(
    ask: Ask, answer: Message, reply: Reply, end: tuple[FinishReason, str], plan: ContextPlan
) -> Message:
    """Return the answer as it is stored; `end` is how it ended and the digest of what was asked."""
    finish, asked = end
    usage, timings, parts = reply.usage(), reply.timings(), answered(reply.parts())
    offered: Json = [*ask.bench.routed] or None
    if ask.partial is None:
        known = outcome(ask.model, finish, usage, timings, asked)
        several = reply.steps > 1
        # The tokens of several requests are not those of one that was estimated.
        estimated = None if several else ask.fit.estimate(plan)
        steps, sources = reply.steps if several else None, remembered(ask.known())
        facts = {"estimated": estimated, "steps": steps, "sources": sources, "offered": offered}
        facts |= {"cost": cost_of(ask.fit, usage), "row": ask.row, WITH: told_of_answer(ask)}
        return replace(answer, parts=parts, metadata=with_facts(known, **facts))
    usage, timings = total_usage(answer, usage), total_timings(answer, timings)
    known = outcome(ask.model, finish, usage, timings, asked)
    steps = steps_of(answer) + reply.steps
    facts = {"steps": steps, "offered": offered, "cost": cost_of(ask.fit, usage)}
    return continued(answer, parts, with_facts(known, **facts))


def told_of_answer(ask: Ask) -> Json:
    """Return what an answer was asked with, None where its question says it already."""
    return {**ask.told} if ask.spot.where == "again" and not ask.side else None


def cost_of(fit: Fit, usage: Usage) -> float | None:
    """Return what tokens cost, None where nobody says a price."""
    return fit.price.of(usage) if fit.price else None
