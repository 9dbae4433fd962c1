"""The tree of a thread: one index, from which every question about branches is answered.

What to write for a change of branches is planned in `branching.py`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final, TypeAlias

from jan_magics.domain.errors import MessageNotFound
from jan_magics.domain.links import links_after, links_of, resolve
from jan_magics.domain.messages import Message

ACTIVE_ROOT_KEY: Final = "activeRootId"
"""Where the thread's metadata keeps the active root."""


class Keep(Enum):
    """The value of a pointer that a change leaves as it is."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP
RootPointer: TypeAlias = str | Keep | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What to write in one transaction: messages to save, the active root, ids to delete."""

    save: tuple[Message, ...] = ()
    active_root_id: RootPointer = KEEP
    deleted: tuple[str, ...] = ()

    def then(self, later: "Changes") -> "Changes":
        """Join two plans, the later one made on what the first leaves."""
        saved = {message.id: message for message in (*self.save, *later.save)}
        root_id = self.active_root_id if later.active_root_id is KEEP else later.active_root_id
        return Changes(tuple(saved.values()), root_id, self.deleted + later.deleted)


class TreeIndex:
    """An unchanging index of one thread: built once in O(thread), then O(path) an operation.

    `messages` come in the order of writing; of two with one id the first counts, as in a store.
    `tombstones` name the parents of deleted messages. Every message is reached from some root:
    one without a usable link is placed here, at read time, and its stored links stay untouched.
    """

    __slots__ = ("_known", "_links", "_path", "_tombstones", "root_id")

    def __init__(
        self,
        messages: Iterable[Message] = (),
        *,
        active_root_id: str | None = None,
        tombstones: Mapping[str, str | None] = MappingProxyType({}),
    ) -> None:
        self._known: dict[str, Message] = {}
        for message in messages:
            self._known.setdefault(message.id, message)
        self._tombstones = dict(tombstones)
        self._links = links_of(self._known, self._tombstones)
        self._path: tuple[Message, ...] | None = None
        self.root_id = active_root_id

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._known

    def __getitem__(self, identifier: str) -> Message:
        try:
            return self._known[identifier]
        except KeyError:
            raise MessageNotFound(identifier) from None

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return all messages in the order of writing."""
        return tuple(self._known.values())

    @property
    def tombstones(self) -> Mapping[str, str | None]:
        """Return the ids of deleted messages with their parents."""
        return self._tombstones

    @property
    def linked(self) -> bool:
        """Tell whether parents are written; if not, the order of writing is the only link."""
        return self._links.linked

    @property
    def leaves(self) -> int:
        """Count the messages without children, which is the number of branches."""
        return len(self._known) - len(self._links.children.keys() - {None})

    def path(self) -> tuple[Message, ...]:
        """Return the active path, the root first."""
        if self._path is None:
            root = self.active_root()
            self._path = self._down(root.id) if root else ()
        return self._path

    def head(self) -> Message | None:
        """Return the last message of the active path."""
        path = self.path()
        return path[-1] if path else None

    def active_root(self) -> Message | None:
        """Return the root that the thread names, else the newest."""
        return self._active(None, self.root_id)

    def parent(self, identifier: str) -> str | None:
        """Return the id of the parent in this view, None for a root. Raises MessageNotFound."""
        return self._links.parents[self[identifier].id]

    def children(self, identifier: str) -> tuple[Message, ...]:
        """Return the children, the oldest first. Raises MessageNotFound."""
        return self._named(self[identifier].id)

    def active_child(self, identifier: str) -> Message | None:
        """Return the child that the message names, else the newest. Raises MessageNotFound."""
        return self._active(identifier, self[identifier].active_child_id)

    def siblings(self, identifier: str) -> tuple[Message, ...]:
        """Return the versions at this place by time, itself included. Raises MessageNotFound."""
        return self._named(self.parent(identifier))

    def version(self, identifier: str) -> tuple[int, int]:
        """Return (n, m): this is version n, from 1, of m. Raises MessageNotFound."""
        ids = self._links.children[self.parent(identifier)]
        return ids.index(identifier) + 1, len(ids)

    def path_to(self, identifier: str) -> tuple[Message, ...]:
        """Return the message with its ancestors, the root first. Raises MessageNotFound."""
        parents = self._links.parents
        trail = [self[identifier].id]
        while (above := parents[trail[-1]]) is not None:
            trail.append(above)
        return tuple([self._known[name] for name in reversed(trail)])

    def nearest_user(self, identifier: str) -> Message | None:
        """Return the last user message at or before this one on its path."""
        trail = reversed(self.path_to(identifier))
        return next((message for message in trail if message.role == "user"), None)

    def resolve(self, identifier: str | None) -> str | None:
        """Follow tombstones to a message that is left; an id that stays unknown is returned."""
        return resolve(identifier, self._known, self._tombstones)

    def after(self, changes: Changes) -> "TreeIndex":
        """Return the index with changes applied; cheap where messages only come or point anew."""
        root_id = self.root_id if changes.active_root_id is KEEP else changes.active_root_id
        known = self._known | {message.id: message for message in changes.save}
        links = None if changes.deleted else links_after(self._links, self._known, changes.save)
        if links is not None:
            index = TreeIndex(active_root_id=root_id, tombstones=self._tombstones)
            index._known, index._links = known, links
            return index
        buried = {name: self._links.parents.get(name) for name in changes.deleted}
        kept = [message for message in known.values() if message.id not in buried]
        return TreeIndex(kept, active_root_id=root_id, tombstones=self._tombstones | buried)

    def _down(self, identifier: str) -> tuple[Message, ...]:
        known, parents, children = self._known, self._links.parents, self._links.children
        message = known[identifier]
        trail = [message]
        while (ids := children.get(identifier)) is not None:
            named = message.active_child_id
            direct = named is not None and parents.get(named) == identifier
            identifier = named if direct and named is not None else ids[-1]
            trail.append(message := known[identifier])
        return tuple(trail)

    def _active(self, parent: str | None, named: str | None) -> Message | None:
        ids = self._links.children.get(parent)
        if not ids:
            return None
        direct = named is not None and named in self._known and self._links.parents[named] == parent
        return self._known[named if direct and named is not None else ids[-1]]

    def _named(self, parent: str | None) -> tuple[Message, ...]:
        return tuple(self._known[child] for child in self._links.children.get(parent, ()))
