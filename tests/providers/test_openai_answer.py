"""A stream of the OpenAI wire becomes an answer, whatever the server bends."""

import json
from typing import Any

import pytest

from jan_magics.domain.errors import (
    ContextOverflow,
    ProviderError,
    RateLimited,
    ServerFailed,
    StreamBroken,
)
from jan_magics.domain.events import (
    Finish,
    Prefill,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    fold,
)
from jan_magics.domain.messages import TextPart, ToolCallPart
from jan_magics.domain.models import Timings, Usage
from tests.providers.asking import outcome, read, sse
from tests.providers.recordings import load


def delta(reason: str | None = None, **content: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": content, "finish_reason": reason}]}


def text(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def finish(events: list[StreamEvent]) -> Finish:
    assert isinstance(events[-1], Finish)
    return events[-1]


def recorded(name: str) -> list[StreamEvent]:
    recording = load(name)
    return read([recording.body], stream=recording.stream)


# ------------------------------------------------------------------- what real servers sent


def test_usage_comes_in_a_chunk_without_choices() -> None:
    end = finish(recorded("llama_server-chat_stream_usage"))
    assert end.reason == "length"
    assert end.usage == Usage(input=42, output=6, cached=41)
    assert end.timings
    assert end.timings.decode == pytest.approx(0.102767)
    assert end.timings.tokens_per_second == pytest.approx(48.65375, abs=1e-4)


def test_without_usage_the_timings_count_the_tokens() -> None:
    events = recorded("llama_server-chat_stream")
    assert text(events).startswith("The capital of France is")
    assert finish(events).usage == Usage(input=42, output=6, cached=41)


def test_timings_on_every_chunk_are_those_of_the_last() -> None:
    events = recorded("llama_server-chat_stream_timings_per_token")
    end = finish(events)
    assert len(events) > 4
    assert end.timings
    assert end.timings.tokens_per_second
    assert end.usage
    assert end.usage.output == len([event for event in events if isinstance(event, TextDelta)])


def test_progress_comes_before_the_answer() -> None:
    events = recorded("llama_server-chat_stream_return_progress")
    assert events[:2] == [Prefill(24, 732, 24), Prefill(732, 732, 24)]
    assert finish(events).reason == "stop"
    assert fold(events) == ()  # the model had nothing to say, and said so


def test_a_tool_call_arrives_in_pieces() -> None:
    events = recorded("llama_server-tools_required_stream")
    calls = [part for part in fold(events) if isinstance(part, ToolCallPart)]
    assert finish(events).reason in {"tools", "length"}
    assert calls or text(events)


def test_a_tool_call_of_the_few_shot_template() -> None:
    events = recorded("llama_server_tools-fewshot_auto_stream")
    (call,) = (part for part in fold(events) if isinstance(part, ToolCallPart))
    assert (call.name, json.loads(call.arguments)) == ("get_weather", {"city": "Paris"})
    assert call.call_id
    assert finish(events).reason == "tools"


def test_a_server_without_usage_in_its_stream() -> None:
    events = recorded("llama_cpp_python-chat_stream_usage")
    assert text(events) == "The capital of France is Paris"
    assert finish(events) == Finish("length")


def test_an_overflow_with_an_empty_body_is_no_empty_answer() -> None:
    with pytest.raises(StreamBroken, match="nothing at all") as raised:
        recorded("llama_cpp_python-chat_overflow_stream")
    assert "context window" in raised.value.next_step


@pytest.mark.parametrize("name", ["llama_server-chat", "llama_cpp_python-chat"])
def test_a_whole_json_body_in_place_of_a_stream(name: str) -> None:
    events = recorded(name)
    assert text(events).startswith("The capital of France is")
    assert finish(events).reason == "stop"
    assert (finish(events).usage or Usage()).input == 42


def test_a_whole_body_with_a_tool_call_and_its_legacy_twin() -> None:
    (call,) = fold(recorded("llama_cpp_python-tools_named"))
    assert isinstance(call, ToolCallPart)
    assert (call.name, call.arguments) == ("get_weather", '{ "city": "Paris" }')


def test_the_window_ran_out_while_writing() -> None:
    assert finish(recorded("llama_server-chat_overflow_generation")).reason == "length"


# ------------------------------------------------------------------------------- oddities


@pytest.mark.parametrize(
    ("body", "events"),
    [
        pytest.param(
            sse(delta(content="a"), delta("stop"), done=False),
            [TextDelta("a"), Finish("stop")],
            id="no DONE",
        ),
        pytest.param(sse(delta(content="a")), [TextDelta("a"), Finish(None)], id="no reason"),
        pytest.param(
            sse(delta(content="a"), delta("eos_of_our_own")),
            [TextDelta("a"), Finish("stop")],
            id="a reason nobody knows",
        ),
        pytest.param(
            sse(delta(reasoning_content="r"), delta(reasoning="s"), delta("length", content="a")),
            [ReasoningDelta("r"), ReasoningDelta("s"), TextDelta("a"), Finish("length")],
            id="both names of reasoning",
        ),
        pytest.param(
            sse(delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}]),
                delta("stop", content=[{"type": "text", "text": "a"}])),
            [ReasoningDelta("r"), TextDelta("a"), Finish("stop")],
            id="lists of parts",
        ),
        pytest.param(
            sse(delta("content_filter", refusal="no")),
            [TextDelta("no"), Finish("filter")],
            id="a refusal is shown",
        ),
        pytest.param(
            sse({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop",
                              "usage": {"prompt_tokens": 3, "completion_tokens": 1}}]}),
            [TextDelta("a"), Finish("stop", Usage(3, 1))],
            id="usage inside the choice",
        ),
        pytest.param(
            sse(delta("stop", content="a"),
                {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 1,
                                          "prompt_cache_hit_tokens": 4,
                                          "completion_tokens_details": {"reasoning_tokens": 1}}}),
            [TextDelta("a"), Finish("stop", Usage(9, 1, 4, 1))],
            id="cached and reasoning tokens",
        ),
        pytest.param(
            sse(delta(tool_calls=[{"id": "x", "function": {"name": "f", "arguments": {"k": 1}}}]),
                delta("tool_calls", tool_calls=[{"id": "y", "function": {"name": "g"}}])),
            [ToolCallDelta(0, "x", "f", '{"k": 1}'), ToolCallDelta(1, "y", "g"), Finish("tools")],
            id="calls without an index, arguments as an object",
        ),
        pytest.param(
            sse(delta(tool_calls=[{"index": 0, "id": "x", "function": {"name": "f"}}]),
                delta(tool_calls=[{"index": 0, "function": {"arguments": "{}"}}]),
                delta("tool_calls", tool_calls=[{"index": 0, "id": "y",
                                                 "function": {"name": "g"}}])),
            [ToolCallDelta(0, "x", "f"), ToolCallDelta(0, "", "", "{}"),
             ToolCallDelta(1, "y", "g"), Finish("tools")],
            id="every call has the index 0",
        ),
        pytest.param(
            b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
            b'data: {"choices":[{"delta":{"content":"\\ude00!"},"finish_reason":"stop"}]}\n\n',
            [TextDelta("😀!"), Finish("stop")],
            id="an emoji in two halves",
        ),
        pytest.param(
            b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
            b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n',
            [TextDelta("\ufffdx"), Finish("stop")],
            id="half an emoji",
        ),
        pytest.param(
            b"\n" + sse(delta("stop", content="a")), [TextDelta("a"), Finish("stop")],
            id="a blank line first",
        ),
    ],
)  # fmt: skip
def test_oddities(body: bytes, events: list[StreamEvent]) -> None:
    assert read([body]) == events
    assert read([body], stream=False) == events  # as text/plain: the first byte decides


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        pytest.param(sse({"error": {"message": "boom", "code": 500}}), ServerFailed, "boom",
                     id="error object"),
        pytest.param(sse({"error": "boom"}), ServerFailed, "boom", id="error string"),
        pytest.param(b'error: {"code":500,"message":"boom","type":"server_error"}\n\n',
                     ServerFailed, "boom", id="a field called error"),
        pytest.param(sse({"object": "error", "message": "boom", "code": 500}), ServerFailed,
                     "boom", id="error without choices"),
        pytest.param(sse({"choices": [{"delta": {}, "error": {"code": 429, "message": "slow"}}]}),
                     RateLimited, "slow", id="error inside the choice"),
        pytest.param(sse({"error": {"message": "prompt is too long: 9 tokens > 5 maximum"}}),
                     ContextOverflow, "9 tokens of 5", id="an overflow"),
        pytest.param(b"data: {nonsense\n\n", StreamBroken, "no JSON", id="no JSON"),
        pytest.param(b"data: [1]\n\n", StreamBroken, "no object", id="no object"),
        pytest.param(b"data: [DONE]\n\n", StreamBroken, "nothing", id="only DONE"),
        pytest.param(sse(delta(content="a"), done=False), StreamBroken, "cut off", id="no end"),
        pytest.param(sse(delta(content="a"), done=False) + b'data: {"choi', StreamBroken,
                     "cut off", id="cut in a frame"),
        pytest.param(b"", StreamBroken, "nothing", id="nothing"),
        pytest.param(b": ping\n\n", StreamBroken, "nothing", id="only a comment"),
        pytest.param(sse(delta(role="assistant", content=None), done=False), StreamBroken,
                     "nothing", id="only a role"),
    ],
)  # fmt: skip
def test_failures_inside_a_stream(body: bytes, kind: type[ProviderError], words: str) -> None:
    with pytest.raises(kind, match=words):
        read([body])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html><title>Sign in</title></html>", "a web page \\('Sign in'\\)"),
        (b'{"hello": 1}', "JSON without an answer"),
        (b"[]", "no object"),
        (b"{", "was cut off"),
        (b"{oops}", "no JSON"),
        (b"  ", "nothing"),
    ],
)
def test_bodies_that_are_no_answer(body: bytes, words: str) -> None:
    with pytest.raises(StreamBroken, match=words):
        read([body], stream=False)


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource"])
def test_an_end_that_is_an_error_is_one_where_nothing_was_said(reason: str) -> None:
    with pytest.raises(ServerFailed, match="has ended the answer with an error"):
        read([sse({"choices": [{"delta": {}, "finish_reason": reason}]})])
    *_, end = read([sse(delta(content="halb"), {"choices": [{"finish_reason": reason}]})])
    assert isinstance(end, Finish)
    assert end.reason == "error"


def test_words_before_an_error_in_the_same_piece_are_kept() -> None:
    body = sse(delta(content="a"), {"error": {"message": "boom"}})
    assert outcome([body]).parts == (TextPart("a"),)
    assert outcome([body]).error is ServerFailed
    assert outcome([bytes([byte]) for byte in body]) == outcome([body])


def test_words_before_the_cut_are_kept() -> None:
    whole = sse(delta(content="a"), delta(content="b"), done=False)
    assert outcome([whole]).parts == (TextPart("ab"),)
    assert outcome([whole.rstrip()]).parts == (TextPart("ab"),)
    assert outcome([whole[:-5]]).parts == (TextPart("a"),)
    assert {outcome([whole[:-cut]]).error for cut in range(20)} == {StreamBroken}


def test_numbers_that_are_no_numbers_stay_unknown() -> None:
    odd = {"prompt_tokens": "7", "completion_tokens": -1, "prompt_tokens_details": 3}
    speed = {"predicted_per_second": 10**400, "prompt_ms": True, "predicted_ms": 1000}
    chunk = delta("stop", content="a") | {"usage": odd, "timings": speed}
    assert finish(read([sse(chunk)])) == Finish("stop", None, Timings(decode=1.0))
