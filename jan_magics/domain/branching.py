"""Plans for a change of branches: what to write, and nothing is written here."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from jan_magics.domain.links import has_branching, is_linked
from jan_magics.domain.messages import UNLINKED, Message, Parent, Part, TextPart
from jan_magics.domain.tree import KEEP, Changes, RootPointer, TreeIndex

ERROR_MARKS: Final = frozenset({"error", "contextError", "oomError", "backendError"})
"""Keys of the metadata that tell how one attempt failed; no later version inherits them."""
OUTCOME: Final = frozenset({"status", "completed_at"})
"""Keys beside the metadata, as Jan writes them, that tell how and when one attempt ended."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """Where a continued answer hangs, and the partial answer that it replaces."""

    parent_id: str | None
    delete_partial_id: str | None


def select(index: TreeIndex, identifier: str) -> Changes:
    """Plan the switch to the path through a message. Raises MessageNotFound."""
    path, shown = index.path_to(identifier), index.path()
    pairs = zip(path, shown, strict=False)
    fork = next((n for n, (wanted, now) in enumerate(pairs) if wanted is not now), len(path))
    save = tuple(
        replace(parent, active_child_id=child.id)
        for parent, child in pairwise(path[max(fork - 1, 0) :])
        if index.active_child(parent.id) is not child
    )
    return Changes(save, path[0].id if fork == 0 else KEEP)


def backfill(path: Sequence[Message]) -> tuple[Message, ...]:
    """Link a path without links into a chain; nothing to do where any link is written."""
    if is_linked(path):
        return ()
    above: list[str | None] = [None, *(message.id for message in path[:-1])]
    return tuple(
        replace(message, parent_id=parent) for message, parent in zip(path, above, strict=False)
    )


def make_sibling(source: Message, new_id: str, now: datetime, text: str | None = None) -> Message:
    """Copy a message as a new version; a given text replaces its text parts only.

    The active child and marks of errors stay with the source. A source without a link gives a
    root: use `fork` where a thread may have such messages.
    """
    return replace(
        source,
        id=new_id,
        created_at=now,
        parent_id=None if source.parent_id is UNLINKED else source.parent_id,
        active_child_id=None,
        parts=source.parts if text is None else _with_text(source.parts, text),
        metadata={key: value for key, value in source.metadata.items() if key not in ERROR_MARKS},
        extra={key: value for key, value in source.extra.items() if key not in OUTCOME},
    )


def fork(
    index: TreeIndex, identifier: str, new_id: str, now: datetime, text: str | None = None
) -> Changes:
    """Plan a new version of a message at its place, shown at once. Raises MessageNotFound."""
    parent = index.parent(identifier)
    source = replace(index[identifier], parent_id=parent)
    shown = Changes() if parent is None else select(index, parent)
    return shown.then(attach(index.after(shown), make_sibling(source, new_id, now, text)))


def attach(index: TreeIndex, message: Message) -> Changes:
    """Plan the writing of a question or a finished answer, and let its parent point to it.

    A new message without a link goes to the head. A known one keeps its links, whatever the
    given copy says; when nothing else in it is new either, nothing is written at all. Whether
    the path leads to the parent is left as it is: the user may have gone elsewhere meanwhile.
    """
    if message.id in index:
        known = index[message.id]
        message = replace(message, parent_id=known.parent_id, active_child_id=known.active_child_id)
        if message == known:
            return Changes()
        parent: Parent = index.parent(message.id) if index.linked else UNLINKED
    else:
        parent = _place_of(index, message)
        message = replace(message, parent_id=parent)
    if parent is UNLINKED:
        return Changes((message,))
    filled = {} if index.linked else {link.id: link for link in backfill(index.path())}
    if parent is None:
        shown = index.active_root()
        root_id: RootPointer = KEEP if shown is None or shown.id == message.id else message.id
        return Changes((*filled.values(), message), root_id)
    above = filled.get(parent, index[parent])
    if above.active_child_id != message.id:
        filled[parent] = replace(above, active_child_id=message.id)
    return Changes((*filled.values(), message))


def delete(index: TreeIndex, identifier: str) -> Changes:
    """Plan the deletion of one message: its children move up. Raises MessageNotFound."""
    gone, parent = index[identifier], index.parent(identifier)
    children = index.children(identifier)
    # Without any written link the order of writing links them, with one message less.
    moved = [replace(child, parent_id=parent) for child in children] if index.linked else []
    left = [message for message in index.siblings(identifier) if message is not gone]
    heirs = sorted((*left, *children), key=lambda message: message.created_at)
    active = index.active_root() if parent is None else index.active_child(parent)
    if active is gone:
        active = index.active_child(identifier) or (heirs[-1] if heirs else None)
    wanted = active.id if active else None
    if parent is None:
        root_id = KEEP if _points(index.root_id, wanted, heirs) else wanted
        return Changes(tuple(moved), root_id, (identifier,))
    above = index[parent]
    if not _points(above.active_child_id, wanted, heirs):
        moved.append(replace(above, active_child_id=wanted))
    return Changes(tuple(moved), KEEP, (identifier,))


def repair_detached(index: TreeIndex) -> Changes:
    """Plan links for answers that a thread with branches left without a question.

    Each goes below the nearest earlier user message, and the first later user message there
    moves below the answer. Versions of an opening answer are roots by right and stay.
    """
    if not has_branching(index.messages):
        return Changes()
    ordered = sorted(index.messages, key=lambda message: message.created_at)
    links: dict[str, Parent] = {message.id: message.parent_id for message in ordered}
    changed: dict[str, str] = {}
    opened = bool(ordered) and ordered[0].role == "assistant" and ordered[0].parent_id is None
    later = _questions(ordered)
    user: str | None = None
    for position, message in enumerate(ordered):
        if message.role == "user":
            user = message.id
        link = links[message.id]
        detached = link is UNLINKED or (link is None and not opened)
        if message.role != "assistant" or user is None or not detached:
            continue
        changed[message.id] = links[message.id] = user
        questions = later.get(user, deque())
        while questions and questions[0][0] < position:
            questions.popleft()
        if questions:
            displaced = questions.popleft()[1]
            changed[displaced] = links[displaced] = message.id
    return _relinked(index, changed)


def settle_links(index: TreeIndex) -> Changes:
    """Plan the writing of every link that this view had to find; only a repair does that."""
    if not has_branching(index.messages):
        return Changes()
    places = {message.id: index.parent(message.id) for message in index.messages}
    return _relinked(index, places)


def plan_continuation(
    index: TreeIndex, *, reply_id: str, partial_id: str | None, fallback_parent_id: str | None
) -> Continuation:
    """Plan where a continued answer hangs: beside its partial answer, else at the fallback."""
    if partial_id is None or partial_id not in index:
        return Continuation(fallback_parent_id, None)
    parent = index.parent(partial_id)
    return Continuation(
        fallback_parent_id if parent is None else parent,
        None if partial_id == reply_id else partial_id,
    )


def _place_of(index: TreeIndex, message: Message) -> Parent:
    """Choose where a new message goes when its thread may have changed since it was begun."""
    head = index.head()
    if head is None:
        return None
    if message.parent_id in (UNLINKED, head.id):
        return head.id if index.linked else UNLINKED  # links are for the first fork
    target = index.resolve(message.parent_id)
    if target is None or target in index:
        return target
    question = index.nearest_user(head.id) if message.role == "assistant" else None
    return (question or head).id


def _with_text(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    """Put one text at the place of the last: in an answer with tools, after their results."""
    places = [place for place, part in enumerate(parts) if isinstance(part, TextPart)]
    last = places[-1] if places else 0
    before = [part for part in parts[:last] if not isinstance(part, TextPart)]
    after = [part for part in parts[last:] if not isinstance(part, TextPart)]
    return (*before, TextPart(text), *after)


def _points(pointer: str | None, wanted: str | None, heirs: Sequence[Message]) -> bool:
    """Tell whether a stored pointer leads to the wanted one of its heirs without a write."""
    if pointer is not None or not heirs:
        return pointer == wanted
    newest = [message.id for message in heirs if message.created_at == heirs[-1].created_at]
    return newest == [wanted]


def _questions(ordered: Sequence[Message]) -> dict[str, deque[tuple[int, str]]]:
    """Collect, below each parent, the user messages with their positions in time."""
    below: dict[str, deque[tuple[int, str]]] = {}
    for position, message in enumerate(ordered):
        if message.role == "user" and isinstance(message.parent_id, str):
            below.setdefault(message.parent_id, deque()).append((position, message.id))
    return below


def _relinked(index: TreeIndex, places: Mapping[str, str | None]) -> Changes:
    """Save the messages whose written parent differs from the given one."""
    pairs = ((index[identifier], parent) for identifier, parent in places.items())
    return Changes(
        tuple(
            replace(message, parent_id=parent)
            for message, parent in pairs
            if message.parent_id != parent
        )
    )
