"""A path as it would be sent whole: cleaned, counted, and divided into turns.

Measuring goes on from the measure before, so that a message that is added costs that message.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeAlias

from jan_magics.context.counting import count_message
from jan_magics.context.segments import Seen
from jan_magics.domain.messages import Message, stored_id
from jan_magics.domain.protocols import Tokenizer

Clean: TypeAlias = Callable[[Sequence[Message]], Sequence[Message]]
"""Repairs a list of messages for a provider. Between two turns nothing is moved or merged, so that
each can be repaired alone; a message keeps the id of the first that it was made from."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is sent of a path when all of it fits.

    `messages` are cleaned; number n was made from the messages of the path from `origins[n]` on.
    `before[n]` are the tokens of the messages before number n, `turns` the numbers of questions.
    System messages of the thread stand apart, each with its place on the path: they go into the
    one system text.
    """

    path: tuple[Message, ...]
    seen: Seen
    tokenizer: Tokenizer
    clean: Clean
    system: tuple[tuple[int, Message], ...] = ()
    messages: tuple[Message, ...] = ()
    origins: tuple[int, ...] = ()
    before: tuple[int, ...] = (0,)
    turns: tuple[int, ...] = ()

    def tokens(self, first: int, last: int) -> int:
        """Return the tokens of the messages from number `first` to before `last`."""
        return self.before[last] - self.before[first]

    def sources(self, number: int) -> tuple[str, ...]:
        """Return the ids of the stored messages that a message was made from."""
        after = bisect_right(self.origins, self.origins[number])
        end = self.origins[after] if after < len(self.origins) else len(self.path)
        role = self.messages[number].role
        made = (m for m in self.path[self.origins[number] : end] if m.id not in self.seen.statuses)
        return tuple(message.id for message in made if message.role == role)

    def number_at(self, place: int) -> int:
        """Return the number of the message that was made from that place of the path, -1: none.

        Of several that were made from it, the last.
        """
        return bisect_right(self.origins, place) - 1

    def tokens_at(self, place: int) -> int | None:
        """Return the tokens of what was made from that place on, None where nothing begins."""
        first, last = bisect_left(self.origins, place), bisect_right(self.origins, place)
        return self.tokens(first, last) if first < last else None


def measure(
    path: tuple[Message, ...],
    seen: Seen,
    tokenizer: Tokenizer,
    clean: Clean,
    earlier: Measured | None = None,
    *,
    resend_reasoning: bool = False,
) -> Measured:
    """Measure a path, going on from an earlier measure of its beginning where there is one.

    `resend_reasoning`: the reasoning that cleaning has left is sent, too.
    """
    done, place = _begun(Measured(path, seen, tokenizer, clean), earlier)
    active = [n for n in range(place, len(path)) if path[n].id not in seen.statuses]
    system = tuple((n, path[n]) for n in active if path[n].role == "system")
    places = {path[n].id: n for n in active}
    cleaned = tuple(clean([path[n] for n in active if path[n].role != "system"]))
    again = resend_reasoning
    counts = [count_message(message, tokenizer, resend_reasoning=again) for message in cleaned]
    kept = len(done.messages)
    return Measured(
        path,
        seen,
        tokenizer,
        clean,
        done.system + system,
        done.messages + cleaned,
        done.origins + tuple(_place(places, message) for message in cleaned),
        done.before[:-1] + tuple(accumulate(counts, initial=done.before[-1])),
        done.turns + tuple(kept + n for n, each in enumerate(cleaned) if each.role == "user"),
    )


def _place(places: Mapping[str, int], message: Message) -> int:
    """Return where the stored message stands that a message, or a wave of it, was made from."""
    found = places.get(message.id)
    return places[stored_id(message.id)] if found is None else found


def _begun(wanted: Measured, earlier: Measured | None) -> tuple[Measured, int]:
    """Return as much of an earlier measure as holds, and the place on the path to go on from.

    That is where a turn begins: what is before a question is not changed by it. The last question
    is measured anew: it was sent with what its turn adds, and later it is sent without.
    """
    fresh = replace(wanted, path=())
    if earlier is None or earlier.seen != wanted.seen or earlier.clean != wanted.clean:
        return fresh, 0
    same = len(earlier.path) - 1
    if earlier.tokenizer != wanted.tokenizer or earlier.path[:same] != wanted.path[:same]:
        return fresh, 0
    turn = bisect_right(earlier.turns, earlier.number_at(same)) - 1
    if turn < 1:
        return fresh, 0
    kept = earlier.turns[turn]
    place = earlier.origins[kept]
    begun = Measured(
        wanted.path[:place],
        wanted.seen,
        wanted.tokenizer,
        wanted.clean,
        tuple(each for each in earlier.system if each[0] < place),
        earlier.messages[:kept],
        earlier.origins[:kept],
        earlier.before[: kept + 1],
        earlier.turns[:turn],
    )
    return begun, place
