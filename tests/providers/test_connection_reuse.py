"""One connection serves many requests, and one that was closed meanwhile is replaced once."""

import asyncio
from typing import Any

import pytest

from jan_magics.domain.errors import (
    ModelNotReachable,
    StreamBroken,
)
from tests.providers.asking import asking, collect
from tests.providers.loopback import Reply, chunked, replay, serving
from tests.providers.plain import LAST, WHOLE, WORD, ask, provider
from tests.providers.recordings import load


def test_a_reused_connection_that_was_closed_is_tried_once_more() -> None:
    async def go() -> tuple[Any, ...]:
        # The second request meets a server that closes without a byte, as after its idle time.
        async with serving(
            chunked(WORD, LAST), Reply((), close=True), chunked(WORD, LAST)
        ) as server:
            one = provider(server)
            first = await collect(one, asking("hi"))
            second = await collect(one, asking("hi"))
            await one.close()
            return first, second, server.connections, len(server.bodies)

    assert asyncio.run(go()) == (WHOLE, WHOLE, 2, 3)


def test_a_new_connection_that_was_closed_is_not_tried_again() -> None:
    async def go() -> int:
        async with serving(Reply((), close=True)) as server:
            with pytest.raises(ModelNotReachable, match="the connection failed"):
                await ask(server)
            return len(server.bodies)

    assert asyncio.run(go()) == 1


def test_a_second_failure_is_an_error() -> None:
    gone = Reply((), close=True)

    async def go() -> int:
        async with serving(chunked(WORD, LAST), gone, gone, chunked(WORD, LAST)) as server:
            one = provider(server)
            await collect(one, asking("hi"))
            with pytest.raises(ModelNotReachable):
                await collect(one, asking("hi"))
            await one.close()
            return len(server.bodies)

    assert asyncio.run(go()) == 3


def test_nothing_is_tried_again_after_the_first_byte() -> None:
    cut = Reply(chunked(WORD).pieces[:-1], close=True)

    async def go() -> int:
        async with serving(chunked(WORD, LAST), cut) as server:
            one = provider(server)
            await collect(one, asking("hi"))
            with pytest.raises(StreamBroken):
                await collect(one, asking("hi"))
            await one.close()
            return len(server.bodies)

    assert asyncio.run(go()) == 2


def test_a_stream_that_never_ends_after_its_last_word() -> None:
    async def go() -> tuple[Any, bool]:
        async with serving(chunked(WORD, LAST, end=False)) as server:
            async with asyncio.timeout(5):
                events = await ask(server)
                await server.left.wait()
            return events, server.left.is_set()

    assert asyncio.run(go()) == (WHOLE, True)


def test_a_connection_is_used_again_after_a_whole_stream() -> None:
    async def go() -> int:
        async with serving(replay(load("llama_server-chat_stream_usage"), size=100)) as server:
            one = provider(server)
            for _ in range(3):
                await collect(one, asking("hi"))
            await one.close()
            return server.connections

    assert asyncio.run(go()) == 1
