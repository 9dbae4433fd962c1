"""The calls among the parts of an answer: which are open, and that none stays so. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from jan_magics.domain.messages import Part, ToolCallPart, ToolResultPart

INTERRUPTED = "interrupted before there was a result"


def open_calls(parts: Iterable[Part]) -> tuple[ToolCallPart, ...]:
    """Return the calls that have no result yet."""
    waiting: list[ToolCallPart] = []
    for part in parts:
        if isinstance(part, ToolCallPart):
            waiting.append(part)
        elif isinstance(part, ToolResultPart):
            found = next((call for call in waiting if call.call_id == part.call_id), None)
            if found is not None:
                waiting.remove(found)
    return tuple(waiting)


def answered(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return parts in which every call has a result: an open one was interrupted."""
    return (
        *parts,
        *(
            ToolResultPart(call.call_id, call.name, INTERRUPTED, "interrupted")
            for call in open_calls(parts)
        ),
    )


def with_own_ids(
    parts: Iterable[Part], before: Iterable[Part], new_id: Callable[[], str]
) -> tuple[Part, ...]:
    """Return the parts of a step whose calls have ids that no other call of the answer has.

    Some servers give none, or count from 0 again at every step.
    """
    taken = Counter(part.call_id for part in before if isinstance(part, ToolCallPart))
    kept: list[Part] = []
    for part in parts:
        made = part
        if isinstance(part, ToolCallPart):
            if not part.call_id or taken[part.call_id]:
                made = replace(part, call_id=new_id())
            taken[part.call_id] += 1
        kept.append(made)
    return tuple(kept)
