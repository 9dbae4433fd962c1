"""What leaves: cleaned histories on each wire, by the rules that its server checks in the JSON."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings

from jan_magics.domain.messages import Message
from jan_magics.domain.models import ChatRequest, parse_model
from jan_magics.providers import anthropic_wire, google_wire, ollama_wire, openai_wire
from jan_magics.providers.catalog import CATALOG
from jan_magics.sanitize.pipeline import clean
from jan_magics.sanitize.profiles import profile_for
from jan_magics.sanitize.question import has_question
from tests.context.histories import EXAMPLES
from tests.sanitize.histories import ON_A_PATH

MODELS: Final = MappingProxyType(
    {
        "anthropic": "anthropic:claude-sonnet-4-5",
        "google": "google:gemini-3-pro",
        "ollama": "ollama:qwen3",
        "openai": "openai:gpt-4o",
    }
)
WIRES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "anthropic": anthropic_wire,
        "google": google_wire,
        "ollama": ollama_wire,
        "openai": openai_wire,
    }
)


def body(wire: str, history: tuple[Message, ...]) -> dict[str, Any]:
    model = parse_model(MODELS[wire])
    sent = clean(history, profile_for(model, wire)).messages
    assume(has_question(sent))
    made = WIRES[wire].encode(ChatRequest(model, sent), CATALOG[model.provider].dialect)
    # As it is written: UTF-8, and no number that JSON does not know.
    return dict(json.loads(json.dumps(made, allow_nan=False, ensure_ascii=False).encode()))


def anthropic(sent: dict[str, Any]) -> Iterator[str]:
    turns = sent["messages"]
    yield from in_turn([turn["role"] for turn in turns], "assistant")
    ids = Counter(b["id"] for t in turns for b in t["content"] if b["type"] == "tool_use")
    yield from (f"{each} comes twice" for each, count in ids.items() if count > 1)
    for turn, following in pairwise([*turns, {"content": []}]):
        made = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        kinds = [block["type"] for block in following["content"]]
        results = [b["tool_use_id"] for b in following["content"] if b["type"] == "tool_result"]
        if made != results or "tool_result" in kinds[len(results) :]:
            yield f"{made} are answered by {results} in {kinds}"
        texts = [block["text"] for block in turn["content"] if block["type"] == "text"]
        if not turn["content"] or not all(text.strip() for text in texts):
            yield "a blank text"


def google(sent: dict[str, Any]) -> Iterator[str]:
    turns = sent["contents"]
    yield from in_turn([turn["role"] for turn in turns], "model")
    for turn, following in pairwise([*turns, {"parts": []}]):
        made = [p["functionCall"]["name"] for p in turn["parts"] if "functionCall" in p]
        answers = following["parts"]
        results = [p["functionResponse"]["name"] for p in answers if "functionResponse" in p]
        if made != results or (results and len(answers) > len(results)):
            yield f"{made} are answered by {results} of {len(answers)} parts"
        if not turn["parts"]:
            yield "a turn without parts"


def openai(sent: dict[str, Any]) -> Iterator[str]:
    waiting: list[str] = []
    for message in sent["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield "a result without its call"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"{waiting} have no result"
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        for call in message.get("tool_calls", ()):
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                yield "arguments that are no object"
        if not message["content"] and not waiting:
            yield "an empty message"
    if waiting:
        yield f"{waiting} have no result"


def ollama(sent: dict[str, Any]) -> Iterator[str]:
    results, waiting = 0, 0
    for message in sent["messages"]:
        if message["role"] == "tool":
            results += 1
            continue
        if results != waiting:
            yield f"{waiting} calls have {results} results"
        results, waiting = 0, len(message.get("tool_calls", ()))
        if not (message["content"] or message.get("images") or waiting):
            yield "an empty message"


def in_turn(roles: list[str], other: str) -> Iterator[str]:
    if roles != ["user", other] * (len(roles) // 2) + ["user"] * (len(roles) % 2):
        yield f"roles {roles}"


CHECKS: Final = MappingProxyType(
    {"anthropic": anthropic, "google": google, "openai": openai, "ollama": ollama}
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("wire", CHECKS)
@given(history=ON_A_PATH)
@settings(max_examples=EXAMPLES // 5, deadline=None)
def test_servers_take_every_history_that_was_cleaned(wire: str, history: Any) -> None:
    assert list(CHECKS[wire](body(wire, history))) == []
