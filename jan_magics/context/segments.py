"""What our records say of one path: which messages are sent, and what stands for the others.

A record counts on a path that contains its `upto` and while its change was not taken back: a
branch made before a summary still sees the messages, one made after sees the summary.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from jan_magics.domain.messages import Message
from jan_magics.domain.overlays import (
    Change,
    Hidden,
    Mark,
    MarkAction,
    Overlay,
    SegmentCut,
    Summary,
    TrimCut,
    Undone,
    taken_back,
)

ACTIVE: Final = "active"
TRUNCATED: Final = "truncated"
COMPRESSED: Final = "compressed"
ARCHIVED: Final = "archived_segment"

SENT: Final = frozenset({None, ACTIVE, "ready", "pending", "stopped", "error"})
"""A stored status of others that is sent like none at all; every other one is not sent."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A path as our records show it.

    `statuses` names only the messages that are not sent; `led` are those of them that are hidden
    because their question is. `pinned` are the ids of whole turns that hold a pinned message.
    `cuts` are where trimming fell to, the newest last.
    """

    statuses: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, MarkAction] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()
    summary: Summary | None = None
    cuts: tuple[TrimCut, ...] = ()
    segment: int = 0
    led: frozenset[str] = frozenset()

    def status(self, identifier: str) -> str:
        """Return the status of a message on this path."""
        return self.statuses.get(identifier, ACTIVE)


def look(path: Sequence[Message], records: Iterable[Overlay]) -> Seen:
    """Lay records over a path. `segment` counts the messages before the newest cut."""
    ours = in_effect(records)
    foreign = {m.id: str(s) for m in path if m.extra and (s := m.extra.get("status")) not in SENT}
    if not ours and not foreign:
        return Seen()
    place = {message.id: n for n, message in enumerate(path)}
    marks = {m.id: m.action for m in ours if isinstance(m, Mark) and m.upto in place}
    marks = {identifier: action for identifier, action in marks.items() if identifier in place}
    pinned = whole_turns(path, {each for each, action in marks.items() if action == "pin"})
    cut = _last_cut(ours, place)
    segment = place[cut.upto] + 1 if cut else 0
    summary = _told(ours, place, segment)
    statuses = {each: COMPRESSED for each in (summary.covers if summary else ()) if each in place}
    statuses |= {message.id: ARCHIVED for message in path[:segment]}
    kept = whole_turns(path, {each for each, action in marks.items() if action == "keep"})
    for identifier in pinned | kept:
        # A pin outlasts a clearing and a summary; a turn that is to be kept, a summary.
        if identifier in pinned or statuses.get(identifier) == COMPRESSED:
            statuses.pop(identifier, None)
    hidden = {each.id: each.hidden for each in ours if isinstance(each, Hidden)}
    gone = {identifier for identifier, is_hidden in hidden.items() if is_hidden}
    gone |= {identifier for identifier, action in marks.items() if action == "drop"}
    statuses |= foreign | {identifier: TRUNCATED for identifier in gone if identifier in place}
    led = _left_alone(path, statuses)
    statuses |= dict.fromkeys(led, TRUNCATED)
    cuts = tuple(each for each in ours if isinstance(each, TrimCut) and each.upto in place)
    return Seen(statuses, marks, pinned, summary, cuts, segment, led)


def in_effect(records: Iterable[Overlay]) -> list[Overlay]:
    """Return the records that bear on what is sent and were not taken back, in their order."""
    kinds = (Hidden, SegmentCut, Summary, Mark, TrimCut)
    ours = [each for each in records if isinstance(each, (*kinds, Undone, Change))]
    undone = taken_back(ours)
    return [
        each
        for each in ours
        if isinstance(each, kinds) and getattr(each, "change", None) not in undone
    ]


def whole_turns(path: Sequence[Message], chosen: Iterable[str]) -> frozenset[str]:
    """Return the ids of all messages of the turns that hold a chosen one.

    A question and its answers: alone, neither could be sent.
    """
    wanted, turn, found = set(chosen), list[str](), set[str]()
    if not wanted:
        return frozenset()
    for message in path:
        if message.role == "user":
            turn = []
        turn.append(message.id)
        if message.id in wanted or found.intersection(turn):
            found.update(turn)
    return frozenset(found)


def _left_alone(path: Sequence[Message], statuses: Mapping[str, str]) -> frozenset[str]:
    """Return what would be sent of turns whose question is hidden.

    It would stand behind the answer before it, as if it had been said to the question of that.
    """
    gone, found = False, set[str]()
    for message in path:
        if message.role == "user":
            gone = statuses.get(message.id) not in (None, COMPRESSED, ARCHIVED)
        elif gone and message.role == "assistant" and message.id not in statuses:
            found.add(message.id)
    return frozenset(found)


def _told(records: Sequence[Overlay], place: Mapping[str, int], segment: int) -> Summary | None:
    """Return what the summaries from a segment on tell, as one, the oldest first.

    Each takes the one before it along, but for one that was made while that was cleared: then both
    hold once the clearing is taken back. `change` is that of the newest.
    """
    found = [each for each in records if isinstance(each, Summary) and each.upto in place]
    # The newest of several that reach equally far goes first; sorting keeps their order.
    found = [each for each in found[::-1] if place[each.upto] >= segment]
    told: Summary | None = None
    for each in sorted(found, key=lambda each: -place[each.upto]):
        if told is None:
            told = each
        elif not set(each.covers) <= set(told.covers):
            told = _joined(each, told)
    return told


def _joined(first: Summary, later: Summary) -> Summary:
    kinds = dict.fromkeys((*first.ledger, *later.ledger))
    ledger = {
        kind: tuple(dict.fromkeys((*first.ledger.get(kind, ()), *later.ledger.get(kind, ()))))
        for kind in kinds
    }
    text = f"{first.text.strip()}\n\n{later.text.strip()}"
    covers = tuple(dict.fromkeys((*first.covers, *later.covers)))
    return replace(later, text=text, ledger=ledger, covers=covers)


def _last_cut(records: Sequence[Overlay], place: Mapping[str, int]) -> SegmentCut | None:
    """Return the cut that is furthest down a path, the newest of several there."""
    found = [each for each in records if isinstance(each, SegmentCut) and each.upto in place]
    return max(reversed(found), key=lambda each: place[each.upto], default=None)
