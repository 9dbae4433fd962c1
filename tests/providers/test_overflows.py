"""Words for a request that does not fit, as further servers have them, and what is said of it."""

import pytest

from jan_magics.domain.errors import ContextOverflow, ProviderError, RequestRejected
from jan_magics.engine.cassette_json import failure_json, failure_of
from tests.providers.test_failures import fail, words


@pytest.mark.parametrize(
    ("said", "used", "window"),
    [
        ("Input is too long for requested model.", None, None),
        ("Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)",
         140000, 131072),
        ("too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."
         " Try using a shorter prompt", 5000, 4081),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100",
         5000, 4096),
        ("Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
         5000, 4095),
        ("Range of input length should be [1, 30720]", None, 30720),
        ("invalid params, context window exceeds limit", None, None),
        ("Requested token count exceeds the model's maximum context length of 163840 tokens. You"
         " requested a total of 170000 tokens: 160000 tokens from the input messages and 10000"
         " tokens for the completion.", 170000, 163840),
    ],
    ids=["Bedrock", "Moonshot", "Cohere", "TGI", "TGI, the prompt", "DashScope", "MiniMax",
         "SGLang"],
)  # fmt: skip
def test_overflow_in_further_words(said: str, used: int | None, window: int | None) -> None:
    error = fail(400, words(said))
    assert isinstance(error, ContextOverflow)
    assert (error.used, error.window, error.answer) == (used, window, None)
    assert "?" not in error.message
    assert ("(" in error.message) is bool(window)


@pytest.mark.parametrize(
    ("said", "sizes"),
    [
        ("'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context"
         " length is 8192 tokens and your request has 500 input tokens (8000 > 8192 - 500).",
         (500, 8192, 8000)),
        ("input length and `max_tokens` exceed context limit: 198000 + 21333 > 200000",
         (198000, 200000, 21333)),
    ],
    ids=["vLLM", "Anthropic"],
)  # fmt: skip
def test_an_answer_that_has_no_room_is_what_is_named(said: str, sizes: tuple[int, ...]) -> None:
    error = fail(400, words(said))
    assert isinstance(error, ContextOverflow)
    used, window, answer = sizes
    assert (error.used, error.window, error.answer) == sizes
    assert error.message.startswith(f"an answer of {answer} tokens after the request does not fit")
    assert f"--max-tokens {window - used})" in error.next_step
    again = failure_of(failure_json(error, 0.0), "test:model")
    assert str(again) == str(error)


def test_a_size_that_is_not_known_is_not_told() -> None:
    assert ContextOverflow(None, None).message.endswith("of the model")
    assert ContextOverflow(None, 5).message.endswith("of the model (it has 5 tokens)")
    assert ContextOverflow(7, None).message.endswith("of the model (7 tokens)")


def test_a_prompt_that_is_too_long_by_itself_is_helped_by_no_shorter_answer() -> None:
    error = fail(400, words("exceed context limit: 210000 + 100 > 200000"))
    assert isinstance(error, ContextOverflow)
    assert error.answer is None


def test_a_body_that_is_too_large_says_what_helps() -> None:
    error: ProviderError = fail(413, words("Payload too large"))
    assert isinstance(error, RequestRejected)
    assert error.next_step.startswith("Attach less, ask without history")
