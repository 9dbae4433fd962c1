"""Parameters by their common names: what is sent, what is left out, and what a refusal means."""

import asyncio
import json
from typing import Any

import pytest

from jan_magics.domain.errors import ProviderError
from jan_magics.domain.models import ChatOptions
from jan_magics.domain.parameters import fault_of
from jan_magics.providers.catalog import CATALOG, declared_of
from jan_magics.providers.dialects import CUSTOM, HOSTED, LLAMA, OPENAI, OPENROUTER, Dialect
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.openai_wire import encode
from jan_magics.providers.params import settle
from tests.providers.asking import asking, collect
from tests.providers.loopback import http, serving


def values(dialect: Dialect = CUSTOM, model: str = "m", **parameters: Any) -> dict[str, Any]:
    return dict(settle(ChatOptions(parameters=parameters), dialect, model).values)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"temperature": "0.4", "top_k": "12"}, {"temperature": 0.4, "top_k": 12}),
        ({"temperature": " "}, {"temperature": " "}),
        ({"min_p": "1e999"}, {"min_p": "1e999"}),
        ({"label": "12"}, {"label": "12"}),
        ({"samplers": "top_k; min_p,,"}, {"samplers": ["top_k", "min_p"]}),
        ({"samplers": " ; "}, {}),
        ({"max_completion_tokens": "7"}, {"max_tokens": 7}),
        ({"max_output_tokens": 0}, {}),
        ({"dynatemp_exp": 1}, {"dynatemp_exponent": 1}),
        ({"ctx_len": 1, "auto_compact": True, "max_context_tokens": 1}, {}),
        ({"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "low"}}),
    ],
)
def test_common_names_and_numbers(given: dict[str, Any], sent: dict[str, Any]) -> None:
    assert values(**given) == sent


@pytest.mark.parametrize("name", [name for name, entry in CATALOG.items() if not entry.local])
def test_what_only_llama_cpp_knows_goes_to_no_other(name: str) -> None:
    entry = CATALOG[name]
    settled = settle(ChatOptions(parameters={"grammar": "root ::= x"}), entry.dialect, "m")
    open_models = name in {"together", "fireworks"}
    assert ("grammar" in settled.values) is open_models
    assert [left.name for left in settled.left_out] == ([] if open_models else ["grammar"])


@pytest.mark.parametrize(
    ("dialect", "level", "sent"),
    [
        (LLAMA, "off", {"chat_template_kwargs": {"enable_thinking": False}}),
        (LLAMA, "high",
         {"chat_template_kwargs": {"enable_thinking": True, "reasoning_effort": "high"}}),
        (LLAMA, "auto", {}),
        (OPENAI, "low", {"reasoning_effort": "low"}),
        (OPENAI, "off", {"reasoning_effort": "none"}),
        (OPENROUTER, "off", {"reasoning": {"enabled": False}}),
        (OPENROUTER, "medium", {"reasoning": {"effort": "medium"}}),
        (CUSTOM, "high", {}),
        (HOSTED, "auto", {}),
    ],
)  # fmt: skip
def test_levels_of_reasoning(dialect: Dialect, level: str, sent: dict[str, Any]) -> None:
    plain = encode(asking("hi"), dialect)
    body = encode(asking("hi", parameters={"reasoning": level}), dialect)
    assert {name: value for name, value in body.items() if name not in plain} == sent
    told = settle(ChatOptions(parameters={"reasoning": level}), dialect, "m").left_out
    assert bool(told) is (dialect == CUSTOM)


def test_a_level_that_is_none() -> None:
    assert "auto, off, low, medium or high, not 'loud'" in fault_of("reasoning", "loud")
    assert fault_of("reasoning", {"effort": "low"}) == fault_of("reasoning", "low") == ""


def test_a_number_that_is_spelled_is_a_number() -> None:
    assert fault_of("temperature", "0.4") == fault_of("max_tokens", "7") == ""
    assert "not '9'" in fault_of("temperature", "9")
    assert "not 'nan'" in fault_of("temperature", "nan")


@pytest.mark.parametrize("parameters", [{}, {"top_k": 1}])
def test_a_refusal_is_answered_once_and_only_with_parameters(parameters: dict[str, Any]) -> None:
    async def go() -> list[Any]:
        refused = http(
            b'{"error":{"message":"Unsupported parameter: top_k"}}',
            status=400,
            kind="application/json",
        )
        async with serving(refused) as server:
            provider = OpenAIProvider("test", server.address)
            try:
                with pytest.raises(ProviderError, match="Unsupported parameter"):
                    await collect(provider, asking("hi", parameters=parameters))
            finally:
                await provider.close()
            return [json.loads(body) for body in server.bodies]

    sent = ["top_k" in body for body in asyncio.run(go())]
    assert sent == ([True, False] if parameters else [False])


@pytest.mark.parametrize(
    ("name", "can"),
    [
        ("claude-sonnet-4-5", {"tools", "vision", "reasoning"}),
        ("gpt-4o-mini", {"tools", "vision"}),
        ("o3-mini", {"tools", "vision", "reasoning"}),
        ("text-embedding-3-small", set()),
        ("deepseek-reasoner", {"reasoning"}),
        ("deepseek-v4-pro", {"tools", "reasoning"}),
        ("deepseek-flash", {"tools", "reasoning"}),
    ],
)
def test_what_makers_declare(name: str, can: set[str]) -> None:
    assert declared_of(name) == dict.fromkeys(can, "declared")
