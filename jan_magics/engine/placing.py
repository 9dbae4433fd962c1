"""Where an asking goes: the same call of the same cell branches, everything else appends."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from jan_magics.domain.errors import MessageNotFound
from jan_magics.domain.overlays import CellLink, Change, NextRoot, Overlay
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.asking import Asking
from jan_magics.engine.spots import HEAD, Spot, later_messages, spot_of_cell


def spot_for(index: TreeIndex, records: Sequence[Overlay], asking: Asking) -> Spot:
    """Return the spot of a turn. Raises MessageNotFound for an `at` that is not there."""
    if not asking.history:
        return HEAD
    if asking.at != "head":
        return Spot("after", full_id(index, asking.at))
    if root_is_pending(records):
        return Spot("root")
    if asking.cell is None:
        return HEAD
    call = replace(asking.cell, message="")
    links = [
        record
        for record in records
        if isinstance(record, CellLink) and replace(record, message="") == call
    ]
    return spot_of_cell(index, links, asking.text)


def overlays_for(
    index: TreeIndex,
    spot: Spot,
    asking: Asking,
    new_id: Callable[[], str],
    now: datetime,
) -> tuple[Overlay, ...]:
    """Return what is written with the question: the cell's link, a root begun, a branch left."""
    overlays: list[Overlay] = [asking.cell] if asking.cell and asking.history else []
    head = index.head()
    if spot.where == "root":
        overlays.append(NextRoot(pending=False))
    if head is not None and (spot.where == "root" or later_messages(index, spot)):
        overlays.append(Change(new_id(), "branch", {"head": head.id}, now))
    return tuple(overlays)


def root_is_pending(records: Sequence[Overlay]) -> bool:
    """Tell whether the next turn begins a new root branch."""
    roots = [record for record in records if isinstance(record, NextRoot)]
    return bool(roots) and roots[-1].pending


def full_id(index: TreeIndex, prefix: str) -> str:
    """Return the id that begins so. Raises MessageNotFound when none or several do."""
    if prefix in index:
        return prefix
    found = [message.id for message in index.messages if message.id.startswith(prefix)]
    if len(found) != 1:
        raise MessageNotFound(prefix)
    return found[0]
