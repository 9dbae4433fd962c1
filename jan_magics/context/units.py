"""Messages -> units, which are sent or left out whole: a tool call with all its results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jan_magics.domain.messages import Message, ToolCallPart, ToolResultPart

Kind: TypeAlias = Literal["user", "assistant", "tools", "system"]


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages that stay or go together, and their tokens."""

    messages: tuple[Message, ...]
    tokens: int
    kind: Kind
    pinned: bool = False


def units_of(
    messages: Sequence[Message], tokens: Sequence[int], pinned: frozenset[str] = frozenset()
) -> tuple[Unit, ...]:
    """Group messages into units; `tokens` are those of each message.

    A message with tool calls takes in what follows it until every call has its result, and the
    answer after that: half of it would be refused by every server.
    """
    units: list[Unit] = []
    first = 0
    while first < len(messages):
        last = _end(messages, first)
        chosen = tuple(messages[first:last])
        kind: Kind = chosen[0].role
        if len(chosen) > 1 or calls_of(chosen[0]):
            kind = "tools"
        is_pinned = any(message.id in pinned for message in chosen)
        units.append(Unit(chosen, sum(tokens[first:last]), kind, is_pinned))
        first = last
    return tuple(units)


def calls_of(message: Message) -> frozenset[str]:
    """Return the ids of the tool calls of a message."""
    return frozenset(part.call_id for part in message.parts if isinstance(part, ToolCallPart))


def _end(messages: Sequence[Message], first: int) -> int:
    if not calls_of(messages[first]):
        return first + 1
    end = first + 1
    while end < len(messages) and messages[end].role == "assistant":
        end += 1
        if _answers(messages[end - 1]):
            break
    return end


def _answers(message: Message) -> bool:
    """Tell whether a message is the answer that ends a run of tool calls."""
    return not calls_of(message) and not all(
        isinstance(part, ToolResultPart) for part in message.parts
    )
