"""A request goes out again where that helps: the next key, a pause, never more than four times."""

import asyncio
import socket
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from jan_magics.domain.errors import (
    AuthenticationFailed,
    ModelNotReachable,
    ModelTimeout,
    ProviderError,
    RateLimited,
    RequestRejected,
    ServerFailed,
    StreamBroken,
)
from jan_magics.domain.events import Finish, Remark, Retrying, StreamEvent, TextDelta
from jan_magics.providers.access import Access
from jan_magics.providers.key_order import Keys
from jan_magics.providers.keys import Key, origin_of
from jan_magics.providers.openai import OpenAIProvider
from tests.providers.asking import asking, collect
from tests.providers.loopback import Reply, Server, chunked, http, serving

WORD = b'data: {"choices":[{"delta":{"content":"one"}}]}\n\n'
LAST = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
GOOD = chunked(WORD, LAST)
WHOLE = [TextDelta("one"), Finish("stop")]
JSON = "application/json"


def refusal(status: int, words: str = "no", headers: str = "") -> Reply:
    body = b'{"error":{"message":"%s"}}' % words.encode()
    return http(body, status=status, kind=JSON, headers=headers)


@dataclass
class Clock:
    """Notes how long was to be slept, and does not sleep."""

    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@dataclass
class Asked:
    """What came of asking: the events, the error, what was slept and what reached the server."""

    events: list[StreamEvent]
    error: ProviderError | None
    slept: list[float]
    sends: int
    keys: list[str]


def keys_at(server: Server, *names: str) -> Keys:
    origin = origin_of(server.address)
    return Keys(Key(name, source=f"place of {name}", origin=origin) for name in names)


def ask(*replies: Reply, keys: tuple[str, ...] = (), times: int = 1, **options: Any) -> Asked:
    """Ask a real server; the last of several askings is returned."""

    async def go() -> Asked:
        clock = Clock()
        async with serving(*replies) as server:
            access = Access(keys_at(server, *keys), sleep=clock.sleep)
            provider = OpenAIProvider("test", server.address, access)
            found = [await _taken(provider, **options) for _ in range(times)]
            await provider.close()
            sent = [head for head in server.heads if head.startswith("POST ")]  # no list of models
            heads = [head.partition("Bearer ")[2].partition("\r\n")[0] for head in sent]
            return Asked(*found[-1], clock.slept, len(sent), heads)

    return asyncio.run(go())


async def _taken(provider: OpenAIProvider, **options: Any) -> tuple[list[Any], Any]:
    events: list[StreamEvent] = []
    try:
        async for event in provider.stream(asking("hi", **options)):
            events.append(event)  # noqa: PERF401 - an error must not lose them
    except ProviderError as error:
        return events, error
    return events, None


# ---------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize("status", [401, 403, 429])
def test_the_next_key_is_tried_at_once(status: int) -> None:
    done = ask(refusal(status), GOOD, keys=("first", "second"))
    remark = "key 2 of test answered (place of second): the one before was refused"
    assert done.events == [Remark(remark), *WHOLE]
    assert done.keys == ["first", "second"]
    assert done.slept == []


def test_the_key_that_was_accepted_comes_first_from_then_on() -> None:
    done = ask(refusal(401), GOOD, GOOD, keys=("first", "second"), times=2)
    assert done.events == WHOLE
    assert done.keys == ["first", "second", "second"]


def test_a_key_that_was_passed_over_is_tried_again_when_the_later_one_is_refused() -> None:
    done = ask(refusal(429), GOOD, refusal(429), GOOD, keys=("first", "second"), times=2)
    assert done.keys == ["first", "second", "second", "first"]
    assert isinstance(done.events[0], Remark)
    assert done.events[0].text.startswith("key 1 of test answered")


def test_an_error_names_the_number_of_the_last_key_and_no_key() -> None:
    done = ask(refusal(401), keys=("first-secret", "second-secret"))
    assert isinstance(done.error, AuthenticationFailed)
    told = "does not accept keys 1 and 2, the last from place of second-secret (401)"
    assert told in done.error.message
    assert done.sends == 2
    done = ask(refusal(401, "wrong key first-secret"), keys=("first-secret",))
    assert isinstance(done.error, AuthenticationFailed)
    assert "the key from place of first-secret" in done.error.message
    assert "wrong key [key]" in done.error.message


def test_other_refusals_try_no_other_key() -> None:
    done = ask(refusal(400), keys=("first", "second"))
    assert isinstance(done.error, RequestRejected)
    assert done.keys == ["first"]


def test_four_sends_are_the_most_whatever_the_number_of_keys() -> None:
    done = ask(refusal(401), keys=tuple(f"key{n}" for n in range(9)))
    assert isinstance(done.error, AuthenticationFailed)
    assert done.keys == ["key0", "key1", "key2", "key3"]


