"""A key goes to its own server only, and shows up nowhere else."""

import asyncio
import logging
import traceback

import pytest

from jan_magics.domain.errors import (
    KeyRefused,
    ModelNotReachable,
    ProviderError,
    RequestRejected,
)
from jan_magics.providers.keys import Key
from jan_magics.providers.openai import OpenAIProvider
from tests.providers.asking import asking, collect
from tests.providers.loopback import Reply, chunked, http, serving
from tests.providers.plain import LAST, SECRET, WORD, provider

# ---------------------------------------------------------------------------------------- keys


def test_the_key_travels_to_its_own_server() -> None:
    async def go() -> str:
        async with serving(chunked(WORD, LAST)) as server:
            one = provider(server, key=True)
            await collect(one, asking("hi"))
            await one.close()
            return server.heads[0]

    assert f"\r\nAuthorization: Bearer {SECRET}\r\n" in asyncio.run(go())


def test_a_key_for_another_server_is_not_sent() -> None:
    async def go() -> list[str]:
        async with serving(chunked(WORD, LAST)) as server:
            wrong = Key(SECRET, source="a test", origin="https://api.openai.com")
            one = OpenAIProvider("test", server.address, wrong)
            with pytest.raises(KeyRefused, match="belongs to"):
                await collect(one, asking("hi"))
            await one.close()
            return server.heads

    assert asyncio.run(go()) == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    async def go() -> tuple[int, int]:
        async with serving(chunked(WORD, LAST)) as other:
            target = f"location: {other.address}/chat/completions\r\n"
            async with serving(http(status=status, headers=target)) as server:
                one = provider(server, key=True)
                with pytest.raises(RequestRejected, match="redirect"):
                    await collect(one, asking("hi"))
                await one.close()
                return len(server.heads), len(other.heads)

    assert asyncio.run(go()) == (1, 0)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(http(f"wrong key {SECRET}".encode(), status=401), id="401"),
        pytest.param(Reply((), close=True), id="closed"),
        pytest.param(http(f"data: {{{SECRET}\n\n".encode()), id="in the stream"),
        pytest.param(http(f"<html>{SECRET}</html>".encode(), kind="text/html"), id="a page"),
    ],
)
def test_no_failure_shows_the_key(reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def go() -> None:
        async with serving(reply) as server:
            one = provider(server, key=True)
            try:
                await collect(one, asking("hi"))
            finally:
                await one.close()

    with pytest.raises(ProviderError) as raised:
        asyncio.run(go())
    error = raised.value
    shown = "".join([*traceback.format_exception(error), *error._render_traceback_()])
    assert SECRET not in f"{error!r} {error} {shown} {caplog.text}"


def test_no_frame_of_a_failed_request_holds_the_header() -> None:
    async def go() -> str:
        async with serving(Reply((), close=True)) as server:
            one = provider(server, key=True)
            with pytest.raises(ModelNotReachable) as raised:
                await collect(one, asking("hi"))
            await one.close()
            trace = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
            assert SECRET in server.heads[0]
            return "".join(trace.format())

    shown = asyncio.run(go())
    assert "self._auth" in shown or "auth = " in shown
    assert SECRET not in shown
