"""One limiter an endpoint: so many requests at a time, the user's turn before all others."""

import asyncio
import heapq
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, get_args

from jan_magics.domain.models import Purpose
from jan_magics.providers.keys import is_loopback, origin_of

HERE: Final = 1
"""Requests that a server of this machine is sent at a time: it computes one after the other."""
ELSEWHERE: Final = 8
"""Requests that any other server is sent at a time."""
_RANKS: Final[tuple[Purpose, ...]] = get_args(Purpose)


class Limiter:
    """So many places; whoever waits gets one by purpose, then in order of arrival.

    A request may say itself how many there may be at once: as long as it is under way, there are
    as many places. Lives on one loop. A waiter that is cancelled leaves the queue.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._used: list[int] = []
        self._arrived = 0
        self._queue: list[tuple[int, int, int, asyncio.Future[None]]] = []
        self._until = 0.0

    @property
    def full(self) -> bool:
        """Tell whether one has to wait."""
        return self.full_for(0)

    def full_for(self, at_once: int) -> bool:
        """Tell whether one has to wait that may be one of so many at once."""
        return len(self._used) >= max(self._places, at_once, *self._used, 0)

    @property
    def waiting(self) -> int:
        """Return how many wait."""
        return sum(not place.done() for *_, place in self._queue)

    @asynccontextmanager
    async def place(self, purpose: Purpose, at_once: int = 0) -> AsyncGenerator[None, None]:
        """Wait for a place and keep it until the end of the block."""
        if self.full_for(at_once):
            await self._wait(_RANKS.index(purpose), at_once)
        else:
            self._used.append(at_once)
        try:
            await self._held()
            yield
        finally:
            self._leave(at_once)

    def hold(self, seconds: float) -> None:
        """Let nobody begin for so long: the server has had too many requests."""
        self._until = max(self._until, asyncio.get_running_loop().time() + seconds)

    async def _held(self) -> None:
        left = self._until - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.sleep(left)
            await self._held()  # it may have been held again meanwhile

    async def _wait(self, rank: int, at_once: int) -> None:
        given: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._arrived += 1
        heapq.heappush(self._queue, (rank, self._arrived, at_once, given))
        try:
            await given
        except asyncio.CancelledError:
            if given.done() and not given.cancelled():
                self._leave(at_once)  # it was given just now: the next one takes it
            raise

    def _leave(self, at_once: int) -> None:
        self._used.remove(at_once)
        while self._queue:
            *_, wanted, given = self._queue[0]
            if given.done():
                heapq.heappop(self._queue)
            elif self.full_for(wanted):
                return
            else:
                heapq.heappop(self._queue)
                self._used.append(wanted)
                given.set_result(None)


@dataclass(slots=True)
class Limits:
    """The limiters of all endpoints, by origin; providers of one server share one."""

    here: int = HERE
    elsewhere: int = ELSEWHERE
    _known: dict[str, Limiter] = field(default_factory=dict)

    def of(self, address: str) -> Limiter:
        """Return the limiter of an address."""
        origin = origin_of(address)
        if origin not in self._known:
            places = self.here if is_loopback(address) else self.elsewhere
            self._known[origin] = Limiter(places)
        return self._known[origin]
