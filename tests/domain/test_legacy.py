"""Reasoning that older programs wrote between the words of an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.legacy import read_parts, says_nothing, words_of
from jan_magics.domain.messages import Message, Part, ReasoningPart, Role, TextPart, ToolCallPart
from tests.storage.samples import START


def said(*parts: Part, role: Role = "assistant") -> Message:
    return Message("m", "t", role, parts, START)


@pytest.mark.parametrize(
    ("text", "reasoning", "words"),
    [
        ("<think>why</think> so", "why", "so"),
        ("\n<THOUGHT>why\nnot</thought>\n\nso </think>", "why\nnot", "so </think>"),
        ("<think>still", "still", ""),
        ("<think></think>so", "", "so"),
        ("<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>so",
         "why", "so"),
        ("<|channel|>analysis<|message|>still", "still", ""),
        ("a tag <think>in words</think>", "", "a tag <think>in words</think>"),
    ],
)  # fmt: skip
def test_reasoning_in_tags_is_reasoning(text: str, reasoning: str, words: str) -> None:
    parts = read_parts(said(TextPart(text)))
    assert "".join(part.text for part in parts if isinstance(part, ReasoningPart)) == reasoning
    assert words_of(said(TextPart(text))) == words


def test_what_the_user_wrote_is_never_taken_apart() -> None:
    asked = said(TextPart("<think>what is this tag?</think>"), role="user")
    assert words_of(asked) == "<think>what is this tag?</think>"


@given(st.text(max_size=30))
def test_words_without_tags_stay_as_they_are(text: str) -> None:
    assert words_of(said(TextPart(f"x{text}"))) == f"x{text}"


def test_only_an_answer_without_anything_says_nothing() -> None:
    assert says_nothing(said())
    assert says_nothing(said(TextPart(" \n"), ReasoningPart("")))
    assert not says_nothing(said(TextPart("x")))
    assert not says_nothing(said(ToolCallPart("1", "w", "{}")))
    assert not says_nothing(said(role="user"))
    legacy = Message("m", "t", "assistant", (), START, metadata={"tool_calls": [{"id": "1"}]})
    assert not says_nothing(legacy)
