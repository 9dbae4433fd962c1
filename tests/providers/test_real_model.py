"""With a real llama-server and a real model."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

import pytest

from jan_magics.domain.errors import AuthenticationFailed, ContextOverflow
from jan_magics.domain.events import Finish, Loading, Prefill, TextDelta
from jan_magics.domain.models import parse_model
from jan_magics.engine.titles import title_request
from jan_magics.engine.titling import wait_until_idle
from jan_magics.providers.failures import Asked
from jan_magics.providers.http import Line
from jan_magics.providers.local import LocalProvider, LocalServer
from jan_magics.providers.openai import OpenAIProvider
from tests.providers.asking import asking, collect

T = TypeVar("T")


def run(use: Callable[[LocalServer, LocalProvider], Awaitable[T]]) -> T:
    async def go() -> T:
        server = LocalServer(window=1024)
        provider = LocalProvider(server)
        try:
            return await use(server, provider)
        finally:
            await provider.close()
            await server.close()

    return asyncio.run(go())


def test_a_question_is_answered(real_model: str) -> None:
    async def use(_: LocalServer, provider: LocalProvider) -> None:
        question = "What is the capital of France?"
        request = asking(question, model=real_model, temperature=0.0, max_tokens=12, seed=1)
        events = await collect(provider, request)
        text = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert isinstance(events[0], Loading)
        assert any(isinstance(event, Prefill) for event in events)
        assert text.strip()
        end = events[-1]
        assert isinstance(end, Finish)
        assert end.usage
        assert end.usage.input
        assert end.timings
        assert end.timings.tokens_per_second
        again = await collect(provider, request)
        assert not any(isinstance(event, Loading) for event in again)
        assert isinstance(again[-1], Finish)
        assert again[-1].usage
        assert again[-1].usage.cached
        (info,) = await provider.models()
        assert (info.loaded, info.window) == (True, 1024)

    run(use)


def test_an_overflow_has_its_numbers(real_model: str) -> None:
    async def use(_: LocalServer, provider: LocalProvider) -> None:
        with pytest.raises(ContextOverflow) as raised:
            await collect(provider, asking("word " * 3000, model=real_model))
        assert raised.value.window == 1024
        assert (raised.value.used or 0) > 1024

    run(use)


def test_leaving_a_stream_frees_the_slot(real_model: str) -> None:
    async def use(server: LocalServer, provider: LocalProvider) -> bool:
        request = asking("Count to one thousand.", model=real_model, max_tokens=900)
        events = provider.stream(request)
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()
        assert server.running
        line = Line(server.running.address)
        asked = Asked(real_model, "local", line.address, server.running.key)
        begun = time.monotonic()
        busy = True
        while busy and time.monotonic() - begun < 8:
            (slot,) = json.loads(await line.get("/slots", asked))
            busy = slot["is_processing"]
        await line.close()
        return busy

    assert not run(use)


def test_nobody_else_may_ask(real_model: str) -> None:
    async def use(server: LocalServer, provider: LocalProvider) -> None:
        await collect(provider, asking("hi", model=real_model, max_tokens=1))
        assert server.running
        stranger = OpenAIProvider("stranger", server.running.address)
        with pytest.raises(AuthenticationFailed, match="a request without a key"):
            await collect(stranger, asking("hi", max_tokens=1))
        await stranger.close()

    run(use)


def test_the_server_lists_its_model_and_window(real_model: str) -> None:
    async def use(server: LocalServer, provider: LocalProvider) -> None:
        await collect(provider, asking("hi", model=real_model, max_tokens=1))
        assert server.running
        inner = OpenAIProvider("local", server.running.address, server.running.key)
        (info,) = await inner.models()
        await inner.close()
        assert (str(info.ref), info.window, info.loaded) == (real_model, 1024, True)

    run(use)


def test_it_says_whether_it_is_busy(real_model: str) -> None:
    async def use(_: LocalServer, provider: LocalProvider) -> tuple[bool, bool, bool]:
        before = await provider.idle()
        events = provider.stream(asking("Count to a thousand.", model=real_model, max_tokens=900))
        async for event in events:
            if isinstance(event, TextDelta):
                break
        busy = not await provider.idle()
        await events.aclose()
        return before, busy, await wait_until_idle(provider.idle)

    assert run(use) == (False, True, True), "one that does not run is not started for a title"


def test_a_title_can_be_asked_for(real_model: str) -> None:
    async def use(_: LocalServer, provider: LocalProvider) -> str:
        name = parse_model(real_model)
        now = datetime(2026, 3, 9, tzinfo=UTC)
        request = title_request(name, "User: boats?\n\nAssistant: on ice.", "1", now)
        return "".join(
            [event.text async for event in provider.stream(request) if isinstance(event, TextDelta)]
        )

    assert run(use).strip()
