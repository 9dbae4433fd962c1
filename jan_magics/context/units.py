"""Messages -> units, which are sent or left out whole: a tool call with all its results."""

from collections.abc import Sequence

from jan_magics.domain.messages import Message, ToolCallPart, ToolResultPart


def units_of(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """Group messages into units.

    A message with tool calls takes in what follows it until every call has its result, and the
    answer after that: half of it would be refused by every server.
    """
    units: list[tuple[Message, ...]] = []
    first = 0
    while first < len(messages):
        last = _end(messages, first)
        units.append(tuple(messages[first:last]))
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
