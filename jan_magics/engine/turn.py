"""One turn, from a question to a stored answer: the path of every `%%chat` on one screen."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from jan_magics.domain.branching import attach
from jan_magics.domain.messages import FinishReason, Json, Message, TextPart, Thread
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef, Timings, Usage
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.engine import Engine
from jan_magics.engine.records import outcome
from jan_magics.engine.reply import Progress, Reply
from jan_magics.sanitize.roles import alternate

Show: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Ask:
    """A turn to be made at the head of a thread.

    `history` False: a side turn that is not reminded of the thread and does not move its head.
    """

    thread: Thread
    index: TreeIndex
    text: str
    model: ModelRef
    system: str = ""
    options: ChatOptions = field(default_factory=ChatOptions)
    history: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished turn, with the exact request that was sent."""

    thread: Thread
    question: Message
    answer: Message
    request: ChatRequest
    finish: FinishReason
    usage: Usage
    timings: Timings


async def run_turn(engine: Engine, ask: Ask, show: Show, over: Callable[[Turn], None]) -> Turn:
    """Ask a model. Raises ProviderError and StoreError; what was said until then is kept.

    `over` is told of the turn when its words are kept, also when it was stopped or failed.
    """
    question, answer = place(engine, ask)
    # On disk before the request leaves: a question is never lost.
    index = keep_question(engine, ask, question)
    request = assemble(ask, question)
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
        turn = Turn(ask.thread, question, answer, request, finish, reply.usage(), reply.timings())
        # A failure without a word is no answer; anything that was said is one.
        if answer.parts or finish not in ("error", "stopped"):
            keep_answer(engine, ask, index, (question, answer))
        over(turn)
    return turn


def place(engine: Engine, ask: Ask) -> tuple[Message, Message]:
    """Make the question and the empty answer; the answer's parent is fixed from here on."""
    parts = (TextPart(ask.text),)
    question = Message(engine.new_id(), ask.thread.id, "user", parts, engine.now())
    answer = Message(engine.new_id(), ask.thread.id, "assistant", (), engine.now(), question.id)
    return question, answer


def assemble(ask: Ask, question: Message) -> ChatRequest:
    """Return what is sent: the active path, cleaned, with the question last."""
    path = ask.index.path() if ask.history else ()
    messages = alternate((*path, question))
    stable = len(messages) - 1
    return ChatRequest(ask.model, messages, ask.system, options=ask.options, stable=stable)


def keep_question(engine: Engine, ask: Ask, question: Message) -> TreeIndex:
    """Write the question at the head; a side turn is written only when it is over."""
    if not ask.history:
        return ask.index
    changes = attach(ask.index, question)
    engine.apply(ask.thread, changes)
    return ask.index.after(changes)


def keep_partial(engine: Engine, ask: Ask, answer: Message, reply: Reply) -> None:
    """Write what was said so far; should the kernel die now, this is how it is found again."""
    if ask.history:
        mark: dict[str, Json] = {"jan_magics": {"model": str(ask.model), "finish": "interrupted"}}
        engine.store.save(replace(answer, parts=reply.folding.parts(), metadata=mark))


def keep_answer(engine: Engine, ask: Ask, index: TreeIndex, turn: tuple[Message, Message]) -> None:
    """Write the answer and the pointer to it in one transaction."""
    if ask.history:
        engine.apply(ask.thread, attach(index, turn[1]))
    else:
        engine.keep_aside(ask.thread, *turn)


def finished(ask: Ask, answer: Message, reply: Reply, finish: FinishReason) -> Message:
    """Return the answer as it is stored."""
    known = outcome(ask.model, finish, reply.usage(), reply.timings())
    return replace(answer, parts=reply.folding.parts(), metadata=known)
