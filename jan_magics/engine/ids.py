"""Ids as people write them: any unique beginning of at least four characters."""

import itertools
from collections.abc import Mapping
from typing import Final

from jan_magics.domain.errors import MessageNotFound, ThreadError
from jan_magics.domain.tree import TreeIndex

SHORTEST: Final = 6
"""Characters of a shown id at least."""
SHORTEST_PREFIX: Final = 4
"""Characters of a written id at least: one to three digits are a version's number."""


def full_id(index: TreeIndex, prefix: object) -> str:
    """Return the id that begins so.

    Raises:
        MessageNotFound: when none does.
        ThreadError: when several do, or it is too short to be meant for one, or no text.
    """
    if not isinstance(prefix, str):
        raise ThreadError(f"{prefix!r} is no id of a message", "See the ids: %chat tree")
    if prefix in index:
        return prefix
    if 0 < len(prefix) < SHORTEST_PREFIX:
        raise _too_short(prefix)
    found = [message.id for message in index.messages if message.id.startswith(prefix)]
    if not found or not prefix:
        raise MessageNotFound(prefix)
    if len(found) > 1:
        short = short_ids(index)
        names = ", ".join(short[identifier] for identifier in found[:4])
        more = ", …" if len(found) > 4 else ""
        raise ThreadError(
            f"{len(found)} messages have ids that begin with {prefix!r}",
            f"Write more of it: {names}{more}",
        )
    return found[0]


def short_ids(index: TreeIndex) -> Mapping[str, str]:
    """Return the shortest beginning of each id that no other id of the thread shares."""
    ordered = sorted(message.id for message in index.messages)
    shared = [0, *(_shared(a, b) for a, b in itertools.pairwise(ordered)), 0]
    return {
        name: name[: max(SHORTEST, shared[place] + 1, shared[place + 1] + 1)]
        for place, name in enumerate(ordered)
    }


def _too_short(prefix: str) -> ThreadError:
    if prefix.isascii() and prefix.isdigit():
        return ThreadError(
            f"{prefix!r} is a number, and here an id is meant",
            "See the ids: %chat tree · go to a version by its number: %chat go N",
        )
    return ThreadError(
        f"{prefix!r} is too short for an id",
        f"Write at least {SHORTEST_PREFIX} characters of it: %chat tree",
    )


def _shared(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
