"""The Google generateContent wire."""

import asyncio
import json
from typing import Any

import pytest

from jan_magics.domain.errors import ProviderError, ServerFailed
from jan_magics.domain.events import Remark, fold
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
from jan_magics.providers.dialects import GOOGLE as DIALECT
from jan_magics.providers.google import GoogleProvider, letter_for, read_models
from jan_magics.providers.google_wire import encode
from jan_magics.providers.keys import Key, origin_of
from tests.providers.asking import ASKED, asking, collect, message
from tests.providers.loopback import http, serving
from tests.providers.wires import GOOGLE

MODEL = "google:gemini-2.5-flash"
THREE = "google:gemini-3-pro-preview"


def body(*messages: Message | str, model: str = MODEL, **more: Any) -> dict[str, Any]:
    encoded = encode(asking(*messages, model=model, **more), DIALECT)
    json.dumps(encoded, allow_nan=False)
    return encoded


def signed(data: Json, model: str = MODEL) -> ProviderData:
    return ProviderData("google", model, data)


def test_a_plain_request() -> None:
    assert body("hi", message("assistant", "hello"), "again", system="Be brief.") == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"text": "hello"}]},
            {"role": "user", "parts": [{"text": "again"}]},
        ],
    }
    assert "systemInstruction" not in body("hi", system=" \n")


def test_parameters_have_names_of_their_own() -> None:
    given = {"top_p": "0.5", "top_k": 3, "stop": "END", "safetySettings": [], "min_p": 1,
             "responseMimeType": "application/json"}  # fmt: skip
    sent = body("hi", temperature=0.5, max_tokens=7, seed=1, parameters=given)
    assert sent["generationConfig"] == {
        "temperature": 0.5, "maxOutputTokens": 7, "seed": 1, "topP": 0.5, "topK": 3,
        "stopSequences": ["END"], "responseMimeType": "application/json",
    }  # fmt: skip
    assert sent["safetySettings"] == []
    settled = letter_for(asking("hi", model=MODEL, parameters=given), DIALECT).settled
    assert [each.name for each in settled.left_out] == ["min_p"]
    assert "generationConfig" not in body("hi", max_tokens=0)


@pytest.mark.parametrize(
    ("model", "level", "sent"),
    [
        (MODEL, "off", {"thinkingBudget": 0}),
        ("google:gemini-2.5-pro", "off", {"thinkingBudget": 128}),
        (MODEL, "auto", {"includeThoughts": True, "thinkingBudget": -1}),
        (MODEL, "high", {"includeThoughts": True, "thinkingBudget": 24576}),
        (THREE, "low", {"includeThoughts": True, "thinkingLevel": "low"}),
        (THREE, "high", {"includeThoughts": True, "thinkingLevel": "high"}),
        (THREE, "off", {"includeThoughts": False, "thinkingLevel": "low"}),
        ("google:gemini-2.0-flash", "high", None),
    ],
)
def test_levels_of_reasoning(model: str, level: str, sent: Json) -> None:
    found = body("hi", model=model, parameters={"reasoning": level})
    assert found.get("generationConfig", {}).get("thinkingConfig") == sent


