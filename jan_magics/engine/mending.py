"""`doctor --fix`: mend the store, and write the links that threads are read with; undoably."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jan_magics.domain.branching import settle_links
from jan_magics.domain.messages import UNLINKED, Json, Message, Thread
from jan_magics.domain.overlays import Change
from jan_magics.domain.tree import Changes, TreeIndex
from jan_magics.engine.engine import Engine
from jan_magics.engine.naming import shown_title
from jan_magics.storage.upkeep import Upkeep


def mend(engine: Engine) -> tuple[str, ...]:
    """Mend what can be mended without losing anything; return what was done, a line each."""
    store = engine.store
    done = list(store.repair()) if isinstance(store, Upkeep) else []
    for row in store.threads():
        if not row.damaged and (count := _settle(engine, row.thread)):
            links = "link" if count == 1 else "links"
            done.append(f"{shown_title(row.thread)}: wrote {count} {links} · back: %chat undo")
    return tuple(done)


def unmended(index: TreeIndex, before: Mapping[str, Json]) -> Changes:
    """Return the changes that take the links of a repair back."""
    links = before.get("links")
    known = links if isinstance(links, dict) else {}
    here = ((index[name], link) for name, link in known.items() if name in index)
    return Changes(tuple(_linked(message, link) for message, link in here))


def _settle(engine: Engine, thread: Thread) -> int:
    index = engine.tree(thread)
    changes = settle_links(index)
    if not changes.save:
        return 0
    before: dict[str, Json] = {"links": {each.id: _link(index[each.id]) for each in changes.save}}
    engine.apply(thread, changes, [Change(engine.new_id(), "repair", before, engine.now())])
    return len(changes.save)


def _link(message: Message) -> dict[str, Json]:
    link: dict[str, Json] = {"child": message.active_child_id}
    if message.parent_id is not UNLINKED:
        link["parent"] = message.parent_id
    return link


def _linked(message: Message, link: Any) -> Message:
    known = link if isinstance(link, dict) else {}
    parent = known.get("parent", UNLINKED)
    return replace(message, parent_id=parent, active_child_id=known.get("child"))
