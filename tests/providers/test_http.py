"""What httpx raises as typed errors, streams that are given up, proxies, a client made late."""

import asyncio
import gzip
import inspect
from typing import Any

import httpx
import pytest

from jan_magics.domain.errors import (
    ModelNotReachable,
    ModelTimeout,
    ProviderError,
    RequestRejected,
    StreamBroken,
)
from jan_magics.domain.events import TextDelta
from jan_magics.providers.http import Line
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.transport import transport_failure
from tests.providers.asking import ASKED, asking, collect
from tests.providers.loopback import Reply, chunked, http, serving
from tests.providers.plain import LAST, WHOLE, WORD, ask, provider

# -------------------------------------------------------------------------------- exceptions


def exceptions() -> list[type[Exception]]:
    """Every exception class that httpx exports, but those that only group others."""
    found = [kind for _, kind in inspect.getmembers(httpx, inspect.isclass)]
    return [kind for kind in found if issubclass(kind, Exception)]


def made(kind: type[Exception]) -> Exception:
    request = httpx.Request("POST", "http://x")
    if issubclass(kind, httpx.HTTPStatusError):
        return kind("words", request=request, response=httpx.Response(500))
    try:
        return kind("words")
    except TypeError:  # those about the misuse of a stream take no words
        return kind()


@pytest.mark.parametrize("kind", exceptions(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("begun", [False, True])
def test_every_exception_of_httpx_is_mapped(kind: type[Exception], begun: bool) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        raise made(kind)

    async def go() -> None:
        one = OpenAIProvider("test", "http://127.0.0.1:1", transport=httpx.MockTransport(answer))
        try:
            await collect(one, asking("hi"))
        finally:
            await one.close()

    with pytest.raises(ProviderError) as raised:
        asyncio.run(go())
    assert type(raised.value) is not ProviderError
    error = transport_failure(made(kind), ASKED, begun=begun)
    assert error.message
    assert error.next_step


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        (httpx.ConnectError, ModelNotReachable, StreamBroken),
        (httpx.ConnectTimeout, ModelNotReachable, StreamBroken),
        (httpx.ReadTimeout, ModelTimeout, ModelTimeout),
        (httpx.WriteTimeout, ModelTimeout, ModelTimeout),
        (httpx.ReadError, ModelNotReachable, StreamBroken),
        (httpx.RemoteProtocolError, ModelNotReachable, StreamBroken),
        (httpx.ProxyError, ModelNotReachable, StreamBroken),
        (httpx.DecodingError, ModelNotReachable, StreamBroken),
        (httpx.UnsupportedProtocol, RequestRejected, RequestRejected),
    ],
)
def test_the_moment_decides(kind: type[Exception], before: object, after: object) -> None:
    assert type(transport_failure(made(kind), ASKED, begun=False)) is before
    assert type(transport_failure(made(kind), ASKED, begun=True)) is after


def test_nothing_listens() -> None:
    async def go() -> None:
        async with serving(http()) as server:
            address = server.address
        server.address = address
        await ask(server)

    with pytest.raises(ModelNotReachable, match="nothing listens there") as raised:
        asyncio.run(go())
    assert "%chat models" in raised.value.next_step


@pytest.mark.parametrize("options", [{"timeout": 0.05}, {"parameters": {"timeout": 0.05}}])
def test_no_byte_in_time(options: dict[str, Any]) -> None:
    async def go() -> None:
        async with serving(Reply((), hold=True)) as server:
            await ask(server, **options)

    with pytest.raises(ModelTimeout, match="nothing for too long"):
        asyncio.run(go())


def test_no_byte_in_time_within_the_stream() -> None:
    async def go() -> None:
        async with serving(chunked(WORD, end=False)) as server:
            await ask(server, timeout=0.05)

    with pytest.raises(ModelTimeout):
        asyncio.run(go())


def test_a_stream_that_is_cut_off() -> None:
    whole = chunked(WORD)
    cut = Reply(whole.pieces[:-1], close=True)

    async def go() -> list[Any]:
        async with serving(cut) as server:
            one = provider(server)
            events = one.stream(asking("hi"))
            first = await anext(events)
            with pytest.raises(StreamBroken, match="cut off"):
                await anext(events)
            await one.close()
        return [first]

    assert asyncio.run(go()) == [TextDelta("one")]


# --------------------------------------------------------------------------------- cancelling


def test_cancelling_closes_the_stream_at_once() -> None:
    async def go() -> float:
        async with serving(chunked(WORD, end=False)) as server:
            one = provider(server)
            task = asyncio.create_task(collect(one, asking("hi")))
            await asyncio.sleep(0.2)
            assert server.bodies
            loop = asyncio.get_running_loop()
            begun = loop.time()
            task.cancel()
            async with asyncio.timeout(2):
                await server.left.wait()
            with pytest.raises(asyncio.CancelledError):
                await task
            await one.close()
            return loop.time() - begun

    assert asyncio.run(go()) < 0.5


def test_closing_the_iterator_closes_the_stream_at_once() -> None:
    async def go() -> object:
        async with serving(chunked(WORD, end=False)) as server:
            one = provider(server)
            events = one.stream(asking("hi"))
            first = await anext(events)
            await events.aclose()
            async with asyncio.timeout(2):
                await server.left.wait()
            await one.close()
            return first

    assert asyncio.run(go()) == TextDelta("one")


# ----------------------------------------------------------------------------------- the client


def test_no_proxy_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    async def go() -> list[Any]:
        async with serving(chunked(WORD, LAST)) as server:
            return await ask(server)

    assert asyncio.run(go()) == WHOLE


def test_a_proxy_for_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> str:
        async with serving(chunked(WORD, LAST)) as server:
            monkeypatch.setenv("HTTP_PROXY", server.address.removesuffix("/v1"))
            one = OpenAIProvider("test", "http://somewhere.example/v1")
            await collect(one, asking("hi"))
            await one.close()
            return server.heads[0]

    assert asyncio.run(go()).startswith("POST http://somewhere.example/v1/chat/completions")


def test_the_client_is_made_by_the_first_request() -> None:
    line = Line("http://127.0.0.1:1/v1")
    assert line._client is None
    asyncio.run(line.close())
    assert line._client is None


def test_a_closed_provider_opens_again() -> None:
    async def go() -> list[list[Any]]:
        async with serving(chunked(WORD, LAST)) as server:
            one = provider(server)
            found = []
            for _ in range(2):
                found.append(await collect(one, asking("hi")))
                await one.close()
            return found

    assert asyncio.run(go()) == [WHOLE, WHOLE]


def test_a_compressed_stream_is_read() -> None:
    async def go() -> list[Any]:
        body = gzip.compress(WORD + LAST)
        async with serving(http(body, headers="content-encoding: gzip\r\n", size=7)) as server:
            return await ask(server)

    assert asyncio.run(go()) == WHOLE
