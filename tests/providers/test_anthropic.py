"""The Anthropic Messages wire, outward."""

import json
from dataclasses import replace
from typing import Any

import pytest

from jan_magics.domain.errors import RequestRejected, SettingError
from jan_magics.domain.events import fold
from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ChatRequest, ToolSpec, parse_model
from jan_magics.providers.anthropic import AnthropicProvider, letter_for
from jan_magics.providers.anthropic_wire import encode
from jan_magics.providers.dialects import ANTHROPIC as DIALECT
from tests.providers.asking import asking, message
from tests.providers.wires import ANTHROPIC

MODEL = "anthropic:claude-sonnet-4-5"
MARK = {"type": "ephemeral"}
SIGNED = ProviderData("anthropic", MODEL, {"type": "thinking"})


def body(*messages: Message | str, model: str = MODEL, **more: Any) -> dict[str, Any]:
    encoded = encode(asking(*messages, model=model, **more), DIALECT)
    json.dumps(encoded, allow_nan=False)
    return encoded


def left_out(model: str = MODEL, **options: Any) -> dict[str, str]:
    settled = letter_for(asking("hi", model=model, **options), DIALECT).settled
    return {each.name: each.why for each in settled.left_out}


def test_a_plain_request_says_how_long_an_answer_may_be() -> None:
    assert body("hi", system="Be brief.") == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 64_000,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": MARK}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "stream": True,
    }


@pytest.mark.parametrize(
    ("model", "options", "limit"),
    [
        (MODEL, {"max_tokens": 7}, 7),
        (MODEL, {"max_tokens": 0}, 64_000),
        (MODEL, {"parameters": {"max_output_tokens": "9"}}, 9),
        ("anthropic:claude-3-haiku-20240307", {}, 4_096),
        ("anthropic:claude-3-5-sonnet-latest", {}, 8_192),
        ("anthropic:claude-opus-4-1", {}, 32_000),
        ("anthropic:claude-opus-4-20250514", {}, 32_000),
        ("anthropic:claude-opus-4-5", {}, 64_000),
        ("https://host.example/v1#some", {}, 8_192),
    ],
)
def test_no_limit_is_the_models_own(model: str, options: dict[str, Any], limit: int) -> None:
    assert body("hi", model=model, **options)["max_tokens"] == limit


@pytest.mark.parametrize("system", ["", " ", "\n\t"])
def test_a_blank_system_text_is_not_sent(system: str) -> None:
    assert "system" not in body("hi", system=system)


def test_the_thread_is_marked_where_the_next_turn_repeats_it() -> None:
    request = asking("one", message("assistant", "1"), "two", model=MODEL)
    sent: Any = encode(replace(request, stable=2), DIALECT)["messages"]
    marked = [block for each in sent for block in each["content"] if "cache_control" in block]
    assert marked == [{"type": "text", "text": "1", "cache_control": MARK}]
    assert "cache_control" not in json.dumps(encode(request, DIALECT))


def test_reasoning_carries_no_mark() -> None:
    thought = ReasoningPart("hm", "sig", SIGNED)
    request = asking("a", message("assistant", "1", thought), "b", model=MODEL)
    sent: Any = encode(replace(request, stable=2), DIALECT)["messages"]
    assert sent[1]["content"] == [
        {"type": "text", "text": "1", "cache_control": MARK},
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
    ]


ANSWER = message(
    "assistant",
    ReasoningPart("hm", "sig", SIGNED),
    TextPart("looking"),
    ToolCallPart("a.1", "f", '{"k": 1}'),
    ToolCallPart("b", "g", "{broken"),
    ToolResultPart("b", "g", "no", "error"),
    ToolResultPart("a.1", "f", {"ü": [1]}),
    TextPart("found"),
)


