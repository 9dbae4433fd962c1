"""What every provider promises, whatever it speaks with."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from jan_magics.domain.errors import ProviderError, RequestRejected, ServerFailed, StreamBroken
from jan_magics.domain.events import Finish, StreamEvent, TextDelta, fold
from jan_magics.domain.models import ChatRequest, ModelInfo
from jan_magics.domain.protocols import Provider
from jan_magics.providers.offline import Behaviour, OfflineProvider
from jan_magics.providers.openai import OpenAIProvider
from tests.providers.asking import asking, collect
from tests.providers.loopback import Reply, chunked, http, replay, serving
from tests.providers.recordings import load

WORD = b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n'
STOP = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
BOOM = b'data: {"error":{"message":"boom","code":500}}\n\n'
LIST = http(load("llama_server-models").body, kind="application/json")
TEXT = "one two three"


@dataclass(frozen=True)
class Case:
    """A provider that answers `TEXT`, and the same one failing at each moment."""

    open: Callable[[str], AbstractAsyncContextManager[Provider]]
    model: str

    def asking(self) -> ChatRequest:
        return asking(TEXT, model=self.model)


def reply(way: str, size: int = 1 << 16) -> Reply:
    words = [WORD % word.encode() for word in ("one", " two", " three")]
    body = b"".join(words) + STOP + b"data: [DONE]\n\n"
    refusal = b'{"error":{"message":"no","code":400}}'
    failing = {
        "before": http(refusal, status=400, kind="application/json"),
        "in": chunked(words[0], BOOM),
        "after": chunked(*words, BOOM),
        "slow": chunked(words[0], end=False),
        "models": LIST,
    }
    return failing.get(way, http(body, size=size))


def openai(size: int) -> Callable[[str], AbstractAsyncContextManager[Provider]]:
    @asynccontextmanager
    async def opened(way: str) -> AsyncIterator[Provider]:
        async with serving(reply(way, size)) as server:
            provider = OpenAIProvider("test", server.address)
            yield provider
            await provider.close()

    return opened


@asynccontextmanager
async def offline(way: str) -> AsyncIterator[Provider]:
    failing = {"before": "before", "in": "in", "after": "after"}.get(way)
    made = Behaviour(pace=30.0) if way == "slow" else Behaviour(fail=failing)  # type: ignore[arg-type]  # one of the three
    provider = OfflineProvider(made)
    yield provider
    await provider.close()


CASES = {
    "openai": Case(openai(1 << 16), "test:model"),
    "openai, byte by byte": Case(openai(1), "test:model"),
    "openai, seven bytes": Case(openai(7), "test:model"),
    "offline": Case(offline, "offline:echo"),
}


@pytest.fixture(params=CASES.values(), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    found = request.param
    assert isinstance(found, Case)
    return found


async def taken(case: Case, way: str) -> tuple[list[StreamEvent], ProviderError | None]:
    events: list[StreamEvent] = []
    async with case.open(way) as provider:
        try:
            async for event in provider.stream(case.asking()):
                events.append(event)  # noqa: PERF401 - an error must not lose them
        except ProviderError as error:
            return events, error
    return events, None


def said(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_a_whole_answer(case: Case) -> None:
    events, error = asyncio.run(taken(case, "ok"))
    assert error is None
    assert said(events) == TEXT
    assert [event for event in events if isinstance(event, Finish)] == events[-1:]
    assert isinstance(events[-1], Finish)
    assert events[-1].reason == "stop"


@pytest.mark.parametrize("way", ["before", "in", "after"])
def test_an_error_before_in_and_after(case: Case, way: str) -> None:
    events, error = asyncio.run(taken(case, way))
    assert isinstance(error, ServerFailed | RequestRejected)
    assert error.next_step
    assert not any(isinstance(event, Finish) for event in events)
    assert bool(said(events)) is (way != "before")
    assert (said(events) == TEXT) is (way == "after")


def test_two_interleaved_streams(case: Case) -> None:
    async def go() -> list[list[StreamEvent]]:
        async with case.open("ok") as provider:
            first, second = provider.stream(case.asking()), provider.stream(case.asking())
            found: list[list[StreamEvent]] = [[], []]
            async for one in first:
                found[0].append(one)
                other = await anext(second, None)
                found[1] += [other] if other else []
            found[1] += [event async for event in second]
            return found

    first, second = asyncio.run(go())
    assert fold(first) == fold(second)
    assert said(first) == said(second) == TEXT


def test_cancelling_ends_a_slow_answer_at_once(case: Case) -> None:
    async def go() -> float:
        async with case.open("slow") as provider:
            task = asyncio.create_task(collect(provider, case.asking()))
            await asyncio.sleep(0.1)
            begun = asyncio.get_running_loop().time()
            task.cancel()
            await asyncio.wait({task}, timeout=2)
            assert task.cancelled()
            return asyncio.get_running_loop().time() - begun

    assert asyncio.run(go()) < 0.5


def test_a_stream_that_was_left_early_does_not_disturb_the_next(case: Case) -> None:
    async def go() -> list[StreamEvent]:
        async with case.open("ok") as provider:
            stream: Any = provider.stream(case.asking())
            async with aclosing(stream) as events:
                await anext(events)
            return await collect(provider, case.asking())

    assert said(asyncio.run(go())) == TEXT


def test_the_list_of_models(case: Case) -> None:
    async def go() -> tuple[str, list[ModelInfo]]:
        async with case.open("models") as provider:
            return provider.name, list(await provider.models())

    name, models = asyncio.run(go())
    assert models
    assert all(model.ref.provider == name for model in models)


@pytest.mark.parametrize("name", ["llama_server-chat_stream_usage", "llama_server-chat"])
def test_every_recording_through_a_socket(name: str) -> None:
    async def go() -> list[StreamEvent]:
        async with serving(replay(load(name), size=11)) as server:
            provider = OpenAIProvider("test", server.address)
            found = await collect(provider, asking("hi"))
            await provider.close()
            return found

    assert said(asyncio.run(go())).startswith("The capital of France is")


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b"", "text/event-stream", "nothing at all"),
        (b"", "application/json", "nothing at all"),
        (b"<html>Sign in</html>", "text/html", "web page"),
        (b"<html>Sign in</html>", "text/event-stream", "nothing at all"),
        (b'{"x": 1}', "application/json", "without an answer"),
    ],
)
def test_answers_that_are_none(body: bytes, kind: str, words: str) -> None:
    async def go() -> None:
        async with serving(http(body, kind=kind)) as server:
            provider = OpenAIProvider("test", server.address)
            try:
                await collect(provider, asking("hi"))
            finally:
                await provider.close()

    with pytest.raises(StreamBroken, match=words):
        asyncio.run(go())


def test_the_wrong_content_type_does_not_matter() -> None:
    async def go() -> list[StreamEvent]:
        body = WORD % b"one" + STOP
        async with serving(http(body, kind="text/plain", size=3)) as server:
            provider = OpenAIProvider("test", server.address)
            found = await collect(provider, asking("hi"))
            await provider.close()
            return found

    assert asyncio.run(go()) == [TextDelta("one"), Finish("stop")]
