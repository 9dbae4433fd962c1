"""How each server wants the reasoning of earlier answers back, and what it gives for that."""

import asyncio
import json
from typing import Any

import pytest

from jan_magics.domain.events import Folding, Seal, fold
from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ChatRequest, ModelRef
from jan_magics.engine.facts import resent
from jan_magics.engine.settings import Settings
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.dialects import DEEPSEEK, MINIMAX, MISTRAL, OPENROUTER, Dialect
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.openai_answer import Decoder
from jan_magics.providers.openai_wire import encode
from jan_magics.sanitize.pipeline import clean
from jan_magics.sanitize.profiles import profile_for
from tests.providers.asking import ASKED, asking, collect, message
from tests.providers.loopback import http, serving
from tests.sanitize.saying import answer, call, result, user

CALLED = answer(ReasoningPart("想一想"), call("1"), result("1"), ReasoningPart("aha"), "好 🌤")
SILENT = answer(ReasoningPart("only words"), "yes", identifier="b")
HISTORY = [user("weather?"), CALLED, user("and?", identifier="v"), SILENT]


def sent(provider: str, name: str, *messages: Message, **options: Any) -> list[Any]:
    """Return the messages that a history becomes for a model: cleaned, then encoded."""
    dialect, model = CATALOG[provider].dialect, ModelRef(provider, name)
    request = asking("x", model=str(model), **options)
    known = profile_for(model, "openai")
    profile = resent(known, model, Settings((), {}), request.options)
    cleaned = clean(messages or HISTORY, profile).messages
    body = encode(ChatRequest(model, cleaned, options=request.options), dialect)
    told: Any = body["messages"]
    return [each for each in told if each["role"] == "assistant"]


def test_deepseek_gets_that_of_answers_that_have_called() -> None:
    first, second, silent = sent("deepseek", "deepseek-v4-pro")
    assert first["reasoning_content"] == "想一想"
    assert second == {"role": "assistant", "content": "好 🌤", "reasoning_content": "aha"}
    assert "reasoning_content" not in silent


def test_deepseek_gets_an_empty_one_where_another_model_has_called() -> None:
    called = answer(call("1"), result("1"), "done")
    first, second = sent("deepseek", "deepseek-flash", user("q"), called)
    assert (first["reasoning_content"], second["reasoning_content"]) == ("", "")


def test_kimi_gets_an_empty_one_too_and_all_that_there_is() -> None:
    called = answer(call("1"), result("1"), "done")
    first, _ = sent("moonshot", "kimi-k2.6", user("q"), called)
    assert first["reasoning_content"] == ""
    assert [each["reasoning_content"] for each in sent("moonshot", "kimi-k3")] == [
        "想一想", "aha", "only words",
    ]  # fmt: skip
    assert "reasoning_content" not in sent("moonshot", "moonshot-v1-8k")[0]


def test_minimax_gets_it_between_tags_before_the_words() -> None:
    first, second, silent = sent("minimax", "MiniMax-M2.7")
    assert first["content"] == "<think>\n想一想\n</think>\n\n"
    assert first["tool_calls"]
    assert second["content"] == "<think>\naha\n</think>\n\n好 🌤"
    assert silent["content"] == "<think>\nonly words\n</think>\n\nyes"


def test_what_minimax_said_is_read_and_sent_back_alike() -> None:
    told = "<think>\n想\n一想\n</think>\n\n好"
    frame = json.dumps({"choices": [{"delta": {"content": told}}]}).encode()
    decoder, events = Decoder(ASKED, tags=True), list[Any]()
    decoder.feed(frame, events)
    parts = fold([*events, *decoder.close()])
    assert parts == (ReasoningPart("想\n一想"), TextPart("好"))
    request = ChatRequest(ModelRef("minimax", "M2"), (message("assistant", *parts),))
    assert encode(request, MINIMAX)["messages"] == [{"role": "assistant", "content": told}]


def test_mistral_gets_it_as_parts_of_the_content() -> None:
    first, second, _ = sent("mistral", "mistral-medium-3-5")
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "想一想"}]}
    assert first["content"] == [thought]
    assert second["content"][1:] == [{"type": "text", "text": "好 🌤"}]
    assert [each["content"] for each in sent("mistral", "mistral-large-2411")][1:] == [
        "好 🌤",
        "yes",
    ]


def test_a_file_in_an_answer_stays_behind_it() -> None:
    image = FilePart("image/png", b"\x01")
    for dialect in (MINIMAX, MISTRAL):
        said = message("assistant", ReasoningPart("hm"), "look", image)
        request = ChatRequest(ModelRef("test", "magistral-x"), (said,))
        (told,) = cast_list(encode(request, dialect)["messages"])
        kinds = [part["type"] for part in told["content"]]
        assert kinds[1:] == ["text", "image_url"]
        assert "hm" in json.dumps(told["content"][0])


@pytest.mark.parametrize("provider", ["openai", "groq", "xai", "together", "cohere", "azure"])
def test_others_get_none(provider: str) -> None:
    assert "想" not in json.dumps(sent(provider, "some-model"), ensure_ascii=False)


# --------------------------------------------------------------------------------- OpenRouter