def test_all_results_of_a_step_are_in_one_message_in_the_order_of_their_calls() -> None:
    assert body("hi", ANSWER, "and now?")["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "looking"},
            {"type": "tool_use", "id": "a_1", "name": "f", "input": {"k": 1}},
            {"type": "tool_use", "id": "b", "name": "g", "input": {"arguments": "{broken"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a_1", "content": '{"ü": [1]}'},
            {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": True},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "found"}]},
        {"role": "user", "content": [{"type": "text", "text": "and now?"}]},
    ]  # fmt: skip


def test_a_question_after_results_stands_in_their_message() -> None:
    cut = replace(ANSWER, parts=ANSWER.parts[1:6])
    last = body("hi", cut, "go on")["messages"][-1]
    kinds = [block["type"] for block in last["content"]]
    assert (last["role"], kinds) == ("user", ["tool_result", "tool_result", "text"])


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        (ReasoningPart("hm", "sig", SIGNED), True),
        (ReasoningPart("", None, ProviderData("anthropic", MODEL, {"type": "redacted_thinking",
                                                                  "data": "eA=="})), True),
        (ReasoningPart("hm", "sig", ProviderData("anthropic", "anthropic:other", {})), False),
        (ReasoningPart("hm", "sig", ProviderData("google", MODEL, {})), False),
        (ReasoningPart("hm", "sig"), False),
        (ReasoningPart("hm"), False),
    ],
)  # fmt: skip
def test_reasoning_goes_back_to_the_model_that_signed_it(part: ReasoningPart, kept: bool) -> None:
    sent = body("hi", message("assistant", part, "so"), "more")["messages"]
    assert len(sent[1]["content"]) == 1 + kept


def test_what_was_read_is_what_is_sent_back() -> None:
    events = ANTHROPIC.answer()
    frames = ANTHROPIC.body(*ANTHROPIC.streams["redacted"])
    parts = fold([*events.feed(frames), *events.close()])
    model = ChatRequest(parse_model("test:model"), (message("assistant", *parts),))
    sent: Any = encode(model, DIALECT)["messages"]
    assert sent[0]["content"] == [
        {"type": "thinking", "thinking": "想一下", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eA=="},
        {"type": "text", "text": "so"},
    ]


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (FilePart("image/png", b"\x01"),
         {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                      "data": "AQ=="}}),
        (FilePart("image/png", url="https://x.example/a.png"),
         {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}),
        (FilePart("image/png", url="data:image/png;base64,AQ=="),
         {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                      "data": "AQ=="}}),
        (FilePart("application/pdf", b"\x01"),
         {"type": "document", "source": {"type": "base64", "media_type": "application/pdf",
                                         "data": "AQ=="}}),
        (FilePart("text/csv", "a,好".encode(), name="a.csv"),
         {"type": "document", "title": "a.csv",
          "source": {"type": "text", "media_type": "text/plain", "data": "a,好"}}),
    ],
)  # fmt: skip
def test_files(part: FilePart, block: Json) -> None:
    assert body(message("user", "look", part))["messages"][0]["content"][1] == block


def test_a_file_that_the_wire_has_no_form_for() -> None:
    with pytest.raises(RequestRejected, match=r"takes no 'audio/wav' \(a\.wav\)") as raised:
        body(message("user", FilePart("audio/wav", b"", name="a.wav")))
    assert raised.value.next_step


def test_tools() -> None:
    spec = ToolSpec("f", "Does it.", {"type": "object"})
    request = ChatRequest(parse_model(MODEL), (message("user", "hi"),), tools=(spec,))
    assert encode(request, DIALECT)["tools"] == [
        {"name": "f", "description": "Does it.", "input_schema": {"type": "object"}}
    ]


def test_parameters_that_are_not_sent_and_why() -> None:
    given = {"seed": 1, "min_p": 0.1, "top_p": 0.5, "stop": "END", "presence_penalty": 1}
    sent = body("hi", temperature=0.5, parameters=given)
    assert sent["temperature"] == 0.5
    assert sent["stop_sequences"] == ["END"]
    assert sent.keys().isdisjoint({"seed", "min_p", "top_p", "presence_penalty", "stop"})
    told = left_out(temperature=0.5, parameters=given)
    assert told.keys() == {"seed", "min_p", "top_p", "presence_penalty"}
    assert told["top_p"] == "it excludes temperature, which is set too"


@pytest.mark.parametrize(
    ("model", "level", "sent"),
    [
        (MODEL, "auto", {}),
        (MODEL, "off", {"thinking": {"type": "disabled"}}),
        (MODEL, "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        ("anthropic:claude-opus-4-6", "high",
         {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
    ],
)  # fmt: skip
def test_levels_of_reasoning(model: str, level: str, sent: dict[str, Any]) -> None:
    found = body("hi", model=model, temperature=0.5, parameters={"reasoning": level})
    plain = body("hi", model=model, temperature=0.5)
    assert found.items() >= sent.items()
    warm = level in {"auto", "off"}
    assert ("temperature" in found) is warm
    assert ("temperature" in left_out(model, temperature=0.5, parameters={"reasoning": level})) is (
        not warm
    )
    assert warm is (found.keys() - sent.keys() == plain.keys())


def test_a_limit_is_what_the_answer_may_have_beside_the_reasoning() -> None:
    sent = body("hi", max_tokens=100, parameters={"reasoning": "low"})
    assert sent["max_tokens"] == 100 + sent["thinking"]["budget_tokens"]


def test_a_level_that_is_none_fails_before_anything_is_sent() -> None:
    provider = AnthropicProvider("anthropic", "http://127.0.0.1:1")
    options = asking("hi", parameters={"reasoning": "loud"}).options
    with pytest.raises(SettingError, match="'loud' is no level"):
        provider.check(parse_model(MODEL), options)