@pytest.mark.parametrize(
    ("model", "level", "told"),
    [("gemini-2.0-flash", "high", True), ("gemini-2.0-flash", "off", False),
     ("gemma-3-27b-it", "low", True), ("gemini-2.5-pro", "high", False)],
)  # fmt: skip
def test_a_level_that_a_model_cannot_be_told_is_named(model: str, level: str, told: bool) -> None:
    request = asking("hi", model=f"google:{model}", parameters={"reasoning": level})
    left = [each.name for each in letter_for(request, DIALECT).settled.left_out]
    assert left == (["reasoning"] if told else [])


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize(
    ("reason", "said", "step"),
    [
        ("MALFORMED_FUNCTION_CALL", "a tool call that cannot be read", "more simply"),
        ("UNEXPECTED_TOOL_CALL", "called a tool where it was offered none", "--tools NAME"),
        ("MISSING_THOUGHT_SIGNATURE", "a signature of its earlier thoughts", "--no-history"),
    ],
)
def test_an_answer_that_broke_says_how_and_what_to_do(
    reason: str, said: str, step: str, begun: bool
) -> None:
    answer = GOOGLE.answer()
    frame = {"candidates": [{"finishReason": reason, "content": {"role": "model"}}]}
    answer.feed(GOOGLE.body(*([GOOGLE.words("好")] if begun else []), frame))
    if begun:
        remark = next(event.text for event in answer.close() if isinstance(event, Remark))
    else:
        with pytest.raises(ServerFailed) as raised:
            [*answer.close()]
        remark = str(raised.value)
    assert said in remark
    assert step in remark
    assert reason in remark


CALLS = (
    ToolCallPart("x1", "f", '{"k": 1}', signed({"thoughtSignature": "c2ln", "id": "x1"})),
    ToolCallPart("call_1", "g", ""),
    ToolResultPart("call_1", "g", "no", "error"),
    ToolResultPart("x1", "f", {"ü": [1]}),
)


def test_calls_and_results_go_back_as_they_came() -> None:
    sent = body("hi", message("assistant", ReasoningPart("hm"), *CALLS, "found"))["contents"]
    assert sent[1:] == [
        {"role": "model", "parts": [
            {"functionCall": {"name": "f", "args": {"k": 1}, "id": "x1"},
             "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "g", "args": {}}},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "f", "response": {"ü": [1]}, "id": "x1"}},
            {"functionResponse": {"name": "g", "response": {"error": "no"}}},
        ]},
        {"role": "model", "parts": [{"text": "found"}]},
    ]  # fmt: skip


def test_another_model_gets_no_signature_and_no_id() -> None:
    sent = body("hi", message("assistant", *CALLS), model="google:gemini-2.5-pro")["contents"]
    assert "c2ln" not in json.dumps(sent)
    assert '"id"' not in json.dumps(sent)


def test_a_model_that_asks_for_signatures_takes_calls_of_others() -> None:
    sent = body("hi", message("assistant", *CALLS), model=THREE)["contents"]
    signatures = [part.get("thoughtSignature") for part in sent[1]["parts"]]
    assert signatures == ["skip_thought_signature_validator", None]


@pytest.mark.parametrize("name", ["text", "calls"])
def test_what_was_read_is_what_is_sent_back(name: str) -> None:
    answer = GOOGLE.answer()
    parts = fold([*answer.feed(GOOGLE.body(*GOOGLE.streams[name])), *answer.close()])
    request = ChatRequest(parse_model("test:model"), (message("assistant", *parts),))
    sent: Any = encode(request, DIALECT)["contents"]
    expected = {
        "text": [{"text": "Das ist schön 👍", "thoughtSignature": "c2ln"}],
        "calls": [
            {"functionCall": {"name": "f", "args": {"k": "ü"}, "id": "x1"},
             "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "g", "args": {}}},
        ],
    }  # fmt: skip
    assert sent[0]["parts"] == expected[name]


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (FilePart("image/png", b"\x01"), {"inlineData": {"mimeType": "image/png", "data": "AQ=="}}),
        (FilePart("audio/wav", url="data:audio/wav;base64,AQ=="),
         {"inlineData": {"mimeType": "audio/wav", "data": "AQ=="}}),
        (FilePart("video/mp4", url="https://x.example/a.mp4"),
         {"fileData": {"mimeType": "video/mp4", "fileUri": "https://x.example/a.mp4"}}),
    ],
)  # fmt: skip
def test_files(part: FilePart, block: Json) -> None:
    assert body(message("user", "look", part))["contents"][0]["parts"][1] == block