PIECES: tuple[Any, ...] = (
    {"reasoning": "Ich ", "reasoning_details": [
        {"type": "reasoning.text", "text": "Ich ", "index": 0, "format": "anthropic-claude-v1"}]},
    {"reasoning": "想", "reasoning_details": [
        {"type": "reasoning.text", "text": "想", "index": 0, "signature": None}]},
    {"content": "好", "reasoning_details": [
        {"type": "reasoning.text", "index": 0, "signature": "c2ln"}]},
    {"content": "", "reasoning_details": [
        {"type": "reasoning.encrypted", "data": "gAAA", "index": 1, "id": "rs_1"}]},
)  # fmt: skip
KEPT: Json = [
    {"type": "reasoning.text", "text": "Ich 想", "index": 0, "format": "anthropic-claude-v1",
     "signature": "c2ln"},
    {"type": "reasoning.encrypted", "data": "gAAA", "index": 1, "id": "rs_1"},
]  # fmt: skip
ROUTED = ModelRef("openrouter", "anthropic/claude-sonnet-4.5")


def cast_list(found: Any) -> list[Any]:
    assert isinstance(found, list)
    return found


def routed(*deltas: Any, dialect: Dialect = OPENROUTER) -> tuple[Part, ...]:
    """Return the answer of a server that sends these pieces."""
    frames = [{"choices": [{"delta": delta}]} for delta in deltas]
    frames += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    body = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in frames)

    async def go() -> tuple[Part, ...]:
        async with serving(http(body, size=7)) as server:
            provider = OpenAIProvider("openrouter", server.address, dialect=dialect)
            request = asking("hi", model=str(ROUTED))
            found = await collect(provider, request)
            await provider.close()
            return fold(found)

    return asyncio.run(go())


def test_details_are_put_together_and_go_back_to_the_model_that_gave_them() -> None:
    thought, text = routed(*PIECES)
    data = ProviderData("openrouter", str(ROUTED), {"reasoning_details": KEPT})
    assert thought == ReasoningPart("Ich 想", None, data)
    assert text == TextPart("好")
    said = answer(thought, text)
    (again,) = sent("openrouter", ROUTED.name, user("q"), said)
    assert again == {"role": "assistant", "content": "好", "reasoning_details": KEPT}
    (other,) = sent("openrouter", "openai/gpt-5", user("q"), said)
    assert other == {"role": "assistant", "content": "好"}


def test_details_without_a_word_are_kept_beside_a_call() -> None:
    encrypted = {"type": "reasoning.encrypted", "data": "gAAA", "index": 0}
    called = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}
    parts = routed({"reasoning_details": [encrypted]}, {"tool_calls": [called]})
    kinds = [type(part) for part in parts]
    assert kinds == [ReasoningPart, ToolCallPart]
    said = answer(*parts, ToolResultPart("c1", "f", "ok"), "done")
    first, _ = sent("openrouter", ROUTED.name, user("q"), said)
    assert first["reasoning_details"] == [encrypted]


def test_words_that_stand_in_details_alone_are_read() -> None:
    summary = {"type": "reasoning.summary", "summary": "short 🦊", "index": 0}
    (thought, _) = routed({"reasoning_details": [summary]}, {"content": "x"})
    assert isinstance(thought, ReasoningPart)
    assert thought.text == "short 🦊"


@pytest.mark.parametrize(
    "odd",
    [None, "x", 3, {}, [None], ["x"], [{}], [{"type": 1, "index": []}], [{"text": ["x"]}],
     [{"text": "\ud83d"}]],
)  # fmt: skip
def test_odd_details_break_nothing(odd: Any) -> None:
    parts = routed({"reasoning_details": odd}, {"content": "x"})
    assert TextPart("x") in parts
    assert "".join(map(str, parts)).encode()


def test_another_server_keeps_no_details() -> None:
    assert routed(*PIECES, dialect=DEEPSEEK) == (ReasoningPart("Ich 想"), TextPart("好"))


def test_a_seal_of_a_thought_finds_it_behind_the_words() -> None:
    folding = Folding()
    data = ProviderData("p", "p:m", 1)
    folding.add(Seal(data, thought=True))
    assert folding.parts() == (ReasoningPart("", None, data),)


# ------------------------------------------------------------------------------- the switches


@pytest.mark.parametrize(
    ("provider", "level", "told"),
    [
        ("deepseek", "off", {"thinking": {"type": "disabled"}}),
        ("deepseek", "high", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("deepseek", "auto", {}),
        ("mistral", "off", {"reasoning_effort": "none"}),
        ("mistral", "high", {"reasoning_effort": "high"}),
    ],
)
def test_reasoning_is_switched(provider: str, level: str, told: dict[str, Json]) -> None:
    request = asking("hi", model=f"{provider}:m", parameters={"reasoning": level})
    body = encode(request, CATALOG[provider].dialect)
    keys = {"thinking", "reasoning_effort"}
    assert {name: value for name, value in body.items() if name in keys} == told


def test_a_title_is_not_all_thought() -> None:
    body = encode(asking("hi", model="deepseek:m", think=False), DEEPSEEK)
    assert body["thinking"] == {"type": "disabled"}
