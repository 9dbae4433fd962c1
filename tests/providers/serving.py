"""The loopback server for tests that have no event loop of their own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.providers.loopback import Reply, Server, serving


@contextmanager
def serving_here(*replies: Reply) -> Iterator[Server]:
    """Serve replies from another thread; it does not list its models."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    manager = serving(*replies, listed=False)
    try:
        yield asyncio.run_coroutine_threadsafe(manager.__aenter__(), loop).result()
    finally:
        # Also when a test fails: what is left of a loop would fail the next one too.
        asyncio.run_coroutine_threadsafe(manager.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
