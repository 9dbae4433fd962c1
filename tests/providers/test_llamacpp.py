"""Counts from a llama.cpp server: against a real one, and against what other servers say."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import pytest

from jan_magics.context.counting import count_message, count_system, outgoing
from jan_magics.context.images import image_tokens
from jan_magics.domain.errors import ProviderError
from jan_magics.domain.events import Finish
from jan_magics.domain.messages import FilePart
from jan_magics.domain.models import ChatRequest, parse_model
from jan_magics.domain.protocols import Framing, Tokenizer
from jan_magics.providers.llamacpp import LlamaTokenizer
from jan_magics.providers.local import LocalProvider, LocalServer
from jan_magics.providers.openai import OpenAIProvider
from tests.context.samples import texts
from tests.providers.asking import asking, collect, message
from tests.providers.loopback import Reply, http, serving

T = TypeVar("T")
MODEL = parse_model("test:model")


def real(use: Callable[[LocalProvider, LlamaTokenizer], Awaitable[T]], model: str) -> T:
    async def go() -> T:
        server = LocalServer(window=4096)
        provider = LocalProvider(server)
        try:
            assert await provider.tokenizer(parse_model(model), image_tokens) is None
            async for _ in server.started():
                pass
            tokenizer = await provider.tokenizer(parse_model(model), image_tokens)
            assert tokenizer is not None
            return await use(provider, tokenizer)
        finally:
            await provider.close()
            await server.close()

    return asyncio.run(go())


async def counted(tokenizer: LlamaTokenizer, request: ChatRequest) -> int:
    texts = [text for each in request.messages for text in outgoing(each).texts]
    await tokenizer.fill([request.system, *texts])
    return count_system(request.system, tokenizer) + sum(
        count_message(each, tokenizer) for each in request.messages
    )


def requests(model: str) -> list[ChatRequest]:
    sample = texts()
    options: dict[str, Any] = {"model": model, "max_tokens": 1}
    return [
        asking("hi", **options),
        asking("hi", system="Be brief.", **options),
        asking(
            "What is 你好?",
            message("assistant", "A greeting. 👩‍🚀"),
            message("user", sample["mixed"].replace("<|endoftext|>", "")),
            message("assistant", sample["python"][:500]),
            message("user", sample["chinese"][:150] + sample["english"][:300]),
            system="Answer in one word.",
            **options,
        ),
    ]


def test_a_request_counts_as_the_server_counts_it(real_model: str) -> None:
    async def use(provider: LocalProvider, tokenizer: LlamaTokenizer) -> list[tuple[int, int]]:
        pairs = list[tuple[int, int]]()
        for request in requests(real_model):
            end = (await collect(provider, request))[-1]
            assert isinstance(end, Finish)
            assert end.usage
            pairs.append((await counted(tokenizer, request), end.usage.input or 0))
        return pairs

    pairs = real(use, real_model)
    assert pairs[0][1] > 20, "the template has a system text of its own"
    assert all(abs(ours - theirs) <= max(1, theirs // 100) for ours, theirs in pairs), pairs


def test_many_texts_count_like_each_one_alone(real_model: str) -> None:
    async def use(_: LocalProvider, tokenizer: LlamaTokenizer) -> None:
        several = [*texts().values(), "<|im_end|>", "a<|endoftext|>b", " x", "\n", "\ud800", "👩‍🚀"]
        await tokenizer.fill([*several, ""])
        together = list(map(tokenizer.count, several))
        alone = list[int]()
        for text in several:
            await tokenizer.fill([text])
            alone.append(tokenizer.count(text))
        assert together == alone
        assert tokenizer.count("<|im_end|>") > 1, "a mark of the template is text"
        assert tokenizer.window == 4096
        assert tokenizer.exact
        assert isinstance(tokenizer, Framing)
        assert tokenizer.image(FilePart("image/png")) == image_tokens(FilePart("image/png"))

    real(use, real_model)


def test_what_was_not_asked_is_not_guessed(real_model: str) -> None:
    async def use(_: LocalProvider, tokenizer: Tokenizer) -> None:
        assert tokenizer.count("") == 0
        with pytest.raises(LookupError, match="not filled: 'never asked'; await fill"):
            tokenizer.count("never asked")

    real(use, real_model)


# ------------------------------------------------------------------------------- other servers

PROPS = {"default_generation_settings": {"n_ctx": 512}, "eos_token": ""}


def opened(*replies: Reply) -> LlamaTokenizer | None:
    async def go() -> LlamaTokenizer | None:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(serving(*replies))
            provider = OpenAIProvider("test", server.address)
            stack.push_async_callback(provider.close)
            return await provider.tokenizer(MODEL, image_tokens)

    return asyncio.run(go())


def say(body: object) -> Reply:
    return http(json.dumps(body).encode(), kind="application/json")


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param([http(b"nothing here", status=404)], id="no such page"),
        pytest.param([http(b"<html>hello</html>", kind="text/html")], id="a web page"),
        pytest.param([say([1, 2])], id="a list"),
        pytest.param([say({"default_generation_settings": None})], id="no settings"),
        pytest.param([say({"default_generation_settings": {"n_ctx": 0}})], id="no window"),
        pytest.param([say(PROPS), http(b"", status=404)], id="no /tokenize"),
        pytest.param([say(PROPS), say({"tokens": "three"})], id="no list of tokens"),
        pytest.param([say(PROPS), say({"tokens": [1], "prompt": "x"})], id="no template"),
        pytest.param([http(b"", status=401)], id="a refused key"),
    ],
)
def test_other_servers_count_nothing_for_us(replies: list[Reply]) -> None:
    assert opened(*replies) is None


def test_a_server_elsewhere_is_not_asked() -> None:
    provider = OpenAIProvider("test", "https://models.example/v1")
    assert asyncio.run(provider.tokenizer(MODEL, image_tokens)) is None


def test_a_server_that_dies_while_counting_is_an_error() -> None:
    async def go() -> None:
        word = say({"tokens": [7], "prompt": "qzsystem qzfirst qzsecond qzthird"})
        async with serving(say(PROPS), *[word] * 14, http(b"", status=500)) as server:
            provider = OpenAIProvider("test", server.address)
            tokenizer = await provider.tokenizer(MODEL, image_tokens)
            assert tokenizer is not None
            with pytest.raises(ProviderError):
                await tokenizer.fill(f"text {number}" for number in range(20))
            await provider.close()

    asyncio.run(go())
