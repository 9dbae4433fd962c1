"""Where trimming falls: from its high mark to its low one, on the borders of turns.

A turn is a question with all that answers it, so that what is left begins with a question.
"""

from bisect import bisect_left
from collections.abc import Callable, Set

from jan_magics.context.measure import Measured


def kept_from(measured: Measured, start: int, pinned: Set[int], high: int, low: int) -> int:
    """Return the first turn that is sent, with all after it; turns are numbered from 0.

    `start` is where the last trimming fell to. While what follows it and the pinned turns before
    it fit into `high` tokens nothing moves; else the border falls until they fit into `low`. The
    last turn is the prompt: it is not counted here, and always sent.
    """
    last = len(measured.turns) - 1
    size = sizes_of(measured, pinned)
    if last <= start or size(start) <= high:
        return min(start, max(last, 0))
    fallen = _first_that_fits(size, start, last, low)
    # A newest turn larger than the low mark is better than none.
    return fallen if fallen < last else _first_that_fits(size, start, last, high)


def sizes_of(measured: Measured, pinned: Set[int]) -> Callable[[int], int]:
    """Return a function: the tokens of history that are sent when turns begin with that one."""
    turns, before = measured.turns, measured.before
    if not turns:
        return lambda _: 0
    end = before[turns[-1]]
    costs = {turn: turn_tokens(measured, turn) for turn in sorted(pinned)}

    def size(first: int) -> int:
        earlier = sum(cost for turn, cost in costs.items() if turn < first)
        return end - before[turns[first]] + earlier

    return size


def turn_tokens(measured: Measured, turn: int) -> int:
    """Return the tokens of one turn."""
    turns = measured.turns
    end = turns[turn + 1] if turn + 1 < len(turns) else len(measured.messages)
    return measured.tokens(turns[turn], end)


def _first_that_fits(size: Callable[[int], int], start: int, last: int, limit: int) -> int:
    """Return the first turn from which on all fits; sizes never grow with the turn."""
    return bisect_left(range(start, last), True, key=lambda turn: size(turn) <= limit) + start
