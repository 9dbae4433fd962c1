"""The stored answer in place of a new one: prompt, path, model and parameters are unchanged."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from jan_magics.domain.branching import select
from jan_magics.domain.messages import Message, text_of
from jan_magics.domain.overlays import CellLink, Change, Hidden, Mark, NextRoot, Overlay
from jan_magics.domain.tree import Changes
from jan_magics.engine.asks import Ask, Turn
from jan_magics.engine.engine import Engine
from jan_magics.engine.records import asked_of, finish_of, steps_of, timings_of, usage_of
from jan_magics.engine.reply import Progress
from jan_magics.engine.spots import link_to
from jan_magics.engine.turn import Show, asked_for, assemble, place, planned, run_turn

UNFIT: Final = frozenset({"tools", "max_steps", "stopped", "interrupted", "error"})
"""How an answer ended that did not end by itself: the same request would give more."""


async def make_turn(
    engine: Engine, ask: Ask, show: Show, over: Callable[[Turn], None], *, reusing: bool
) -> None:
    """Ask a model, or take the stored answer where `reusing` allows and there is one."""
    stored = await stored_turn(engine, ask) if reusing else None
    if stored is not None:
        over(stored)
        return
    said = text_of(ask.partial) if ask.partial else ""
    show(Progress(said, f"asking {ask.model}"))
    await run_turn(engine, ask, show, over)


async def stored_turn(engine: Engine, ask: Ask) -> Turn | None:
    """Return the turn that was made there already, and show its branch; None: it must be asked."""
    placed = place(engine, ask)
    plan = await planned(ask, placed)
    request = assemble(ask, plan)
    asked = asked_for(ask, placed)
    parent = placed.before[-1].id if placed.before else None
    for question in _questions(ask, parent):
        for answer in _answers(ask, question):
            finish = finish_of(answer)
            if finish and finish not in UNFIT and asked_of(answer) == asked:
                changes = select(ask.index, answer.id)
                overlays = _overlays(engine, ask, question, moved=changes != Changes())
                if changes != Changes() or overlays:
                    engine.apply(ask.thread, changes, overlays)
                index = ask.index.after(changes)
                known = (finish, usage_of(answer), timings_of(answer))
                turn = Turn(ask.thread, question, answer, request, index, *known, stored=True)
                return replace(turn, plan=plan, steps=steps_of(answer), schema=ask.schema)
    return None


def _questions(ask: Ask, parent: str | None) -> Iterator[Message]:
    """Yield the questions at that place: those on the path first, then the newest."""
    index = ask.index
    if parent is not None:
        there = index.children(parent)
    else:
        root = index.active_root()
        there = index.siblings(root.id) if root else ()
    path = {message.id for message in index.path()}
    questions = [message for message in reversed(there) if message.role == "user"]
    yield from sorted(questions, key=lambda message: message.id not in path)


def _answers(ask: Ask, question: Message) -> Iterator[Message]:
    active = ask.index.active_child(question.id)
    if active is not None:
        yield active
    yield from reversed(ask.index.children(question.id))


def _overlays(engine: Engine, ask: Ask, question: Message, *, moved: bool) -> list[Overlay]:
    """Return what is written beside the pointers; where nothing is left, no change is noted."""
    kept = [
        link_to(each, question)
        for each in ask.overlays
        if isinstance(each, NextRoot | Hidden | Mark)
        or (isinstance(each, CellLink) and ask.spot.where != "again")
    ]
    changes = [each for each in ask.overlays if isinstance(each, Change)]
    head = ask.index.head()
    if moved and not changes and head is not None and ask.spot.where != "root":
        changes = [Change(engine.new_id(), "branch", {"head": head.id}, engine.now())]
    return [*kept, *(changes if moved else ())]
