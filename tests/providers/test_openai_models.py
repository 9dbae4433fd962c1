"""The list of models of an OpenAI-like server, and what they can do."""

import asyncio
import json
from typing import Any

import pytest

from jan_magics.domain.errors import AuthenticationFailed, StreamBroken
from jan_magics.domain.models import ModelInfo
from jan_magics.providers.dialects import LLAMA, LMSTUDIO, OLLAMA, PLAIN, Dialect
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.openai_models import is_idle, read_models
from tests.providers.asking import ASKED
from tests.providers.loopback import Reply, http, serving
from tests.providers.recordings import load


def listing(*rows: Any) -> bytes:
    return json.dumps({"object": "list", "data": rows}).encode()


def shown(models: Any) -> list[tuple[str, int | None, bool | None]]:
    return [(info.ref.name, info.window, info.loaded) for info in models]


@pytest.mark.parametrize(
    ("body", "models"),
    [
        pytest.param(load("llama_server-models").body,
                     [("SmolLM2-135M-Instruct.Q4_1.gguf", 1024, True)], id="llama.cpp"),
        pytest.param(load("llama_cpp_python-models").body, [("smollm2", None, None)],
                     id="llama-cpp-python"),
        pytest.param(listing({"id": "b"}, {"id": "a"}), [("b", None, None), ("a", None, None)],
                     id="as listed"),
        pytest.param(listing({"id": "a", "state": "not-loaded", "max_context_length": 9},
                             {"id": "b", "state": "loaded", "loaded_context_length": 5,
                              "max_context_length": 9}),
                     [("b", 5, True), ("a", 9, False)], id="LM Studio's own list"),
        pytest.param(listing({"id": "a", "status": {"value": "unloaded"}},
                             {"id": "b", "status": {"value": "loaded"}}),
                     [("b", None, True), ("a", None, False)], id="llama-server, several"),
        pytest.param(listing({"id": "a", "context_length": 7}), [("a", 7, None)], id="OpenRouter"),
        pytest.param(listing({"id": "a", "max_model_len": 7}), [("a", 7, None)], id="vLLM"),
        pytest.param(b'[{"id": "a"}]', [("a", None, None)], id="Together"),
        pytest.param(listing({"id": 3}, "x", {"name": "y"}, {"id": "a", "context_length": True}),
                     [("a", None, None)], id="odd rows"),
        pytest.param(listing(), [], id="none"),
    ],
)  # fmt: skip
def test_lists(body: bytes, models: list[tuple[str, int | None, bool | None]]) -> None:
    assert shown(read_models(body, ASKED)) == models


@pytest.mark.parametrize("body", [b"", b"{}", b"<html>", b'{"data": 3}', b"3", b"\xff"])
def test_no_list(body: bytes) -> None:
    with pytest.raises(StreamBroken, match="cannot be read"):
        read_models(body, ASKED)


@pytest.mark.parametrize("native", [b"", b"[]", b"{", b'{"models": 3}', b'{"data": [3]}'])
def test_an_odd_second_list_changes_nothing(native: bytes) -> None:
    assert shown(read_models(listing({"id": "a"}), ASKED, native)) == [("a", None, None)]


async def listed(dialect: Dialect, *replies: Reply) -> tuple[list[ModelInfo], list[str]]:
    async with serving(*replies) as server:
        provider = OpenAIProvider("custom", server.address, dialect=dialect)
        try:
            models = list(await provider.models())
        finally:
            await provider.close()
        return models, sorted(head.split()[1] for head in server.heads)


def test_ollama_tells_what_is_loaded() -> None:
    # Both requests get the same answer, which serves as either list.
    both = json.dumps({"data": [{"id": "a"}, {"id": "b"}], "models": [{"name": "b"}]}).encode()
    body = json.dumps({"models": [{"name": "b", "context_length": 4096}]}).encode()
    assert shown(read_models(listing({"id": "a"}, {"id": "b"}), ASKED, body)) == [
        ("b", 4096, True),
        ("a", None, False),
    ]
    models, paths = asyncio.run(listed(OLLAMA, http(both, kind="application/json")))
    assert len(models) == 2
    assert paths == ["/api/ps", "/v1/models"]


def test_an_older_lm_studio_without_its_own_list() -> None:
    body = http(listing({"id": "a"}), kind="application/json")
    models, paths = asyncio.run(listed(LMSTUDIO, body))
    assert shown(models) == [("a", None, None)]
    assert paths == ["/api/v0/models", "/v1/models"]


def test_a_custom_server_keeps_its_address_in_the_name() -> None:
    models, _ = asyncio.run(listed(PLAIN, http(listing({"id": "a"}))))
    assert str(models[0].ref).startswith("http://127.0.0.1:")
    assert str(models[0].ref).endswith("/v1#a")


def test_a_refusal_is_typed() -> None:
    with pytest.raises(AuthenticationFailed):
        asyncio.run(listed(PLAIN, http(b"{}", status=401)))


@pytest.mark.parametrize(
    ("body", "idle"),
    [
        (b'[{"id": 0, "is_processing": false}]', True),
        (b'[{"is_processing": false}, {"is_processing": true}]', False),
        (b"[]", True),
        (b'{"error": 1}', True),
        (b"[3, null]", True),
        (b"not json", True),
    ],
)
def test_a_server_with_a_busy_slot_is_not_idle(body: bytes, idle: bool) -> None:
    assert is_idle(body) is idle


def test_a_server_that_does_not_say_in_time_is_busy() -> None:
    async def go() -> bool:
        async with serving(Reply((), hold=True)) as server:
            provider = OpenAIProvider("custom", server.address, dialect=LLAMA)
            try:
                return await provider.idle()
            finally:
                await provider.close()

    assert not asyncio.run(go())
