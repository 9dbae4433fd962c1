"""How an answer of Google ends, in every way that is documented."""

import pytest

from jan_magics.domain.errors import RequestRejected, ServerFailed
from jan_magics.domain.messages import TextPart
from tests.providers.wires import GOOGLE


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("STOP", "stop"), ("MAX_TOKENS", "length"), ("SAFETY", "filter"), ("RECITATION", "filter"),
        ("LANGUAGE", "filter"), ("BLOCKLIST", "filter"), ("PROHIBITED_CONTENT", "filter"),
        ("SPII", "filter"), ("IMAGE_SAFETY", "filter"), ("MODEL_ARMOR", "filter"),
        ("MALFORMED_FUNCTION_CALL", "error"), ("UNEXPECTED_TOOL_CALL", "error"),
        ("TOO_MANY_TOOL_CALLS", "error"), ("OTHER", "stop"), ("A_NEW_ONE", "stop"),
    ],
)  # fmt: skip
def test_every_documented_end(told: str, reason: str) -> None:
    said = {"content": {"parts": [{"text": "so"}]}, "finishReason": told}
    found = GOOGLE.outcome([GOOGLE.body({"candidates": [said]})])
    assert found.parts == (TextPart("so"),)
    assert found.finish
    assert found.finish.reason == reason


def test_a_call_that_could_not_be_read_is_an_error_that_says_so() -> None:
    found = GOOGLE.parts("malformed")
    assert (found.parts, found.error) == ((), ServerFailed)
    assert "MALFORMED_FUNCTION_CALL: Malformed function call: f(城市=)" in found.words
    assert "%chat use MODEL" in found.words


@pytest.mark.parametrize("told", ["SAFETY", "MAX_TOKENS", "OTHER"])
def test_an_end_without_a_word_is_an_answer(told: str) -> None:
    found = GOOGLE.outcome([GOOGLE.body({"candidates": [{"finishReason": told}]})])
    assert found.error is None
    assert found.finish


def test_counts_of_several_pieces_are_one_count() -> None:
    end = GOOGLE.parts("cached").finish
    assert end
    assert end.usage
    usage = end.usage
    assert (usage.input, usage.output, usage.cached, usage.reasoning) == (100, 4, 90, 3)


@pytest.mark.parametrize("why", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT"])
def test_a_blocked_prompt_is_an_error_that_says_why(why: str) -> None:
    answer = GOOGLE.answer()
    rated = {"blockReason": why, "safetyRatings": [{"category": "X", "probability": "HIGH"}]}
    answer.feed(GOOGLE.body({"promptFeedback": rated, "usageMetadata": {"promptTokenCount": 4}}))
    with pytest.raises(RequestRejected, match=f"does not answer this prompt: {why}") as raised:
        list(answer.close())
    assert raised.value.next_step
