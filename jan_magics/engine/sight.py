"""What a footer says of how much of the thread was sent."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from jan_magics.context.plan import ContextPlan
from jan_magics.context.segments import ARCHIVED, COMPRESSED
from jan_magics.domain.messages import text_of
from jan_magics.domain.models import Usage
from jan_magics.engine.asks import Turn


@dataclass(frozen=True, slots=True)
class Sight:
    """How many stored messages a request holds, of how many, and where the others are.

    `trimmed` for lack of room, `covered` by a summary that is sent, `cleared` before a segment.
    """

    sees: int
    total: int
    trimmed: int
    covered: int = 0
    cleared: int = 0


def sight_of(turn: Turn) -> Sight | None:
    """Return what a turn's request saw of its path."""
    plan = turn.plan
    if plan is None:
        return None
    path = plan.measured.path
    # From its second step on a turn sends its own answer too, as far as it has come.
    own = sum(message.id == turn.answer.id for message in path)
    seen = len(plan.sent) + len(plan.measured.system)
    held = Counter(plan.seen.statuses[m.id] for m in path if m.id in plan.seen.statuses)
    return Sight(seen - own, len(path) - own, plan.trimmed, held[COMPRESSED], held[ARCHIVED])


def known_usage(turn: Turn) -> tuple[Usage, bool]:
    """Return a turn's tokens, and whether they were estimated, as the server did not say them."""
    plan, usage = turn.plan, turn.usage
    if plan is None or turn.stored or usage.input is not None:
        return usage, False
    output = plan.measured.tokenizer.count(text_of(turn.answer))
    return replace(usage, input=plan.tokens, output=usage.output or output), not plan.exact


def sight_lines(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield what must be said of a turn's plan, each line with what tells it from others.

    A line is told once for as long as nothing changes: until trimming falls further, say.
    """
    plan = turn.plan
    if plan is None or turn.stored:
        return
    for note in turn.notes:
        # What came of this turn is told each time, also when another turn came to the same.
        yield f"{turn.question.id} {note}", note
    if plan.trimmed and plan.budget.strategy == "recent":
        first = plan.measured.path[plan.measured.origins[plan.measured.turns[plan.turns[0]]]].id
        yield (
            f"trimmed before {first}",
            "the oldest messages are left out · keep them as a summary: %chat compact",
        )
    elif warning := _warning(plan):
        yield f"nearly full {turn.thread.id}", warning


def _warning(plan: ContextPlan) -> str:
    history = plan.costs.history
    if plan.budget.window is None or history <= 0 or plan.full < plan.budget.warn * history:
        return ""
    about = "" if plan.exact else "≈"
    share = f"{about}{plan.full / history:.0%}"
    return f"history fills {share} of its room · look: %chat budget, make room: %chat compact"
