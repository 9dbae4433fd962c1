"""Reasoning goes back only to a provider that wants it, and is counted where it goes."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from jan_magics.context.budget import Budget
from jan_magics.context.counting import count_message, count_system
from jan_magics.context.plan import ContextPlan
from jan_magics.context.tokens import CharsTokenizer
from jan_magics.domain.messages import ReasoningPart
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef, Profile
from jan_magics.engine.facts import dialect_of, resent
from jan_magics.engine.fitting import Fit
from jan_magics.engine.narrowing import told_first
from jan_magics.engine.settings import Settings
from jan_magics.providers.dialects import (
    HOSTED,
    LLAMA,
    MINIMAX,
    MISTRAL,
    MOONSHOT,
    Dialect,
)
from jan_magics.providers.openai_wire import encode
from jan_magics.providers.params import resending
from jan_magics.sanitize.profiles import TEMPLATE
from tests.providers.asking import asking, message

THOUGHT = "先想一想：两个数相加。" * 20
SAID = (
    message("user", "1+1?"),
    message("assistant", ReasoningPart(THOUGHT), "2"),
    message("user", "and 2+2?"),
)
PRESERVING: dict[str, Any] = {"chat_template_kwargs": {"preserve_thinking": True}}


@pytest.mark.parametrize(
    ("dialect", "model", "parameters", "wanted"),
    [
        (MOONSHOT, "kimi-k2-thinking", {}, True),
        (MOONSHOT, "kimi-k2-0905-preview", {}, False),
        (LLAMA, "qwen3", PRESERVING, True),
        (LLAMA, "qwen3", {"chat_template_kwargs": {"preserve_thinking": "yes"}}, False),
        (LLAMA, "qwen3", {}, False),
        (HOSTED, "llama-3.3", PRESERVING, False),
        (MISTRAL, "mistral-medium-3-5", {}, True),
        (MISTRAL, "magistral-medium-latest", {}, True),
        (MISTRAL, "mistral-large-2411", {}, False),
        (MINIMAX, "MiniMax-M2.7", {}, True),
    ],
)
def test_who_wants_it(
    dialect: Dialect, model: str, parameters: dict[str, Any], wanted: bool
) -> None:
    options = ChatOptions(parameters=parameters)
    assert (resending(options, dialect, model) is not None) is wanted
    body = encode(ChatRequest(ModelRef("test", model), SAID, options=options), dialect)
    assert (THOUGHT in json.dumps(body, ensure_ascii=False)) is wanted


def test_it_goes_back_beside_the_words() -> None:
    request = ChatRequest(ModelRef("moonshot", "kimi-k2-thinking"), SAID)
    assert encode(request, MOONSHOT)["messages"] == [
        {"role": "user", "content": "1+1?"},
        {"role": "assistant", "content": "2", "reasoning_content": THOUGHT},
        {"role": "user", "content": "and 2+2?"},
    ]


def test_the_dialect_of_a_model() -> None:
    settings = Settings((), {})
    assert dialect_of(ModelRef("moonshot", "x"), settings) is MOONSHOT
    assert dialect_of(ModelRef("llamacpp", "x"), settings) is LLAMA
    assert dialect_of(ModelRef("custom", "x", "https://host.example/v1"), settings).tags


@pytest.mark.parametrize(
    ("provider", "reasoning", "with_calls"),
    [
        ("groq", "never", False),
        ("moonshot", "always", False),
        ("minimax", "always", False),
        ("deepseek", "always", True),
        ("openrouter", "signed", False),
    ],
)
def test_what_cleaning_keeps_is_what_the_dialect_says(
    provider: str, reasoning: str, with_calls: bool
) -> None:
    model = ModelRef(provider, "kimi-k2-thinking")
    profile = resent(TEMPLATE, model, Settings((), {}), ChatOptions())
    assert (profile.reasoning, profile.reasoning_with_calls) == (reasoning, with_calls)


def planned(profile: Profile, system: str = "") -> ContextPlan:
    fit = Fit(Budget(window=None), CharsTokenizer(), profile=profile)
    # Ids that differ, as those of stored messages do.
    path = tuple(replace(each, id=f"{n:032x}") for n, each in enumerate(SAID))
    return asyncio.run(fit.plan(path, system))


@pytest.mark.parametrize("reasoning", ["never", "always"])
def test_what_is_counted_is_what_is_sent(reasoning: Any) -> None:
    plan = planned(Profile("some", waves=True, alternating=True, reasoning=reasoning))
    thoughts = [p for m in plan.messages for p in m.parts if isinstance(p, ReasoningPart)]
    assert bool(thoughts) is (reasoning == "always")
    tokenizer = CharsTokenizer()
    counts = (count_message(m, tokenizer, resend_reasoning=True) for m in plan.messages)
    assert plan.tokens == sum(counts) + count_system("", tokenizer)


def test_a_system_text_that_moves_is_counted_where_it_goes() -> None:
    plan = planned(replace(TEMPLATE, system="none"), "Answer in Chinese. 用中文回答。")
    request = ChatRequest(ModelRef("test", "m"), plan.messages, plan.system)
    sent = told_first(request)
    assert sent.system == ""
    tokenizer = CharsTokenizer()
    counted = sum(count_message(each, tokenizer) for each in sent.messages)
    assert abs(plan.tokens - counted - count_system("", tokenizer)) <= 1


def test_a_request_without_a_system_text_stays_as_it_is() -> None:
    request = asking("hi")
    assert told_first(request) is request
