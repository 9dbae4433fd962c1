"""A schema on each wire: in its own form, and an answer that is text whatever carried it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from jan_magics.domain.events import Finish, StreamEvent, TextDelta, fold
from jan_magics.domain.messages import Json, text_of
from jan_magics.domain.models import AnswerSchema, ToolSpec
from jan_magics.providers import anthropic_wire, google_wire, ollama_wire, openai_wire
from jan_magics.providers.anthropic_answer import AnthropicDecoder
from jan_magics.providers.dialects import ANTHROPIC, GOOGLE, LLAMA, OLLAMA, OPENAI
from jan_magics.providers.filling import fill
from jan_magics.providers.refusals import refused_in
from tests.providers.asking import ASKED, asking, message

BODY: dict[str, Json] = {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
}  # fmt: skip
SCHEMA = AnswerSchema("City", BODY)
TOOL = ToolSpec("look", "Look.", {"type": "object", "properties": {}})


def request(**options: Any) -> Any:
    model = options.pop("model", "anthropic:claude-sonnet-4-5")
    return replace(asking("where?", model=model, **options), schema=SCHEMA)


def test_openai_and_llama_cpp_take_a_response_format() -> None:
    for dialect in (OPENAI, LLAMA):
        sent = openai_wire.encode(request(), dialect)["response_format"]
        form = {"name": "City", "schema": BODY, "strict": False}
        assert sent == {"type": "json_schema", "json_schema": form}
    closed = replace(SCHEMA, body={**BODY, "additionalProperties": False})
    strict: Any = openai_wire.encode(replace(request(), schema=closed), OPENAI)
    assert strict["response_format"]["json_schema"]["strict"] is True


def test_ollama_takes_a_format_and_google_a_schema() -> None:
    assert ollama_wire.encode(request(), OLLAMA)["format"] == BODY
    config = google_wire.encode(request(), GOOGLE)["generationConfig"]
    assert config == {"responseMimeType": "application/json", "responseJsonSchema": BODY}


def test_anthropic_takes_a_tool_that_must_be_called() -> None:
    sent = anthropic_wire.encode(request(), ANTHROPIC)
    assert isinstance(tools := sent["tools"], list)
    assert [(each["name"], each["input_schema"]) for each in tools] == [("City", BODY)]  # type: ignore[index, call-overload]
    assert sent["tool_choice"] == {"type": "tool", "name": "City"}
    beside = anthropic_wire.encode(replace(request(), tools=(TOOL,)), ANTHROPIC)
    assert beside["tool_choice"] == {"type": "any"}
    thinking = anthropic_wire.encode(request(parameters={"reasoning": "high"}), ANTHROPIC)
    assert thinking["tool_choice"] == {"type": "auto"}


def decoded(*frames: dict[str, Any], form: str = "City") -> list[StreamEvent]:
    decoder, events = AnthropicDecoder(ASKED, form=form), list[StreamEvent]()
    for frame in frames:
        decoder.feed(json.dumps(frame).encode(), events)
    return [*events, *decoder.close()]


def said(events: list[StreamEvent]) -> str:
    return text_of(message("assistant", *fold(events)))


STREAM = (
    {"type": "content_block_start", "index": 0,
     "content_block": {"type": "tool_use", "id": "c", "name": "City", "input": {}}},
    {"type": "content_block_delta", "index": 0,
     "delta": {"type": "input_json_delta", "partial_json": '{"city": "K'}},
    {"type": "content_block_delta", "index": 0,
     "delta": {"type": "input_json_delta", "partial_json": 'öln"}'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
)  # fmt: skip


def test_what_anthropic_gives_to_that_tool_is_the_text_of_the_answer() -> None:
    events = decoded(*STREAM)
    assert [type(each) for each in events] == [TextDelta, TextDelta, Finish]
    assert said(events) == '{"city": "Köln"}'
    assert events[-1] == Finish("stop")
    assert decoded(*STREAM, form="Other")[-1] == Finish("tools")


def test_anthropic_without_a_stream() -> None:
    block = {"type": "tool_use", "id": "c", "name": "City", "input": {"city": "北京"}}
    events = decoded({"type": "message", "content": [block], "stop_reason": "tool_use"})
    assert said(events) == '{"city": "北京"}'


REFUSED = (
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "This response_format type is unavailable now",
    "This model does not support response format `json_schema`.",
    "body.response_format.type: Input should be 'text' or 'json_object'",
    "Unrecognized request argument supplied: response_format",
)


@pytest.mark.parametrize("words", REFUSED)
def test_a_server_that_knows_no_schemas_says_so(words: str) -> None:
    assert refused_in(words) == "schema"


@pytest.mark.parametrize(
    "words", ["tools are not supported", "response was cut", "the schema of the tool is invalid"]
)
def test_other_words_refuse_no_schema(words: str) -> None:
    assert refused_in(words) != "schema"


def test_a_schema_is_filled_from_the_words_of_a_prompt() -> None:
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "mood": {"enum": ["good", "bad"]}, "stars": {"type": "integer"},
            "again": {"type": "boolean"}, "said": {"type": "string"},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "minItems": 2},
        },
        "$defs": {"tag": {"type": ["string", "null"]}},
    }  # fmt: skip
    prompt = "Rate it. A bad film, 2 stars, 不好 🎬."
    said = "A bad film, 2 stars, 不好 🎬."
    assert fill(schema, prompt) == (
        '{"mood": "bad", "stars": 2, "again": false, '
        f'"said": "{said}", "tags": ["{said}", "{said}"]}}'
    )
    assert fill({"$ref": "#"}, "x") == "null", "a schema may refer to itself"
