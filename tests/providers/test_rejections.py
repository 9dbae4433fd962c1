"""Which parameter a server refuses, in every wire's own words and spelling."""

import asyncio
import json
from typing import Any

import pytest

from jan_magics.domain.errors import RequestRejected
from jan_magics.domain.events import LeftOut, TextDelta
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ModelRef
from jan_magics.domain.protocols import Provider
from jan_magics.providers.access import Access
from jan_magics.providers.anthropic import AnthropicProvider
from jan_magics.providers.dialects import EFFORT, PLAIN
from jan_magics.providers.google import GoogleProvider
from jan_magics.providers.learned import Learned
from jan_magics.providers.ollama import OllamaProvider
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.params import Settled
from jan_magics.providers.rejections import rejected, sent_keys
from tests.providers.asking import asking, collect
from tests.providers.loopback import Reply, http, serving
from tests.providers.wires import WIRES

HIGH = {"reasoning": "high"}


@pytest.mark.parametrize(
    ("words", "names", "refused"),
    [
        ("Unsupported parameter: 'top_k'", ["top_k"], ["top_k"]),
        ("Unrecognized request argument supplied: frobs", ["frobs"], ["frobs"]),
        ("frobs: Extra inputs are not permitted", ["frobs"], ["frobs"]),
        ("Unknown parameter in the request", ["top_k"], []),
        ("logprobs is not supported with this model", ["logprobs"], ["logprobs"]),
        ("`temperature` is deprecated for this model.", ["temperature"], ["temperature"]),
        ("'seed' must be one of 1 or 2", ["seed", "top_p"], ["seed"]),
        ("Penalty is not enabled for models/m", ["frequency_penalty"], ["frequency_penalty"]),
        ("Unknown name \"topK\" at 'generation_config'", ["top_k"], ["top_k"]),
        ('option "stop" must be of type array', ["stop"], ["stop"]),
        ("image input is not supported by this model", ["top_k"], None),
        ("this model does not support tools", ["temperature"], None),
        ("messages: at least one message is required", ["top_k"], None),
        ("the user must stop after n messages", ["stop", "n", "user"], None),
    ],
)
def test_which_refusals_are_of_a_parameter(
    words: str, names: list[str], refused: list[str] | None
) -> None:
    settled = Settled(dict.fromkeys(names, 1))

    def found(status: int | None) -> object:
        error = RequestRejected(f"test refuses the request ({status}): {words}", status=status)
        told = rejected(error, settled.values, {}, settled)
        return None if told is None else [*told.named]

    assert found(400) == found(422) == refused
    for status in (None, 401, 402, 403, 413, 429, 500):
        assert found(status) is None


def test_only_what_parameters_added_counts_as_sent() -> None:
    body: dict[str, Json] = {"model": "m", "options": {"num_ctx": 1, "top_k": 2}, "think": True}
    assert sent_keys(body, {"model": "m", "options": {"num_ctx": 1}}) == {"top_k", "think"}


@pytest.mark.parametrize(
    ("wire", "model", "words"),
    [
        ("openai", "m", "`reasoning_effort` must be one of `none` or `default`"),
        ("openai", "m", "reasoning is not supported with this model"),
        ("anthropic", "claude-3-5", "thinking: Input should be a valid dictionary"),
        ("anthropic", "claude-opus-4-6", "output_config.effort: not available here"),
        ("anthropic", "claude-3-5", "'claude-3-5' does not support thinking."),
        ("google", "gemini-2.5-x", "Thinking is not enabled for models/gemini-2.5-x"),
        ("google", "gemini-2.5-x", "Budget 0 is invalid. It only works in thinking mode."),
        ("google", "gemini-3-x", "Invalid value at 'generation_config.thinking_config'"),
        ("ollama", "llama3.2", 'registry.ollama.ai/library/"llama3.2" does not support thinking'),
        ("ollama", "llama3.2", "json: cannot unmarshal string into field ChatRequest.think"),
    ],
)
def test_refused_reasoning_is_left_out_once_and_for_all(wire: str, model: str, words: str) -> None:
    told = WIRES[wire]
    good = http(told.body(told.words("one"), *told.end), kind=told.kind)
    no = {"error": words} if wire == "ollama" else {"error": {"message": words}}
    refusal = http(json.dumps(no).encode(), status=400, kind="application/json")
    events, bodies = _asked_twice(wire, model, refusal, good)
    assert LeftOut("reasoning", "test refuses it") in events[0]
    assert LeftOut("reasoning", "test has refused it before") in events[1]
    assert any(isinstance(event, TextDelta) for event in events[0])
    said = [any(w in json.dumps(b).lower() for w in ("think", "effort")) for b in bodies]
    assert said == [True, False, False]


def _asked_twice(wire: str, model: str, *replies: Reply) -> tuple[list[Any], list[Any]]:
    async def go() -> tuple[list[Any], list[Any]]:
        async with serving(*replies, listed=False) as server:
            address, access = server.address, Access(learned=Learned())
            providers: dict[str, Provider] = {
                "openai": OpenAIProvider("test", address, access, dialect=EFFORT),
                "anthropic": AnthropicProvider("test", address, access),
                "google": GoogleProvider("test", address, access),
                "ollama": OllamaProvider("test", address, access),
            }
            request = asking("hi", model=f"test:{model}", parameters=HIGH)
            events = [await collect(providers[wire], request) for _ in range(2)]
            for provider in providers.values():
                await provider.close()
            return events, [json.loads(body) for body in server.bodies]

    return asyncio.run(go())


GOOD = http(
    b'data: {"choices":[{"delta":{"content":"one"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


def _bodies(words: object, **options: Any) -> tuple[list[Any], list[Any], Learned]:
    async def go() -> tuple[list[Any], list[Any], Learned]:
        learned = Learned()
        no = http(json.dumps(words).encode(), status=422, kind="application/json")
        async with serving(no, GOOD, GOOD) as server:
            provider = OpenAIProvider("test", server.address, Access(learned=learned))
            found = [await collect(provider, asking("hi", **options)) for _ in range(2)]
            await provider.close()
            return found, [json.loads(body) for body in server.bodies], learned

    return asyncio.run(go())


def test_a_key_that_is_sent_unasked_goes_alone() -> None:
    detail = [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]
    events, bodies, learned = _bodies({"detail": detail}, temperature=0.5)
    assert events[0][0] == LeftOut("stream_options", "test refuses it")
    assert ["stream_options" in body for body in bodies] == [True, False, False]
    assert all(body["temperature"] == 0.5 for body in bodies)
    assert learned.keys(ModelRef("test", "model")) == {"stream_options": ""}


def test_a_limit_goes_by_the_name_that_the_server_says() -> None:
    words = (
        "Unsupported parameter: 'max_tokens' is not supported with this model."
        " Use 'max_completion_tokens' instead."
    )
    events, bodies, _ = _bodies({"error": {"message": words}}, max_tokens=5)
    assert not any(isinstance(event, LeftOut) for found in events for event in found)
    assert [body.get("max_tokens") for body in bodies] == [5, None, None]
    assert [body.get("max_completion_tokens") for body in bodies] == [None, 5, 5]
    assert PLAIN.limit_key == "max_tokens"
