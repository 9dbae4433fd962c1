"""A plan as rows that can be read, edited and written back; made only when somebody looks."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from jan_magics.context.counting import count_message
from jan_magics.context.plan import ContextPlan
from jan_magics.context.segments import ARCHIVED, COMPRESSED, TRUNCATED
from jan_magics.context.summary import summary_text
from jan_magics.domain.messages import Message, text_of
from jan_magics.domain.overlays import MarkAction

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        COMPRESSED: "in a summary",
        ARCHIVED: "context cleared after it",
        TRUNCATED: "hidden",
    }
)


@dataclass(frozen=True, slots=True)
class Row:
    """A stored message in a plan; the system text and a summary have no id.

    `tokens` are what it costs, or would cost; those of a message that is sent inside another one,
    or in the system text, are counted there.
    """

    id: str | None
    role: str
    action: MarkAction
    tokens: int
    reason: str
    text: str
    sent: bool = True


def rows_of(plan: ContextPlan) -> tuple[Row, ...]:
    """Return a row for the system text, for a summary, and for every message of the path.

    The tokens of the rows that are sent, with those of the tools, are the plan's tokens.
    """
    return (*_heads(plan), *_messages(plan))


def _heads(plan: ContextPlan) -> Iterator[Row]:
    summary, system = plan.seen.summary, plan.system
    told = summary_text(summary) if summary else ""
    if instructions := system.removesuffix(told).strip():
        yield Row(None, "system", "keep", plan.costs.system, "instructions", instructions)
    if summary:
        reason = f"summary of {len(summary.covers)} messages"
        yield Row(None, "system", "keep", plan.costs.summary, reason, told)


def _messages(plan: ContextPlan) -> Iterator[Row]:
    measured, asked = plan.measured, _asked(plan)
    sent = plan.sent.union(each.id for _, each in measured.system)
    for place, message in enumerate(measured.path):
        if message.id in plan.seen.statuses:
            tokens, (action, reason) = (
                count_message(message, measured.tokenizer),
                _unsent(plan, message),
            )
        elif message.role == "system":
            tokens, action, reason = 0, "keep", "in the system text"
        else:
            number = measured.number_at(place)
            size = measured.tokens_at(place)
            tokens = size or 0
            turn = bisect_right(measured.turns, number) - 1
            if place >= asked:
                action, reason = "keep", "prompt"
            else:
                action, reason = _sent(plan, message, turn)
            if size is None and action != "drop" and place < asked:
                reason = _part_of(measured.messages[number], message)
        text, is_sent = text_of(message), message.id in sent
        yield Row(message.id, message.role, action, tokens, reason, text, is_sent)


def _asked(plan: ContextPlan) -> int:
    """Return where the prompt stands; an unanswered question before it may be sent with it."""
    path = plan.measured.path
    asked = (n for n in reversed(range(len(path))) if path[n].role == "user")
    return next(asked, len(path))


def _part_of(whole: Message, message: Message) -> str:
    """Say what became of a message that is not sent as one of its own."""
    if whole.role != message.role:
        return "says nothing"
    return f"sent with the {'question' if whole.role == 'user' else 'answer'} before it"


def _unsent(plan: ContextPlan, message: Message) -> tuple[MarkAction, str]:
    seen = plan.seen
    status = seen.status(message.id)
    if status == COMPRESSED:
        return "summarise", REASONS[COMPRESSED]
    if message.id in seen.led:
        return "drop", "its question is hidden"
    if status == TRUNCATED and seen.summary and message.id in seen.summary.covers:
        return "drop", "hidden, but the summary tells of it"
    return "drop", REASONS.get(status, f"status {status!r}")


def _sent(plan: ContextPlan, message: Message, turn: int) -> tuple[MarkAction, str]:
    if turn not in plan.turns:
        return "drop", "trimmed" if turn >= 0 else "an answer cannot come first"
    mark, pinned = plan.seen.marks.get(message.id), message.id in plan.seen.pinned
    if mark == "summarise":
        return "summarise", "goes into the next summary"
    if pinned:
        return "pin", "pinned" if mark == "pin" else "its turn is pinned"
    if turn == len(plan.measured.turns) - 1:
        return "keep", "sent with the prompt"
    return "keep", "kept by you" if mark == "keep" else plan.reasons.get(turn, "")
