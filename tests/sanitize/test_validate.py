"""What the checker refuses: one broken request for each reason."""

from dataclasses import replace

import pytest

from jan_magics.domain.messages import FilePart, Message, ReasoningPart, UnknownPart
from jan_magics.domain.models import ALTERNATING, ANTHROPIC, GEMINI, STRICT_OPENAI, Profile
from jan_magics.sanitize.pipeline import clean
from jan_magics.sanitize.validate import validate
from tests.sanitize.saying import answer, call, cleaned, result, says, user

PNG = FilePart("image/png", b"\x89PNG")
PLAIN = replace(
    STRICT_OPENAI, system="none", images=False, audio=False, video=False, files=False, tools=False
)
STEP = (call("1"), result("1"))
OTHER = user("r", identifier="v")


def test_what_is_right_is_accepted() -> None:
    history = (user("q"), answer("x", *STEP), answer("y", identifier="b"), OTHER)
    for profile in (STRICT_OPENAI, ANTHROPIC, GEMINI, ALTERNATING):
        assert validate(history, profile) == ()


@pytest.mark.parametrize(
    ("rule", "profile", "history"),
    [
        ("question", STRICT_OPENAI, []),
        ("question", STRICT_OPENAI, [user("<tool_response>x</tool_response>")]),
        ("order", STRICT_OPENAI, [answer("x"), user("q")]),
        ("order", ALTERNATING, [user("q"), OTHER]),
        ("order", ALTERNATING, [user("q"), answer("x"), answer("y", identifier="b")]),
        ("order", GEMINI, [user("q"), answer(*STEP), OTHER]),
        ("system", ALTERNATING, [user("q"), says("s", "system", "x")]),
        ("system", PLAIN, [says("s", "system", "x"), user("q")]),
        ("content", STRICT_OPENAI, [user("q"), answer()]),
        ("content", STRICT_OPENAI, [user("q", " ")]),
        ("content", STRICT_OPENAI, [user("q", UnknownPart({"type": "step-start"}))]),
        ("content", STRICT_OPENAI, [user("q"), answer("x", ReasoningPart("hm"))]),
        ("content", ANTHROPIC, [user("q"), answer("x", ReasoningPart("hm"))]),
        ("content", PLAIN, [user("q"), answer(*STEP)]),
        ("content", STRICT_OPENAI, [user("q", inline_file_contents=[])]),
        ("content", STRICT_OPENAI, [user("q", *STEP)]),
        ("files", PLAIN, [user("q", PNG)]),
        ("files", STRICT_OPENAI, [user("q", FilePart("image/svg+xml", b"<svg/>"))]),
        ("files", STRICT_OPENAI, [user("q"), answer(PNG)]),
        ("files", STRICT_OPENAI, [user("q", FilePart("image/png"))]),
        ("files", STRICT_OPENAI, [user("q", FilePart("text/csv", b"a"))]),
        ("files", STRICT_OPENAI, [user("q", replace(PNG, name="n" * 300))]),
        ("pairs", STRICT_OPENAI, [user("q"), answer(call("1"))]),
        ("pairs", STRICT_OPENAI, [user("q"), answer(result("1"))]),
        ("pairs", STRICT_OPENAI, [user("q"), answer(*STEP, "y")]),
        ("pairs", STRICT_OPENAI, [user("q"), answer(call("1"), "y", result("1"))]),
        ("pairs", STRICT_OPENAI, [user("q"), answer(call("1"), *STEP, result("1"))]),
        ("pairs", STRICT_OPENAI, [user("q"), answer(call("1"), result("1", name="other"))]),
        ("calls", STRICT_OPENAI, [user("q"), answer(call("é"), result("é"))]),
        ("calls", STRICT_OPENAI, [user("q"), answer(call("1", "[]"), result("1"))]),
        ("calls", STRICT_OPENAI, [user("q"), answer(call("1", '{"a": NaN}'), result("1"))]),
        ("calls", STRICT_OPENAI, [user("q"), answer(call("1", '{"\\u0000": 1}'), result("1"))]),
        ("calls", STRICT_OPENAI,
         [user("q"), answer(call("1", name="a.b"), result("1", name="a.b"))]),
        ("calls", STRICT_OPENAI,
         [user("q"), answer(call("1", name="n" * 65), result("1", name="n" * 65))]),
        ("calls", ANTHROPIC,
         [user("q"), answer(*STEP), OTHER, answer(*STEP, identifier="b")]),
        ("characters", STRICT_OPENAI, [user("a\0")]),
        ("characters", STRICT_OPENAI, [user("\ud83d")]),
        ("characters", STRICT_OPENAI, [user("q"), answer(call("1"), result("1", {"\0": 1}))]),
        ("ids", STRICT_OPENAI, [user("q"), answer("x"), user("r")]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(rule: str, profile: Profile, history: list[Message]) -> None:
    assert rule in {fault.rule for fault in validate(history, profile)}


def test_what_is_wrong_is_right_once_it_is_cleaned() -> None:
    history = [answer("x"), user("a\0"), answer(call("1"), "y"), OTHER, answer(PNG, identifier="b")]
    assert validate(history, ANTHROPIC)
    assert validate(clean(history, ANTHROPIC).messages, ANTHROPIC) == ()
    assert cleaned(*history)[0] == "u user: a�"
