"""One turn, from a question to a stored answer: the path of every `%%chat` on one screen."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from jan_magics.domain.branching import attach
from jan_magics.domain.messages import FinishReason, Json, Message, Thread
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef, Timings, Usage
from jan_magics.domain.overlays import CellLink, Overlay
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.engine import Engine
from jan_magics.engine.records import outcome
from jan_magics.engine.reply import Progress, Reply
from jan_magics.engine.spots import HEAD, Draft, Placed, Spot, put
from jan_magics.sanitize.roles import alternate

Show: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Ask:
    """A turn to be made at a spot of a thread; `overlays` are written with the question.

    `history` False: a side turn that is not reminded of the thread and does not move its head.
    """

    thread: Thread
    index: TreeIndex
    text: str
    model: ModelRef
    system: str = ""
    options: ChatOptions = field(default_factory=ChatOptions)
    history: bool = True
    spot: Spot = HEAD
    overlays: tuple[Overlay, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished turn, with the exact request that was sent and the tree as it is now."""

    thread: Thread
    question: Message
    answer: Message
    request: ChatRequest
    index: TreeIndex
    finish: FinishReason
    usage: Usage
    timings: Timings


async def run_turn(engine: Engine, ask: Ask, show: Show, over: Callable[[Turn], None]) -> Turn:
    """Ask a model. Raises ProviderError and StoreError; what was said until then is kept.

    `over` is told of the turn when its words are kept, also when it was stopped or failed.
    """
    placed = place(engine, ask)
    # On disk before the request leaves: a question is never lost.
    index = keep_question(engine, ask, placed)
    request = assemble(ask, placed)
    answer = empty_answer(engine, placed.question)
    reply = Reply(show, lambda: keep_partial(engine, ask, answer, reply))
    finish: FinishReason = "error"
    try:
        provider = engine.provider(ask.model)
        await reply.receive(provider.stream(request))
        finish = reply.finish()
    except asyncio.CancelledError:
        finish = "stopped"
        raise
    finally:
        await reply.settle()
        answer = finished(ask, answer, reply, finish)
        # A failure without a word is no answer; anything that was said is one.
        if answer.parts or finish not in ("error", "stopped"):
            index = keep_answer(engine, ask, index, (placed.question, answer))
        known = (finish, reply.usage(), reply.timings())
        turn = Turn(ask.thread, placed.question, answer, request, index, *known)
        over(turn)
    return turn


def place(engine: Engine, ask: Ask) -> Placed:
    """Give the question its place. Raises MessageNotFound, ThreadError."""
    draft = Draft(engine.new_id(), ask.thread.id, ask.text, engine.now())
    return put(ask.index, ask.spot, draft)


def empty_answer(engine: Engine, question: Message) -> Message:
    """Begin an answer; its parent is fixed from here on."""
    return Message(engine.new_id(), question.thread_id, "assistant", (), engine.now(), question.id)


def assemble(ask: Ask, placed: Placed) -> ChatRequest:
    """Return what is sent: the path to the question, cleaned, with the question last."""
    before = placed.before if ask.history else ()
    messages = alternate((*before, placed.question))
    stable = len(messages) - 1
    return ChatRequest(ask.model, messages, ask.system, options=ask.options, stable=stable)


def keep_question(engine: Engine, ask: Ask, placed: Placed) -> TreeIndex:
    """Write the question, and which cell asked; a side turn is written only when it is over."""
    if not ask.history:
        return ask.index
    linked = [
        replace(each, message=placed.question.id) if isinstance(each, CellLink) else each
        for each in ask.overlays
    ]
    engine.apply(ask.thread, placed.changes, linked)
    return ask.index.after(placed.changes)


def keep_partial(engine: Engine, ask: Ask, answer: Message, reply: Reply) -> None:
    """Write what was said so far; should the kernel die now, this is how it is found again."""
    if ask.history:
        mark: dict[str, Json] = {"jan_magics": {"model": str(ask.model), "finish": "interrupted"}}
        engine.store.save(replace(answer, parts=reply.folding.parts(), metadata=mark))


def keep_answer(
    engine: Engine, ask: Ask, index: TreeIndex, turn: tuple[Message, Message]
) -> TreeIndex:
    """Write the answer and the pointer to it in one transaction."""
    if not ask.history:
        engine.keep_aside(ask.thread, *turn)
        return index
    changes = attach(index, turn[1])
    engine.apply(ask.thread, changes)
    return index.after(changes)


def finished(ask: Ask, answer: Message, reply: Reply, finish: FinishReason) -> Message:
    """Return the answer as it is stored."""
    known = outcome(ask.model, finish, reply.usage(), reply.timings())
    return replace(answer, parts=reply.folding.parts(), metadata=known)