def test_a_used_up_quota_tries_the_next_key_and_waits_for_none() -> None:
    spent = http(b'{"error":{"message":"x","code":"insufficient_quota"}}', status=429, kind=JSON)
    assert ask(spent, GOOD, keys=("first", "second")).events[1:] == WHOLE
    done = ask(spent, keys=("only",))
    assert isinstance(done.error, RateLimited)
    assert (done.sends, done.slept) == (1, [])


# -------------------------------------------------------------------------------------- pauses


@pytest.mark.parametrize("status", [429, 502, 503, 529])
def test_what_passes_by_itself_is_waited_for(status: int) -> None:
    done = ask(refusal(status), refusal(status), GOOD)
    assert done.slept == [1.0, 3.0]
    assert [event.seconds for event in done.events if isinstance(event, Retrying)] == [1.0, 3.0]
    assert all(e.why.startswith(f"{status} ") for e in done.events if isinstance(e, Retrying))
    assert done.events[2:] == WHOLE


def test_two_pauses_are_the_most() -> None:
    done = ask(refusal(503))
    assert isinstance(done.error, ServerFailed)
    assert (done.sends, done.slept) == (3, [1.0, 3.0])


def test_the_wait_that_a_server_asks_for() -> None:
    done = ask(refusal(429, headers="retry-after: 7\r\n"), GOOD)
    assert done.slept == [7.0]
    assert done.events[1:] == WHOLE
    done = ask(refusal(529, headers="retry-after: 30\r\n"), GOOD)
    assert done.slept == [30.0]


def test_a_longer_wait_is_left_to_the_user() -> None:
    done = ask(refusal(429, headers="retry-after: 31\r\n"), GOOD)
    assert isinstance(done.error, RateLimited)
    assert done.error.next_step.startswith("Wait 31 s")
    assert (done.sends, done.slept) == (1, [])


@pytest.mark.parametrize("status", [400, 404, 500, 501, 504])
def test_other_failures_are_not_repeated(status: int) -> None:
    done = ask(refusal(status), GOOD)
    assert done.error is not None
    assert (done.sends, done.slept) == (1, [])


def test_keys_and_pauses_share_four_sends() -> None:
    done = ask(refusal(429), keys=("first", "second"))
    assert isinstance(done.error, RateLimited)
    assert done.keys == ["first", "second", "second", "second"]
    assert "(429, key 2)" in done.error.message
    done = ask(refusal(429), keys=("first", "second", "third"))
    assert (done.sends, done.slept) == (4, [1.0])


def test_nothing_is_repeated_after_a_read_timeout() -> None:
    done = ask(Reply((), hold=True), GOOD, timeout=0.05)
    assert isinstance(done.error, ModelTimeout)
    assert (done.sends, done.slept) == (1, [])


def test_nothing_is_repeated_after_the_first_event() -> None:
    boom = b'data: {"error":{"message":"busy","code":503}}\n\n'
    done = ask(chunked(WORD, boom), GOOD)
    assert isinstance(done.error, ServerFailed)
    assert (done.events, done.sends, done.slept) == ([TextDelta("one")], 1, [])
    cut = Reply(chunked(WORD).pieces[:-1], close=True)
    assert isinstance(ask(cut, GOOD).error, StreamBroken)


def test_a_refusal_inside_a_stream_that_has_said_nothing() -> None:
    done = ask(chunked(b'data: {"error":{"message":"busy","code":503}}\n\n'), GOOD)
    assert (done.slept, done.events[1:]) == ([1.0], WHOLE)


def test_a_resent_connection_counts_as_a_send() -> None:
    gone = Reply((), close=True)
    # The second asking: closed on a used connection, at once again; then three refusals.
    done = ask(GOOD, gone, refusal(503), refusal(503), refusal(503), GOOD, times=2)
    assert isinstance(done.error, ServerFailed)
    assert done.sends == 1 + 4


def test_a_refused_connection_is_tried_again_until_its_server_has_started() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

    async def go() -> tuple[list[Any], list[float]]:
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        provider = OpenAIProvider("test", f"http://127.0.0.1:{port}/v1", Access(sleep=sleep))
        with pytest.raises(ModelNotReachable, match="nothing listens"):
            await collect(provider, asking("hi"))
        assert slept == [0.2, 0.8]
        async with serving(GOOD) as server:
            late = OpenAIProvider("test", server.address, Access(sleep=sleep))
            found = await collect(late, asking("hi"))
            await late.close()
        await provider.close()
        return found, slept

    assert asyncio.run(go()) == (WHOLE, [0.2, 0.8])


def test_a_pause_is_interrupted_at_once() -> None:
    async def go() -> float:
        async with serving(refusal(503)) as server:
            provider = OpenAIProvider("test", server.address)
            task = asyncio.create_task(collect(provider, asking("hi")))
            await asyncio.sleep(0.4)
            begun = time.perf_counter()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            took = time.perf_counter() - begun
            await provider.close()
            assert len(server.heads) == 1
            return took

    assert asyncio.run(go()) < 0.05
