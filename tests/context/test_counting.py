"""Every part of a message is counted, as it goes out."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from jan_magics.context.counting import (
    FILE_MOST,
    UNKNOWN_CHARS,
    count_message,
    count_system,
    count_tools,
    outgoing,
)
from jan_magics.context.tokens import CharsTokenizer, Corrected, estimator_for
from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from jan_magics.domain.models import ChatRequest, ModelRef, ToolSpec
from jan_magics.domain.protocols import Tokenizer
from jan_magics.providers.dialects import PLAIN
from jan_magics.providers.openai_wire import encode

NOW = datetime(2026, 3, 9, tzinfo=UTC)
LENGTHS = CharsTokenizer()


@dataclass(frozen=True)
class Characters:
    """One token a character: what is counted can be read off."""

    name: str = "characters"
    exact: bool = True

    def count(self, text: str) -> int:
        return len(text)

    def overhead(self, role: Role) -> int:
        return {"user": 1000, "assistant": 10_000, "system": 100_000}[role]

    def image(self, part: FilePart) -> int:
        return 1_000_000

    def opening(self, *, system: bool) -> int:
        return 7 if system else 9


ONE = Characters()


def message(*parts: Part, role: Role = "user", metadata: dict[str, Json] | None = None) -> Message:
    return Message("m", "t", role, parts, NOW, metadata=metadata or {})


@pytest.mark.parametrize(
    ("said", "want"),
    [
        pytest.param(message(), 1000, id="nothing but its marks"),
        pytest.param(message(TextPart("你好 👩‍🚀")), 1006, id="text"),
        pytest.param(message(TextPart("ab"), TextPart("c")), 1005, id="a blank line between two"),
        pytest.param(message(ReasoningPart("long thought"), TextPart("a")), 1001, id="reasoning"),
        pytest.param(
            message(FilePart("text/csv", b"a,b"), TextPart("c")), 1006, id="text in a file"
        ),
        pytest.param(
            message(FilePart("image/png", b"\0" * 10**6)), 1_001_000, id="an image is no text"
        ),
        pytest.param(
            message(FilePart("image/png", url="https://h/a.png")), 1_001_000, id="an image by URL"
        ),
        pytest.param(message(UnknownPart({"a": 1})), 1008, id="an unknown part by its JSON"),
        pytest.param(
            message(UnknownPart("x" * 10**6)), 1000 + UNKNOWN_CHARS, id="but not without bounds"
        ),
        pytest.param(
            message(FilePart("application/pdf", b"\0" * 10**8)), 1000 + FILE_MOST, id="a huge file"
        ),
        pytest.param(
            message(TextPart("a"), metadata={"inline_file_contents": [{"content": "bcd"}]}),
            1000 + len("a\n\nFile: attachment\nbcd"),
            id="a file's text in the message",
        ),
    ],
)
def test_a_part_is_counted(said: Message, want: int) -> None:
    assert count_message(said, ONE) == want


def test_reasoning_counts_where_it_is_sent_again() -> None:
    said = message(ReasoningPart("abc"), TextPart("d"), role="assistant")
    assert count_message(said, ONE) == 10_001
    assert count_message(said, ONE, resend_reasoning=True) == 10_000 + len("abc\n\nd")


STEPS = message(
    TextPart("I look."),
    ToolCallPart("c1", "weather", '{"city": "北京"}'),
    ToolCallPart("c2", "weather", '{"city": "Oslo"}'),
    ToolResultPart("c1", "weather", {"degrees": 21, "sky": "晴"}),
    ToolResultPart("c2", "weather", "cold"),
    TextPart("Warm and cold."),
    role="assistant",
)


def test_a_turn_of_tools_counts_like_the_messages_that_go_out() -> None:
    request = ChatRequest(ModelRef("a", "b"), (STEPS,))
    body = encode(request, PLAIN)
    sent = json.loads(json.dumps(body["messages"]))
    roles = [each["role"] for each in sent]
    assert roles == ["assistant", "tool", "tool", "assistant"]
    expected = ["user" if role == "tool" else role for role in roles]
    assert outgoing(STEPS).roles == expected
    texts = [each["content"] for each in sent]
    calls = [json.dumps(call, ensure_ascii=False) for call in sent[0]["tool_calls"]]
    assert sorted(outgoing(STEPS).texts) == sorted(texts + calls)
    want = sum(map(len, texts + calls)) + 2 * 10_000 + 2 * 1000
    assert count_message(STEPS, ONE) == want


TOOL = ToolSpec("weather", "Tell the weather.", {"type": "object", "properties": {"city": {}}})


def test_schemas_of_tools_count_as_the_json_that_goes_out() -> None:
    body = encode(ChatRequest(ModelRef("a", "b"), (), tools=(TOOL,)), PLAIN)
    assert count_tools([TOOL], ONE) == len(json.dumps(body["tools"])) - len("[]")
    assert count_tools([], ONE) == 0


def test_system_text_and_the_frame_of_a_request() -> None:
    assert count_system("Be brief.", ONE) == 9 + 100_000 + 7
    assert count_system("", ONE) == 9, "a template may say something of its own then"
    assert count_system("", LENGTHS) == 0
    assert count_system("Be brief.", LENGTHS) == 3 + 4


@pytest.mark.parametrize("tokenizer", [LENGTHS, estimator_for("gpt-5"), Corrected(LENGTHS, 1.5)])
def test_a_tokenizer_is_told_by_its_kind(tokenizer: Tokenizer) -> None:
    assert tokenizer.name
    assert not tokenizer.exact
    assert tokenizer.count("") == 0
    assert 1 <= tokenizer.count("a") <= 2
    assert tokenizer.overhead("user") >= 2


def test_a_correction_is_a_factor_on_text() -> None:
    assert Corrected(LENGTHS, 2.0).count("a" * 35) == 20
    assert Corrected(LENGTHS, 0.5).count("a") == 1
    assert Corrected(LENGTHS, 2.0).overhead("user") == 4
    assert Corrected(LENGTHS, 1.5).name == "chars/3.5 × 1.5"