def test_tools() -> None:
    schema: dict[str, Json] = {"type": "object", "properties": {"k": {"type": "string"}}}
    tools = (ToolSpec("f", "Does it.", schema), ToolSpec("g", "No arguments.", {"type": "object"}))
    request = ChatRequest(parse_model(MODEL), (message("user", "hi"),), tools=tools)
    assert encode(request, DIALECT)["tools"] == [
        {"functionDeclarations": [
            {"name": "f", "description": "Does it.", "parametersJsonSchema": schema},
            {"name": "g", "description": "No arguments."},
        ]}
    ]  # fmt: skip


# ------------------------------------------------------------------------------------- answers


def test_tokens_that_were_thought_are_output() -> None:
    end = GOOGLE.parts("text").finish
    assert end
    assert end.usage
    usage = end.usage
    assert (usage.input, usage.output, usage.cached, usage.reasoning) == (100, 9, 90, 3)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("text", "stop"), ("thinking", "length"), ("calls", "tools"), ("filtered", "filter"),
     ("recited", "filter"), ("cached", "stop")],
)  # fmt: skip
def test_how_an_answer_ends(name: str, reason: str) -> None:
    end = GOOGLE.parts(name).finish
    assert end
    assert end.reason == reason


def test_calls_without_an_id_get_one_that_the_thread_has_not() -> None:
    from jan_magics.providers.google_answer import GoogleDecoder

    decoder, events = GoogleDecoder(ASKED, calls=4), list[Any]()
    for frame in GOOGLE.streams["calls"]:
        decoder.feed(json.dumps(frame).encode(), events)
    calls = [part for part in fold(events) if isinstance(part, ToolCallPart)]
    assert [(call.call_id, call.arguments) for call in calls] == [
        ("x1", '{"k": "ü"}'),
        ("call_5", "{}"),
    ]


def test_all_pieces_in_one_list() -> None:
    frames = json.dumps(list(GOOGLE.streams["text"])).encode()
    found = GOOGLE.outcome([frames], stream=False)
    assert (found.parts, found.finish) == (
        GOOGLE.parts("text").parts,
        GOOGLE.parts("text").finish,
    )


@pytest.mark.parametrize(
    ("status", "number"),
    [("RESOURCE_EXHAUSTED", 429), ("UNAVAILABLE", 503), ("INVALID_ARGUMENT", 400)],
)
def test_an_error_in_the_stream_has_its_own_class(status: str, number: int) -> None:
    answer = GOOGLE.answer()
    answer.feed(GOOGLE.body({"error": {"status": status, "message": "no"}}))
    with pytest.raises(ProviderError) as raised:
        list(answer.close())
    assert raised.value.status == number


def test_where_a_request_goes_and_where_the_key_is() -> None:
    async def go() -> str:
        async with serving(http(GOOGLE.body(*GOOGLE.streams["text"]))) as server:
            key = Key("secret-1", source="here", origin=origin_of(server.address))
            provider = GoogleProvider("google", server.address, key)
            await collect(provider, asking("hi", model=MODEL))
            await provider.close()
            return server.heads[0]

    head = asyncio.run(go())
    assert head.startswith("POST /v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse ")
    assert "x-goog-api-key: secret-1\r\n" in head
    assert "authorization" not in head.lower()


def test_models_that_only_embed_are_not_listed() -> None:
    rows = [
        {"name": "models/gemini-x", "inputTokenLimit": 9, "thinking": True,
         "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
        {"name": 3}, "x",
    ]  # fmt: skip
    (info,) = read_models(json.dumps({"models": rows}).encode(), ASKED)
    assert (str(info.ref), info.window) == ("test:gemini-x", 9)
    declared = {"tools": "declared", "vision": "declared"}
    assert info.capabilities == {**declared, "reasoning": "probed"}


def test_text_keeps_the_signature_of_its_end() -> None:
    (part,) = GOOGLE.parts("text").parts
    data = ProviderData("test", "test:model", {"thoughtSignature": "c2ln"})
    assert part == TextPart("Das ist schön 👍", data)
