"""Messages become requests of the OpenAI wire."""

import json
from dataclasses import replace
from typing import Any

import pytest

from jan_magics.domain.messages import (
    FilePart,
    Json,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from jan_magics.domain.models import ChatRequest, ToolSpec
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.dialects import LLAMA, PLAIN, Dialect
from jan_magics.providers.openai_wire import encode
from tests.providers.asking import asking, message


def body(request: ChatRequest, dialect: Dialect = PLAIN) -> dict[str, Any]:
    encoded = encode(request, dialect)
    json.dumps(encoded, allow_nan=False)
    return encoded


def messages(request: ChatRequest) -> Any:
    return body(request)["messages"]


def test_a_plain_request() -> None:
    request = asking("hi", message("assistant", "hello"), "again", system="Be brief.")
    assert body(request) == {
        "model": "model",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
            {"role": "user", "content": "again"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_what_stays_out() -> None:
    said = message("assistant", ReasoningPart("hm"), "a", UnknownPart({"x": 1}), "b")
    assert messages(asking(said)) == [{"role": "assistant", "content": "a\n\nb"}]


def test_tool_calls_and_results_in_waves() -> None:
    answer = message(
        "assistant",
        TextPart("looking"),
        ToolCallPart("1", "f", '{"k": 1}'),
        ToolCallPart("2", "g", ""),
        ToolResultPart("1", "f", {"ü": [1]}),
        ToolResultPart("2", "g", "no", "error"),
        TextPart("found"),
    )
    assert messages(asking(answer)) == [
        {
            "role": "assistant",
            "content": "looking",
            "tool_calls": [
                {"id": "1", "type": "function",
                 "function": {"name": "f", "arguments": '{"k": 1}'}},
                {"id": "2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": '{"ü": [1]}'},
        {"role": "tool", "tool_call_id": "2", "content": "no"},
        {"role": "assistant", "content": "found"},
    ]  # fmt: skip


def test_a_result_alone_and_a_message_without_parts() -> None:
    only = message("user", ToolResultPart("1", "f", None))
    assert messages(asking(only)) == [{"role": "tool", "tool_call_id": "1", "content": "null"}]
    assert messages(asking(message("assistant"))) == [{"role": "assistant", "content": ""}]


@pytest.mark.parametrize(
    ("part", "wire"),
    [
        (FilePart("image/png", b"\x01"), {"type": "image_url",
                                          "image_url": {"url": "data:image/png;base64,AQ=="}}),
        (FilePart("image/png", url="https://x.example/a.png"),
         {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}),
        (FilePart("audio/mpeg", b"\x01"), {"type": "input_audio",
                                           "input_audio": {"data": "AQ==", "format": "mp3"}}),
        (FilePart("text/csv", b"a,b"), {"type": "text", "text": "a,b"}),
        (FilePart("application/pdf", b"\x01", name="a.pdf"),
         {"type": "file", "file": {"filename": "a.pdf",
                                   "file_data": "data:application/pdf;base64,AQ=="}}),
    ],
)  # fmt: skip
def test_files(part: FilePart, wire: Json) -> None:
    (sent,) = messages(asking(message("user", "look", part)))
    assert sent == {"role": "user", "content": [{"type": "text", "text": "look"}, wire]}


def test_tools() -> None:
    spec = ToolSpec("f", "Does it.", {"type": "object"})
    request = ChatRequest(asking().model, (), tools=(spec,))
    assert body(request)["tools"] == [
        {
            "type": "function",
            "function": {"name": "f", "description": "Does it.", "parameters": {"type": "object"}},
        }
    ]


def chosen(dialect: Dialect = PLAIN, **options: Any) -> dict[str, Any]:
    plain = body(asking("hi"), dialect)
    return {
        name: value
        for name, value in body(asking("hi", **options), dialect).items()
        if plain.get(name) != value
    }


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"temperature": 0.0, "max_tokens": 5, "seed": 0},
         {"temperature": 0.0, "max_tokens": 5, "seed": 0}),
        ({"max_tokens": 0}, {}),
        ({"parameters": {"max_tokens": 0}}, {}),
        ({"parameters": {"max_output_tokens": 7}}, {"max_tokens": 7}),
        ({"temperature": 0.5, "parameters": {"temperature": 1, "top_k": 3}},
         {"temperature": 1, "top_k": 3}),
        ({"parameters": {"ctx_len": 1, "auto_compact": True, "max_context_tokens": 9, "pace": 1,
                         "delay": 1, "fail": "in", "timeout": 3}}, {}),
        ({"parameters": {"model": "x", "messages": [], "stream": False}}, {}),
        ({"timeout": 3.0}, {}),
    ],
)  # fmt: skip
def test_options(options: dict[str, Any], sent: dict[str, Any]) -> None:
    assert chosen(**options) == sent


def test_none_removes_a_key() -> None:
    assert "stream_options" not in body(asking("hi", parameters={"stream_options": None}))


def test_dialects() -> None:
    llama, mistral, openai = (
        CATALOG[name].dialect for name in ("llamacpp", "mistral", "openai")
    )  # fmt: skip
    assert body(asking("hi"), llama) == body(asking("hi")) | {
        "return_progress": True,
        "cache_prompt": True,
    }
    assert body(asking("hi"), Dialect(per_token=True))["timings_per_token"] is True
    assert "stream_options" not in body(asking("hi"), mistral)
    assert chosen(mistral, seed=3) == {"random_seed": 3}
    assert chosen(openai, max_tokens=3) == {"max_completion_tokens": 3}
    assert chosen(openai, parameters={"max_tokens": 3}) == {"max_completion_tokens": 3}


@pytest.mark.parametrize("think", [True, False])
def test_reasoning_is_switched_where_the_server_knows_how(think: bool) -> None:
    request = asking("hi")
    request = replace(request, options=replace(request.options, think=think))
    told = {"chat_template_kwargs": {"enable_thinking": think}}
    assert body(request, LLAMA).items() >= told.items()
    assert body(request, PLAIN).keys().isdisjoint(told)
    assert body(asking("hi"), LLAMA).keys().isdisjoint(told)
