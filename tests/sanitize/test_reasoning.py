"""Reasoning of earlier answers, and what only the model that made it may see again."""

from dataclasses import replace

import pytest

from jan_magics.domain.messages import Part, ProviderData, ReasoningPart, TextPart, ToolCallPart
from jan_magics.domain.models import ANTHROPIC, GEMINI, STRICT_OPENAI, Profile, parse_model
from jan_magics.providers.waves import opaque_for
from jan_magics.sanitize.pipeline import clean
from tests.sanitize.saying import answer, call, result, user

CLAUDE = parse_model("anthropic:claude")
MINE = ProviderData("anthropic", "anthropic:claude", {"type": "thinking"})
SIGNED = ReasoningPart("hm", "sig", MINE)
PLAIN = ReasoningPart("hm")
REDACTED = ReasoningPart("", None, MINE)


@pytest.mark.parametrize(
    ("profile", "kept"),
    [
        (STRICT_OPENAI, ()),
        (ANTHROPIC, (SIGNED, REDACTED)),
        (replace(ANTHROPIC, model=CLAUDE), (SIGNED, REDACTED)),
        (replace(ANTHROPIC, model=parse_model("anthropic:other")), ()),
        (replace(STRICT_OPENAI, reasoning="always"), (SIGNED, PLAIN, REDACTED)),
        (
            replace(STRICT_OPENAI, reasoning="always", model=parse_model("jan:m")),
            (PLAIN, PLAIN),
        ),
    ],
)
def test_reasoning_goes_to_who_wants_it(profile: Profile, kept: tuple[Part, ...]) -> None:
    (_, sent) = clean([user("q"), answer(SIGNED, PLAIN, REDACTED, "x")], profile).messages
    assert sent.parts == (*kept, TextPart("x"))


def test_what_a_provider_wants_back_stays_on_its_part() -> None:
    gemini = parse_model("google:gemini")
    data = ProviderData("google", str(gemini), {"thoughtSignature": "s"})
    given = answer(TextPart("", data), ToolCallPart("1", "look", "{}", data), result("1"))
    (_, sent) = clean([user("q"), given], replace(GEMINI, model=gemini)).messages
    assert sent.parts == given.parts
    assert opaque_for(gemini, data) is data.data
    (_, other) = clean([user("q"), given], replace(STRICT_OPENAI, model=CLAUDE)).messages
    assert other.parts == (call("1"), result("1"))


def test_an_answer_of_nothing_but_reasoning_is_not_sent() -> None:
    history = [user("q"), answer(PLAIN, SIGNED), user("r", identifier="v")]
    for profile in (STRICT_OPENAI, ANTHROPIC, replace(STRICT_OPENAI, reasoning="always")):
        (sent,) = clean(history, profile).messages
        assert sent.parts == (TextPart("q"), TextPart("r"))


def test_the_reasoning_of_answers_that_have_called_goes_back_with_all_their_steps() -> None:
    profile = replace(STRICT_OPENAI, reasoning="always", reasoning_with_calls=True)
    called = answer(PLAIN, call("1"), result("1"), ReasoningPart("啊"), "x")
    silent = answer(PLAIN, "y", identifier="b")
    history = [user("q"), called, user("r", identifier="v"), silent]
    sent = clean(history, profile).messages
    thoughts = [p.text for m in sent for p in m.parts if isinstance(p, ReasoningPart)]
    assert thoughts == ["hm", "啊"]
    assert clean(sent, profile).messages == sent
    none = clean(history, replace(profile, tools=False)).messages
    assert not any(isinstance(p, ReasoningPart) for m in none for p in m.parts)
