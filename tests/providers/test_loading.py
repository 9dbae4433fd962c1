"""That a model is being loaded is said only when it is not loaded, and only as long as it lasts."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from jan_magics.domain.events import Finish, Loading, StreamEvent, TextDelta
from jan_magics.domain.protocols import Provider
from jan_magics.providers.dialects import LMSTUDIO
from jan_magics.providers.native import is_unloaded
from jan_magics.providers.ollama import OllamaProvider
from jan_magics.providers.openai import OpenAIProvider
from tests.providers.asking import asking, collect
from tests.providers.wires import OLLAMA, OPENAI, Wire

RUNNING = {"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]}
STUDIO = {"data": [{"id": "a", "state": "loaded"}, {"id": "b", "state": "not-loaded"}]}


@pytest.mark.parametrize(
    ("told", "name", "unloaded"),
    [
        (RUNNING, "qwen3:8b", False),
        (RUNNING, "gemma3:4b", True),
        ({"models": [{"name": "gemma3:latest"}]}, "gemma3", False),
        ({"models": []}, "gemma3", True),
        (STUDIO, "a", False),
        (STUDIO, "b", True),
        (STUDIO, "c", False),
        ({"error": "x"}, "a", False),
        (None, "a", False),
    ],
)
def test_who_is_loaded(told: Any, name: str, unloaded: bool) -> None:
    assert is_unloaded(json.dumps(told).encode() if told else b"", name) is unloaded


@asynccontextmanager
async def slow(wire: Wire, native: Any, delay: float) -> AsyncIterator[tuple[str, list[str]]]:
    """Serve an answer after a delay, and a list at once; gives the address and what was asked."""
    asked: list[str] = []
    waiting: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head.split()[1])
        body, kind = json.dumps(native).encode(), "application/json"
        if head.startswith("POST"):
            await asyncio.sleep(delay)
            body, kind = wire.body(wire.words("hi"), *wire.end), wire.kind
        start = f"HTTP/1.1 200 X\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(start.encode() + body)
        await reader.read()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(converse(reader, writer))
        waiting.add(task)
        await asyncio.wait({task})
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    server.close()
    for task in waiting:
        task.cancel()
    await asyncio.sleep(0.05)


def ollama(address: str) -> Provider:
    return OllamaProvider("ollama", address)


def lm_studio(address: str) -> Provider:
    return OpenAIProvider("lmstudio", f"{address}/v1", dialect=LMSTUDIO)


def ask(wire: Wire, native: Any, delay: float, model: str) -> tuple[list[StreamEvent], list[str]]:
    async def go() -> tuple[list[StreamEvent], list[str]]:
        async with slow(wire, native, delay) as (address, asked):
            provider = ollama(address) if wire is OLLAMA else lm_studio(address)
            found = await collect(provider, asking("hi", model=model))
            await provider.close()
            return found, asked

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("wire", "native", "model"),
    [(OLLAMA, RUNNING, "ollama:gemma3:4b"), (OPENAI, STUDIO, "lmstudio:b")],
    ids=["ollama", "lm studio"],
)
def test_a_model_that_is_not_loaded(wire: Wire, native: Any, model: str) -> None:
    events, _ = ask(wire, native, 0.6, model)
    assert events[0] == Loading(f"loading {model.partition(':')[2]}")
    assert events[1] == TextDelta("hi")
    assert isinstance(events[-1], Finish)


@pytest.mark.parametrize(
    ("wire", "native", "model"),
    [(OLLAMA, RUNNING, "ollama:qwen3:8b"), (OPENAI, STUDIO, "lmstudio:a")],
    ids=["ollama", "lm studio"],
)
def test_a_loaded_model_that_only_thinks_long(wire: Wire, native: Any, model: str) -> None:
    events, asked = ask(wire, native, 0.6, model)
    assert events[0] == TextDelta("hi")
    assert len(asked) == 2


def test_a_server_that_answers_soon_is_not_asked() -> None:
    events, asked = ask(OLLAMA, RUNNING, 0, "ollama:gemma3:4b")
    assert events[0] == TextDelta("hi")
    assert asked == ["/api/chat"]


@pytest.mark.parametrize("wait", [0.1, 0.5])
def test_leaving_while_it_loads_closes_the_request(wait: float) -> None:
    async def go() -> float:
        async with slow(OLLAMA, RUNNING, 30) as (address, _):
            provider = ollama(address)
            task = asyncio.create_task(collect(provider, asking("hi", model="ollama:x")))
            await asyncio.sleep(wait)
            begun = asyncio.get_running_loop().time()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            took = asyncio.get_running_loop().time() - begun
            await provider.close()
            return took

    assert asyncio.run(go()) < 0.2
