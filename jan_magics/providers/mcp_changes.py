"""A list of tools that changes while its server runs, as the old and the new protocol tell it.

Up to 2025-11 a server sends a notification by itself; from 2026-07 on it is asked for a stream.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from jan_magics.domain.models import ToolSpec

TOLD: Final = "ToolListChangedNotification"
FIRST_PAUSE: Final = 1.0
"""Seconds before a stream that was lost is asked for again; each time twice as long."""
LONGEST_PAUSE: Final = 60.0


class Changes:
    """Follows the list of one server. Nothing that goes wrong here disturbs a call."""

    def __init__(self) -> None:
        self._stale = asyncio.Event()

    async def hear(self, message: Any) -> None:
        """Take a notification in; any other than that the list has changed is nothing to us."""
        if type(message).__name__ == TOLD:
            self._stale.set()

    async def follow(
        self,
        client: Any,
        listed: Callable[[Any], Awaitable[tuple[ToolSpec, ...]]],
        tell: Callable[[tuple[ToolSpec, ...]], None],
    ) -> None:
        """Ask for the list anew whenever it has changed, and tell it; goes on until cancelled."""
        streaming = asyncio.create_task(self._stream_again(client))
        listing: asyncio.Future[tuple[ToolSpec, ...]] | None = None
        try:
            while True:
                await self._stale.wait()
                self._stale.clear()
                listing = asyncio.ensure_future(listed(client))
                await asyncio.wait({listing})
                if not listing.cancelled() and listing.exception() is None:
                    tell(listing.result())
        finally:
            left = {task for task in (streaming, listing) if task is not None}
            for task in left:
                task.cancel()
            await asyncio.wait(left)

    async def _stream_again(self, client: Any) -> None:
        pause = FIRST_PAUSE
        while True:
            told = asyncio.Event()
            streaming = asyncio.ensure_future(self._stream(client, told))
            try:
                await asyncio.wait({streaming})
            finally:
                streaming.cancel()
            if not streaming.cancelled():
                streaming.exception()  # looked at, so that nobody complains of it
            if not told.is_set():
                return  # the server has no such stream
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _stream(self, client: Any, told: asyncio.Event) -> None:
        async with client.listen(tools_list_changed=True) as changes:
            told.set()
            self._stale.set()  # what changed before this stream was not told
            async for _ in changes:
                self._stale.set()
