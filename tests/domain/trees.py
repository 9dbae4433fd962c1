"""Short ways to write messages and to look at trees."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from jan_magics.domain.messages import UNLINKED, Message, Parent, TextPart
from jan_magics.domain.tree import KEEP, Changes, TreeIndex

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def message(
    name: str, parent: Parent = UNLINKED, time: float = 0, active: str | None = None
) -> Message:
    """An answer where the name begins with `a`, else a user message."""
    return Message(
        id=name,
        thread_id="t",
        role="assistant" if name.startswith("a") else "user",
        parts=(TextPart(f"text of {name}"),),
        created_at=at(time),
        parent_id=parent,
        active_child_id=active,
    )


def names(messages: Iterable[Message]) -> list[str]:
    return [message.id for message in messages]


def stored(index: TreeIndex, changes: Changes) -> TreeIndex:
    """The index of what a store holds after the changes, built anew."""
    messages = {message.id: message for message in (*index.messages, *changes.save)}
    tombstones = index._tombstones | {name: index.parent(name) for name in changes.deleted}
    root = index.root_id if changes.active_root_id is KEEP else changes.active_root_id
    kept = [message for name, message in messages.items() if name not in changes.deleted]
    return TreeIndex(kept, active_root_id=root, tombstones=tombstones)


def links(index: TreeIndex) -> dict[str, str | None]:
    return {message.id: index.parent(message.id) for message in index.messages}


def unlinked(messages: Iterable[Message]) -> list[Message]:
    return [replace(message, parent_id=UNLINKED) for message in messages]


def parents(changes: Changes) -> dict[str, Parent]:
    return {saved.id: saved.parent_id for saved in changes.save}


FORKED = (  # two answers to one question, and a question after each
    message("u1", None, 1),
    message("a1", "u1", 2),
    message("u2", "a1", 3),
    message("a2", "u1", 4),
    message("u3", "a2", 5),
)
ROOTS = (*FORKED, message("u9", None, 9))
LEGACY = tuple(message(name, time=time) for time, name in enumerate(("u1", "a1", "u2", "a2")))
