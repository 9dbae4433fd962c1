"""How a server is asked: by which keys, by whose turn, and with what is known of its refusals."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from jan_magics.providers.key_order import Keys
from jan_magics.providers.keys import Key
from jan_magics.providers.learned import Learned
from jan_magics.providers.limits import Limiter, Limits

Sleep: TypeAlias = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Access:
    """What all requests to one server share. `limiter` None: any number at a time.

    `patient`: what passes by itself is waited for, by `sleep`.
    """

    keys: Keys = field(default_factory=Keys)
    learned: Learned = field(default_factory=Learned)
    limiter: Limiter | None = None
    patient: bool = True
    sleep: Sleep = asyncio.sleep


@dataclass(frozen=True, slots=True)
class Shared:
    """What the providers of one kernel know of each other."""

    learned: Learned = field(default_factory=Learned)
    limits: Limits = field(default_factory=Limits)

    def access(self, address: str, keys: Keys, *, patient: bool = True) -> Access:
        """Return how a server is asked."""
        return Access(keys, self.learned, self.limits.of(address), patient)


def access_of(given: Access | Key | None) -> Access:
    """Return how a server is asked that nothing else is known of than perhaps its one key."""
    return given if isinstance(given, Access) else Access(Keys([given] if given else []))
