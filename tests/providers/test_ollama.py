"""Ollama's own wire."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from jan_magics.domain.errors import (
    ContextOverflow,
    ModelNotFound,
    RequestRejected,
    ServerFailed,
)
from jan_magics.domain.events import Loading
from jan_magics.domain.messages import (
    FilePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ModelInfo, ToolSpec
from jan_magics.providers.dialects import OLLAMA as DIALECT
from jan_magics.providers.ollama import OllamaProvider
from jan_magics.providers.ollama_wire import encode
from tests.providers.asking import asking, collect, message
from tests.providers.loopback import http, serving
from tests.providers.wires import OLLAMA

MODEL = "ollama:qwen3:8b"


def body(*messages: Message | str, model: str = MODEL, **more: Any) -> dict[str, Any]:
    return encode(asking(*messages, model=model, **more), DIALECT)


def test_a_plain_request() -> None:
    assert body("hi", system="Be brief.") == {
        "model": "qwen3:8b",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
        ],
        "stream": True,
    }


def test_the_window_that_somebody_set_is_asked_for() -> None:
    request = asking("hi", model=MODEL, parameters={"num_ctx": None})
    assert encode(replace(request, window=9000), DIALECT)["options"] == {"num_ctx": 9000}
    assert "options" not in encode(request, DIALECT)


@pytest.mark.parametrize("stop", ["END", ["END"]])
def test_what_stops_an_answer_is_a_list(stop: Any) -> None:
    assert body("hi", parameters={"stop": stop})["options"] == {"stop": ["END"]}


def test_parameters_are_options_but_for_those_that_are_not() -> None:
    given = {"keep_alive": "10m", "format": "json", "min_p": 0.1, "max_output_tokens": 7}
    sent = body("hi", temperature=0.5, seed=1, parameters=given)
    assert sent["options"] == {"temperature": 0.5, "seed": 1, "min_p": 0.1, "num_predict": 7}
    assert (sent["keep_alive"], sent["format"]) == ("10m", "json")
    assert "keep_alive" not in body("hi", temperature=0.5)


@pytest.mark.parametrize(
    ("model", "level", "think"),
    [(MODEL, "off", False), (MODEL, "high", True), (MODEL, "auto", None),
     ("ollama:gpt-oss:20b", "low", "low"), ("ollama:gpt-oss:20b", "off", False)],
)  # fmt: skip
def test_levels_of_reasoning(model: str, level: str, think: Any) -> None:
    assert body("hi", model=model, parameters={"reasoning": level}).get("think") == think


def test_calls_results_and_the_thought_between_them() -> None:
    answer = message(
        "assistant",
        ReasoningPart("hm"),
        ToolCallPart("1", "f", '{"k": 1}'),
        ToolResultPart("1", "f", {"ü": 1}),
        ReasoningPart("aha"),
        TextPart("found"),
    )
    assert body(answer)["messages"] == [
        {"role": "assistant", "content": "", "thinking": "hm",
         "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"k": 1}}}]},
        {"role": "tool", "content": '{"ü": 1}', "tool_name": "f", "tool_call_id": "1"},
        {"role": "assistant", "content": "found", "thinking": "aha"},
    ]  # fmt: skip


def test_files() -> None:
    look = message("user", "look", FilePart("image/png", b"\x01"), FilePart("text/csv", b"a,b"))
    assert body(look)["messages"] == [
        {"role": "user", "content": "look\n\na,b", "images": ["AQ=="]}
    ]
    away = message("user", FilePart("image/png", url="https://x.example/a.png", name="a.png"))
    with pytest.raises(RequestRejected, match="takes no addresses"):
        body(away)


def test_tools() -> None:
    request = replace(asking("hi", model=MODEL), tools=(ToolSpec("f", "Does it.", {}),))
    assert encode(request, DIALECT)["tools"] == [
        {"type": "function",
         "function": {"name": "f", "description": "Does it.", "parameters": {}}}
    ]  # fmt: skip


# ------------------------------------------------------------------------------------- answers


def test_tokens_and_times() -> None:
    end = OLLAMA.parts("text").finish
    assert end
    assert end.usage
    assert end.timings
    assert (end.usage.input, end.usage.output) == (100, 8)
    times = end.timings
    assert (times.load, times.prefill, times.decode, times.tokens_per_second) == (2, 1, 4, 2)


def test_reasoning_as_a_field_and_between_tags() -> None:
    assert OLLAMA.parts("tags").parts == (ReasoningPart("hm"), TextPart("好"))
    # A server that parts it itself leaves no tags; what looks like one is text.
    assert OLLAMA.parts("thinking").parts == (ReasoningPart("想一下"), TextPart("<think>好"))


def test_calls_are_read() -> None:
    found = OLLAMA.parts("calls")
    assert found.parts == (ToolCallPart("call_0", "f", '{"k": "ü"}'), ToolCallPart("x2", "g", "{}"))
    assert found.finish
    assert found.finish.reason == "tools"


def test_a_thought_before_a_call_without_an_id() -> None:
    found = OLLAMA.parts("thought call")
    assert found.parts == (ReasoningPart("要查"), ToolCallPart("call_0", "f", '{"k": 1}'))
    assert found.finish
    assert found.finish.reason == "tools"
    assert found.finish.usage is None


def test_what_an_older_server_leaves_out_is_unknown() -> None:
    found = OLLAMA.parts("old")
    assert found.finish
    assert found.finish.usage
    assert found.finish.timings
    assert (found.finish.usage.input, found.finish.usage.output) == (None, 1)
    assert (found.finish.timings.load, found.finish.timings.prefill) == (0.005, None)


def test_a_model_that_was_only_loaded_says_nothing() -> None:
    answer = OLLAMA.answer()
    events = list(answer.feed(OLLAMA.body(*OLLAMA.streams["loading"])))
    assert [type(event) for event in events] == [Loading]
    assert OLLAMA.parts("loading").finish or OLLAMA.parts("loading").words


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("an error was encountered while running the model: CUDA error", ServerFailed),
        ("model runner has unexpectedly stopped, this may be due to resource limits", ServerFailed),
        ("input length exceeds the context length", ContextOverflow),
    ],
)
def test_a_line_with_an_error_keeps_what_was_said(words: str, kind: type[Exception]) -> None:
    body = OLLAMA.body(OLLAMA.words("halb "), OLLAMA.words("好"), {"error": words})
    for pieces in ([body], [bytes([byte]) for byte in body]):
        found = OLLAMA.outcome(pieces)
        assert (found.parts, found.error) == ((TextPart("halb 好"),), kind)


# --------------------------------------------------------------------------- over a real socket


def js(data: Any, status: int = 200) -> Any:
    return http(json.dumps(data).encode(), status=status, kind="application/json")


@pytest.mark.parametrize("path", ["", "/v1"])
def test_where_a_request_goes(path: str) -> None:
    async def go() -> str:
        async with serving(http(OLLAMA.body(*OLLAMA.streams["text"]), kind=OLLAMA.kind)) as server:
            provider = OllamaProvider("ollama", server.address.removesuffix("/v1") + path)
            await collect(provider, asking("hi", model=MODEL))
            await provider.close()
            return server.heads[0]

    assert asyncio.run(go()).startswith("POST /api/chat ")


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (404, "model 'qwen3:8b' not found", ModelNotFound),
        (400, "input length exceeds the context length", ContextOverflow),
    ],
)
def test_refusals(status: int, words: str, kind: type[Exception]) -> None:
    async def go() -> None:
        async with serving(js({"error": words}, status)) as server:
            provider = OllamaProvider("ollama", server.address)
            try:
                await collect(provider, asking("hi", model=MODEL))
            finally:
                await provider.close()

    with pytest.raises(kind):
        asyncio.run(go())


def listed(shown: Any, running: Any) -> Sequence[ModelInfo]:
    """List two models; the first two questions are for the lists, in either order."""

    async def go() -> Sequence[ModelInfo]:
        names = [{"model": "a:1"}, {"model": "b:1"}]
        both = {"models": [*names, *running]} if not running else {"models": running}
        async with serving(js({"models": names}), js(both), js(shown)) as server:
            provider = OllamaProvider("ollama", server.address)
            found = await provider.models()
            await provider.close()
            return found

    return asyncio.run(go())


def test_what_show_says() -> None:
    shown = {
        "capabilities": ["completion", "tools", "thinking"],
        "model_info": {"qwen3.context_length": 40960, "general.architecture": "qwen3"},
    }
    infos = listed(shown, [{"model": "b:1", "context_length": 16384}, {"model": "a:1"}])
    assert {str(each.ref) for each in infos} == {"ollama:a:1", "ollama:b:1"}
    assert all(
        each.capabilities == dict.fromkeys(("completion", "tools", "reasoning"), "probed")
        for each in infos
    )
    # What is not loaded is loaded with a small window, whatever the model could do.
    assert {each.window for each in infos} <= {4096, 16384}


@pytest.mark.parametrize("shown", [{}, {"capabilities": 3, "model_info": [1]}, [], "x"])
def test_odd_details_are_unknown(shown: Any) -> None:
    infos = listed(shown, [])
    assert {each.window for each in infos} == {None}
