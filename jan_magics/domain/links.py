"""Where each message hangs: by its written link, or in a view for those without a usable one.

Nothing is written here, so a thread of Jan's stays as Jan left it until somebody asks for repair.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from jan_magics.domain.messages import UNLINKED, Message


@dataclass(frozen=True, slots=True)
class Links:
    """Where every message of a thread hangs; parents in the order of time, None for a root.

    `linked` tells whether any parent is written, `sound` whether all hang where it is written.
    """

    parents: dict[str, str | None]
    children: dict[str | None, tuple[str, ...]]
    linked: bool
    sound: bool

    def keep_in_place(self, old: Message, new: Message) -> bool:
        """Tell whether saving a known message anew moves neither it nor any other."""
        same = (old.parent_id, old.created_at) == (new.parent_id, new.created_at)
        return self.linked and same

    def take_leaf(self, message: Message, known: Mapping[str, Message]) -> bool:
        """Tell whether a new message can be hung where it says, and moves no other."""
        up = message.parent_id
        if not (self.linked and self.sound) or up is UNLINKED or not (up is None or up in known):
            return False
        return known[next(reversed(self.parents))].created_at <= message.created_at

    def with_leaf(self, identifier: str, parent: str | None) -> "Links":
        """Hang a message that is newer than all others."""
        siblings = (*self.children.get(parent, ()), identifier)
        return replace(
            self,
            parents=self.parents | {identifier: parent},
            children=self.children | {parent: siblings},
        )


def links_after(
    links: Links, known: Mapping[str, Message], saved: Iterable[Message]
) -> Links | None:
    """Return the links after a save that moves no message, None where one may move."""
    fresh: Message | None = None
    for message in saved:
        old = known.get(message.id)
        if old is not None and links.keep_in_place(old, message):
            continue
        if old is not None or fresh is not None or not links.take_leaf(message, known):
            return None
        fresh = message
    if fresh is None:
        return links
    return links.with_leaf(fresh.id, None if fresh.parent_id is UNLINKED else fresh.parent_id)


def links_of(known: Mapping[str, Message], tombstones: Mapping[str, str | None]) -> Links:
    """Place every message and note what hangs below each."""
    parents = place(known, tombstones)
    below: dict[str | None, list[str]] = {}
    for child, parent in parents.items():
        below.setdefault(parent, []).append(child)
    return Links(
        parents,
        {parent: tuple(children) for parent, children in below.items()},
        linked=is_linked(known.values()),
        sound=all(known[child].parent_id == parent for child, parent in parents.items()),
    )


def is_linked(messages: Iterable[Message]) -> bool:
    """Tell whether some message has a written parent, a root's None included."""
    return any(message.parent_id is not UNLINKED for message in messages)


def has_branching(messages: Iterable[Message]) -> bool:
    """Tell whether some message has a written parent or names an active child."""
    return any(
        message.parent_id is not UNLINKED or message.active_child_id is not None
        for message in messages
    )


def resolve(
    identifier: str | None, known: Mapping[str, Message], tombstones: Mapping[str, str | None]
) -> str | None:
    """Follow tombstones up to a message that is left, or to None for a root.

    Returns an id that is not in `known` where the trail ends at a message nobody remembers.
    """
    passed: set[str] = set()
    while identifier is not None and identifier not in known:
        if identifier in passed or identifier not in tombstones:
            return identifier
        passed.add(identifier)
        identifier = tombstones[identifier]
    return identifier


def place(
    known: Mapping[str, Message], tombstones: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return each message's parent, None for a root, ordered so that siblings follow in time.

    The result is a forest that holds every message. Without a written link it is one chain in the
    order of writing. A message that has no usable link hangs below the message before it by
    time; those that name the same lost parent stay siblings.
    """
    if not is_linked(known.values()):
        first = dict.fromkeys(list(known)[:1])
        return first | {child: parent for parent, child in pairwise(known)}
    parents, loose = _written(known, tombstones)
    tops = _tops(parents, loose)
    if loose:
        _hang(parents, loose, tops)
    return parents


def _written(
    known: Mapping[str, Message], tombstones: Mapping[str, str | None]
) -> tuple[dict[str, str | None], dict[str, str]]:
    """Split messages by time: parents as written, and the loose ones with what they share."""
    parents: dict[str, str | None] = {}
    loose: dict[str, str] = {}
    for message in sorted(known.values(), key=lambda message: message.created_at):
        identifier, parent = message.id, message.parent_id
        if parent is UNLINKED:
            loose[identifier] = identifier
            parents[identifier] = None
            continue
        target = resolve(parent, known, tombstones)
        if target is not None and (target == identifier or target not in known):
            loose[identifier] = target
            target = None
        parents[identifier] = target
    return parents, loose


def _tops(parents: dict[str, str | None], loose: dict[str, str]) -> dict[str, str]:
    """Return the topmost ancestor of each message; a cycle is cut above its earliest message."""
    rank = {identifier: position for position, identifier in enumerate(parents)}
    tops: dict[str, str] = {}
    for start in parents:
        trail: list[str] = []
        node: str | None = start
        while node is not None and node not in tops:
            tops[node] = node  # marks it as walked; the true top is set below
            trail.append(node)
            node = parents[node]
        if node is None:
            top = trail[-1]
        elif node in trail:
            top = min(trail[trail.index(node) :], key=rank.__getitem__)
            parents[top] = None
            loose[top] = top
        else:
            top = tops[node]
        tops.update(dict.fromkeys(trail, top))
    return tops


def _hang(parents: dict[str, str | None], loose: dict[str, str], tops: dict[str, str]) -> None:
    """Hang each loose message below the nearest earlier one that a root already reaches.

    Only what is reached can be a new parent, so no order of times can close a cycle.
    """
    reached = {top for top in tops.values() if top not in loose}
    shared: dict[str, str | None] = {}
    before: str | None = None
    for identifier in parents:
        if tops[identifier] not in reached:
            if identifier not in loose:
                continue  # a child with an earlier time than its loose parent, which comes later
            parents[identifier] = shared.setdefault(loose[identifier], before)
            reached.add(identifier)
        before = identifier
