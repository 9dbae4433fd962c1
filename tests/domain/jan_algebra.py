"""Jan's own algebra of branches, written from its description and not from our code.

It looks at `parent_id`, `active_child_id` and `created_at` of a flat list, as Jan's front end does.
"""

from collections.abc import Sequence

from jan_magics.domain.messages import UNLINKED, Message


def by_time(messages: Sequence[Message]) -> list[Message]:
    return sorted(messages, key=lambda message: message.created_at)


def has_branching(messages: Sequence[Message]) -> bool:
    return any(m.parent_id is not UNLINKED or m.active_child_id is not None for m in messages)


def siblings(messages: Sequence[Message], message: Message) -> list[Message]:
    if message.parent_id is UNLINKED:
        return [message]
    return by_time([other for other in messages if other.parent_id == message.parent_id])


def active_child(messages: Sequence[Message], message: Message) -> Message | None:
    children = by_time([other for other in messages if other.parent_id == message.id])
    named = [child for child in children if child.id == message.active_child_id]
    return next(iter(named or children[-1:]), None)


def active_path(messages: Sequence[Message], active_root_id: str | None) -> list[Message]:
    if not has_branching(messages):
        return list(messages)
    roots = by_time([message for message in messages if message.parent_id is None])
    if not roots:
        return list(messages)
    node: Message | None = next((root for root in roots if root.id == active_root_id), roots[-1])
    path: list[Message] = []
    seen: set[str] = set()
    while node is not None and node.id not in seen:
        seen.add(node.id)
        path.append(node)
        node = active_child(messages, node)
    return path
