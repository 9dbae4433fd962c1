"""One limiter an endpoint: the user's turn first, and whoever leaves the queue holds nobody up."""

import asyncio
from typing import Any

import pytest

from jan_magics.domain.events import Finish, StreamEvent, TextDelta, Waiting
from jan_magics.domain.models import Purpose
from jan_magics.providers.access import Access
from jan_magics.providers.limits import ELSEWHERE, Limiter, Limits
from jan_magics.providers.openai import OpenAIProvider
from tests.providers.asking import asking, collect
from tests.providers.loopback import chunked, serving

WORD = b'data: {"choices":[{"delta":{"content":"one"}}]}\n\n'
LAST = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
WHOLE = [TextDelta("one"), Finish("stop")]
LATEST_FIRST: tuple[Purpose, ...] = ("embedding", "map", "compaction", "title", "turn", "turn")


def test_the_users_turn_goes_before_all_others() -> None:
    async def go() -> list[str]:
        limiter, order = Limiter(1), list[str]()

        async def use(purpose: Purpose, number: int) -> None:
            async with limiter.place(purpose):
                order.append(f"{purpose}{number}")
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group, limiter.place("map"):
            for number, purpose in enumerate(LATEST_FIRST):
                group.create_task(use(purpose, number))
            await asyncio.sleep(0.01)
            assert limiter.waiting == len(LATEST_FIRST)
        assert not limiter.full
        return order

    assert asyncio.run(go()) == ["turn4", "turn5", "title3", "compaction2", "map1", "embedding0"]


def test_never_more_than_there_are_places() -> None:
    async def go() -> int:
        limiter, now, most = Limiter(3), 0, 0

        async def use() -> None:
            nonlocal now, most
            async with limiter.place("turn"):
                now += 1
                most = max(most, now)
                await asyncio.sleep(0.001)
                now -= 1

        await asyncio.gather(*(use() for _ in range(20)))
        return most

    assert asyncio.run(go()) == 3


@pytest.mark.parametrize("granted", [False, True])
def test_a_waiter_that_is_cancelled_leaves_the_queue(granted: bool) -> None:
    async def go() -> bool:
        limiter, first = Limiter(1), asyncio.Event()

        async def hold() -> None:
            async with limiter.place("turn"):
                await first.wait()

        async def use() -> None:
            async with limiter.place("turn"):
                pass

        holder = asyncio.create_task(hold())
        await asyncio.sleep(0)
        waiter, last = asyncio.create_task(use()), asyncio.create_task(use())
        await asyncio.sleep(0)
        if granted:  # the place was given just now, and nobody has taken it yet
            first.set()
            await asyncio.sleep(0)
        waiter.cancel()
        first.set()
        async with asyncio.timeout(1):
            await asyncio.gather(holder, waiter, last, return_exceptions=True)
        return limiter.full

    assert asyncio.run(go()) is False


def test_one_at_a_time_for_this_machine_and_one_limiter_a_server() -> None:
    limits = Limits()
    here = limits.of("http://127.0.0.1:8080/v1")
    assert limits.of("http://127.0.0.1:8080/other") is here
    assert limits.of("http://127.0.0.1:8081/v1") is not here

    async def full_after(limiter: Limiter) -> int:
        async with asyncio.TaskGroup() as group:
            done = asyncio.Event()

            async def use() -> None:
                async with limiter.place("turn"):
                    await done.wait()

            count = 0
            while not limiter.full:
                group.create_task(use())
                await asyncio.sleep(0)
                count += 1
            done.set()
            return count

    assert asyncio.run(full_after(here)) == 1
    assert asyncio.run(full_after(limits.of("https://api.example/v1"))) == ELSEWHERE


def test_waiting_is_shown_and_ends_with_the_answer_before() -> None:
    async def go() -> tuple[list[StreamEvent], int]:
        async with serving(chunked(WORD, LAST)) as server:
            provider = OpenAIProvider("test", server.address, Access(limiter=Limiter(1)))
            stream: Any = provider.stream(asking("hi"))
            await anext(stream)
            second = asyncio.create_task(collect(provider, asking("hi")))
            await asyncio.sleep(0.1)
            sent = len(server.heads)
            await stream.aclose()
            async with asyncio.timeout(2):
                found = await second
            await provider.close()
            return found, sent

    assert asyncio.run(go()) == (
        [Waiting("waiting: another answer goes first"), Waiting(""), *WHOLE], 1,
    )  # fmt: skip


def test_as_many_at_once_as_the_user_wants_and_the_users_turn_before_them() -> None:
    async def go() -> tuple[int, list[str]]:
        limiter, now, most, order = Limiter(1), 0, 0, list[str]()

        async def use(purpose: Purpose, at_once: int) -> None:
            nonlocal now, most
            async with limiter.place(purpose, at_once):
                order.append(purpose)
                now += 1
                most = max(most, now)
                await asyncio.sleep(0.01)
                now -= 1

        async with asyncio.TaskGroup() as group:
            for _ in range(8):
                group.create_task(use("map", 3))
            await asyncio.sleep(0)
            group.create_task(use("turn", 0))
        # When they are over, there is one place as before.
        async with limiter.place("turn"):
            assert limiter.full
        return most, order

    most, order = asyncio.run(go())
    assert most == 3
    assert order.index("turn") == 3
