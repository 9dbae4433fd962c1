"""What the Anthropic Messages wire reads, and its real peer: llama-server's /v1/messages."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from jan_magics.domain.errors import ContextOverflow, ProviderError
from jan_magics.domain.events import Finish, LeftOut, StreamEvent, TextDelta
from jan_magics.domain.messages import (
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ChatRequest, ToolSpec
from jan_magics.providers.anthropic import AnthropicProvider
from jan_magics.providers.keys import Key, origin_of
from jan_magics.providers.local import LocalProvider, LocalServer
from tests.providers.asking import asking, collect, message
from tests.providers.loopback import http, serving
from tests.providers.wires import ANTHROPIC

# ------------------------------------------------------------------------------------- answers


def test_tokens_count_what_came_from_the_cache_too() -> None:
    end = ANTHROPIC.parts("text").finish
    assert end
    assert end.usage
    assert (end.usage.input, end.usage.cached, end.usage.output) == (100, 90, 9)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("text", "stop"), ("thinking", "length"), ("redacted", "filter"), ("calls", "tools")],
)
def test_how_an_answer_ends(name: str, reason: str) -> None:
    end = ANTHROPIC.parts(name).finish
    assert end
    assert end.reason == reason


def test_calls_are_read() -> None:
    assert ANTHROPIC.parts("calls").parts == (
        TextPart("looking"),
        ToolCallPart("toolu_1", "f", '{"k": "ü"}'),
        ToolCallPart("toolu_2", "g", ""),
    )


@pytest.mark.parametrize(
    ("kind", "status"),
    [("overloaded_error", 529), ("api_error", 500), ("rate_limit_error", 429),
     ("authentication_error", 401), ("permission_error", 403), ("not_found_error", 404),
     ("invalid_request_error", 400), ("request_too_large", 413), ("timeout_error", 504)],
)  # fmt: skip
def test_an_error_in_the_stream_has_its_own_class(kind: str, status: int) -> None:
    frame = {"type": "error", "error": {"type": kind, "message": "no"}}
    answer = ANTHROPIC.answer()
    answer.feed(ANTHROPIC.body(*ANTHROPIC.streams["text"][:4], frame))
    with pytest.raises(ProviderError) as raised:
        list(answer.close())
    assert raised.value.status == status


def test_a_parameter_that_the_server_refuses_is_left_out_once_and_said() -> None:
    async def go() -> tuple[list[StreamEvent], list[Any]]:
        refusal = {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "frobs: Extra inputs are not permitted",
            },
        }
        refused = http(json.dumps(refusal).encode(), status=400, kind="application/json")
        good = http(ANTHROPIC.body(*ANTHROPIC.streams["text"]))
        async with serving(refused, good) as server:
            provider = AnthropicProvider("test", server.address)
            request = asking("hi", temperature=0.5, parameters={"frobs": 1})
            events = await collect(provider, request)
            await provider.close()
            return events, [json.loads(sent) for sent in server.bodies]

    events, sent = asyncio.run(go())
    assert [(each.name, each.why) for each in events if isinstance(each, LeftOut)] == [
        ("frobs", "test refuses it"),
        ("temperature", "sent without any parameter"),
    ]
    assert [each.keys() & {"frobs", "temperature"} for each in sent] == [
        {"frobs", "temperature"}, set(),
    ]  # fmt: skip


def test_the_key_travels_in_its_own_header() -> None:
    async def go() -> str:
        async with serving(http(ANTHROPIC.body(*ANTHROPIC.streams["text"]))) as server:
            key = Key("secret-1", source="here", origin=origin_of(server.address))
            provider = AnthropicProvider("test", server.address, key)
            await collect(provider, asking("hi"))
            await provider.close()
            return server.heads[0].lower()

    head = asyncio.run(go())
    assert "x-api-key: secret-1\r\n" in head
    assert "anthropic-version: 2023-06-01\r\n" in head
    assert "authorization" not in head


# ------------------------------------------------------------------------- with a real server


def real(request: ChatRequest) -> list[StreamEvent]:
    async def go() -> list[StreamEvent]:
        server = LocalServer(window=1024)
        local = LocalProvider(server)
        try:
            await collect(local, replace(asking("hi", model=str(request.model), max_tokens=1)))
            assert server.running
            provider = AnthropicProvider("local", server.running.address, server.running.key)
            found = await collect(provider, request)
            await provider.close()
            return found
        finally:
            await local.close()
            await server.close()

    return asyncio.run(go())


def test_llama_server_answers_on_this_wire(real_model: str) -> None:
    request = asking(
        "What is the capital of France?", message("assistant", "Paris."), "And of Italy?",
        model=real_model, system="Be brief.", temperature=0.0, max_tokens=12,
    )  # fmt: skip
    events = real(replace(request, stable=2))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)).strip()
    end = events[-1]
    assert isinstance(end, Finish)
    assert end.reason in {"stop", "length"}
    assert end.usage
    assert (end.usage.input or 0) > 20
    assert 0 < (end.usage.output or 0) <= 12


def test_llama_server_overflows_on_this_wire(real_model: str) -> None:
    with pytest.raises(ContextOverflow) as raised:
        real(asking("word " * 3000, model=real_model))
    assert raised.value.window == 1024


def test_llama_server_takes_tools_and_results_on_this_wire(real_model: str) -> None:
    call = ToolCallPart("toolu_1", "get_weather", '{"city": "Paris"}')
    result = ToolResultPart("toolu_1", "get_weather", {"celsius": 21})
    spec = ToolSpec("get_weather", "Weather of a city.", {"type": "object", "properties": {
        "city": {"type": "string"}}})  # fmt: skip
    said = (message("user", "Weather?"), message("assistant", call, result), message("user", "So?"))
    request = asking(*said, model=real_model, max_tokens=8)
    assert isinstance(real(replace(request, tools=(spec,)))[-1], Finish)
