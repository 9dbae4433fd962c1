"""One turn, from a question to a stored answer: the path of every `%%chat` on one screen."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from jan_magics.domain.branching import attach
from jan_magics.domain.events import Folding
from jan_magics.domain.messages import FinishReason, Json, Message, TextPart, Thread
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef, Timings, Usage
from jan_magics.domain.overlays import CellLink, Overlay
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.continuing import Continued, continued, receive, total_timings, total_usage
from jan_magics.engine.engine import Engine
from jan_magics.engine.records import digest, outcome, timings_of, usage_of
from jan_magics.engine.reply import Progress, Reply
from jan_magics.engine.spots import HEAD, Draft, Placed, Spot, put
from jan_magics.sanitize.roles import alternate

Show: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Ask:
    """A turn to be made at a spot of a thread; `overlays` are written with the question.

    `aside` is sent, unstored, before the question: what differs from turn to turn would otherwise
    spoil the prefix cache of all that follows it. `notes` are lines for the footer.
    `history` False: a side turn that is not reminded of the thread and does not move its head.
    `hidden` messages are not sent. `partial` is the answer that is to go on.
    """

    thread: Thread
    index: TreeIndex
    text: str
    model: ModelRef
    system: str = ""
    aside: str = ""
    options: ChatOptions = field(default_factory=ChatOptions)
    history: bool = True
    spot: Spot = HEAD
    overlays: tuple[Overlay, ...] = ()
    hidden: frozenset[str] = frozenset()
    partial: Message | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished turn, with the exact request that was sent and the tree as it is now.

    `stored`: the answer was there already, and nothing was sent.
    """

    thread: Thread
    question: Message
    answer: Message
    request: ChatRequest
    index: TreeIndex
    finish: FinishReason
    usage: Usage
    timings: Timings
    stored: bool = False

    @property
    def newest(self) -> Message:
        """Return the answer, the question where there is none."""
        return self.answer if self.answer.id in self.index else self.question


async def run_turn(engine: Engine, ask: Ask, show: Show, over: Callable[[Turn], None]) -> Turn:
    """Ask a model. Raises ProviderError and StoreError; what was said until then is kept.

    `over` is told of the turn when its words are kept, also when it was stopped or failed.
    """
    # Whatever can be known to fail fails here, and leaves no question behind.
    provider = engine.ready(ask.model, ask.options)
    placed = place(engine, ask)
    # On disk before the request leaves: a question is never lost.
    index = keep_question(engine, ask, placed)
    request = assemble(ask, placed)
    answer = ask.partial or empty_answer(engine, placed.question)
    folding = Continued(before=ask.partial.parts) if ask.partial else Folding()
    reply = Reply(show, lambda: keep_partial(engine, ask, answer, reply), folding)
    finish: FinishReason = "error"
    try:
        if ask.partial:
            await receive(reply, provider, request, ask.partial)
        else:
            await reply.receive(provider, request)
        finish = reply.finish()
    except asyncio.CancelledError:
        finish = "stopped"
        raise
    finally:
        await reply.settle()
        said = reply.folding.parts()
        # A failure without a word is no answer, and changes none; anything that was said is one.
        if said != answer.parts or finish not in ("error", "stopped"):
            answer = finished(ask, answer, reply, (finish, asked_for(ask, placed)))
            index = keep_answer(engine, ask, index, (placed.question, answer))
        known = (finish, usage_of(answer), timings_of(answer))
        turn = Turn(ask.thread, placed.question, answer, reply.sent or request, index, *known)
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
    path = placed.before if ask.history else ()
    before = [message for message in path if message.id not in ask.hidden]
    question = placed.question
    if ask.aside:
        question = replace(question, parts=(TextPart(ask.aside), *question.parts))
    messages = alternate((*before, question))
    stable = len(messages) - 1
    return ChatRequest(ask.model, messages, ask.system, options=ask.options, stable=stable)


def asked_for(ask: Ask, placed: Placed) -> str:
    """Return what tells whether the same is asked again; what changes by itself does not count."""
    return digest(assemble(replace(ask, aside=""), placed))


def keep_question(engine: Engine, ask: Ask, placed: Placed) -> TreeIndex:
    """Write the question, and which cell asked; a side turn is written only when it is over."""
    if not ask.history:
        return ask.index
    linked = [link_to(each, placed.question) for each in ask.overlays]
    engine.apply(ask.thread, placed.changes, linked)
    return ask.index.after(placed.changes)


def link_to(overlay: Overlay, question: Message) -> Overlay:
    """Fill the question into a cell's link."""
    return replace(overlay, message=question.id) if isinstance(overlay, CellLink) else overlay


def keep_partial(engine: Engine, ask: Ask, answer: Message, reply: Reply) -> None:
    """Write what was said so far; should the kernel die now, this is how it is found again."""
    if ask.history:
        mark: dict[str, Json] = {"jan_magics": {"model": str(ask.model), "finish": "interrupted"}}
        engine.trees.save(replace(answer, parts=reply.folding.parts(), metadata=mark))


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


def finished(ask: Ask, answer: Message, reply: Reply, end: tuple[FinishReason, str]) -> Message:
    """Return the answer as it is stored; `end` is how it ended and the digest of what was asked."""
    finish, asked = end
    usage, timings, parts = reply.usage(), reply.timings(), reply.folding.parts()
    if ask.partial is None:
        return replace(
            answer, parts=parts, metadata=outcome(ask.model, finish, usage, timings, asked)
        )
    usage, timings = total_usage(answer, usage), total_timings(answer, timings)
    return continued(answer, parts, outcome(ask.model, finish, usage, timings, asked))
