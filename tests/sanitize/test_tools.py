"""Calls and results: what interrupts, other programs and changed models leave of them."""

from dataclasses import replace
from itertools import pairwise

import pytest

from jan_magics.domain.messages import Message, ToolCallPart, ToolResultPart, UnknownPart
from jan_magics.domain.models import ALTERNATING, ANTHROPIC, STRICT_OPENAI, Profile
from jan_magics.sanitize.names import tool_name
from jan_magics.sanitize.pipeline import clean
from jan_magics.sanitize.tool_calls import NO_RESULT
from jan_magics.sanitize.waves import UNFINISHED
from tests.sanitize.saying import STEP, answer, call, cleaned, result, says, user, wire


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        pytest.param(
            [answer("x", call("1"), call("2"), result("1"), result("2"), "y")],
            ["a_w0 assistant: x | look(1) | look(2) | 1=ok | 2=ok", "a_w1 assistant: y"],
            id="calls that were made together",
        ),
        pytest.param(
            [answer(call("1"), result("1"), call("2"), result("2"))],
            ["a_w0 assistant: look(1) | 1=ok", "a_w1 assistant: look(2) | 2=ok"],
            id="one after the other",
        ),
        pytest.param(
            [answer(STEP, call("1"), result("1"), STEP, "y")],
            ["a_w0 assistant: look(1) | 1=ok", "a_w1 assistant: y"],
            id="step marks are not sent",
        ),
        pytest.param(
            [answer("x", call("1"))],
            [f"a assistant: x | look(1) | 1={NO_RESULT}"],
            id="an interrupted call",
        ),
        pytest.param(
            [answer(call("1"), call("2"), result("2"))],
            [f"a assistant: look(1) | look(2) | 1={NO_RESULT} | 2=ok"],
            id="one of two calls interrupted",
        ),
        pytest.param(
            [answer("x", result("9"), "y")], ["a assistant: x | y"], id="a result without a call"
        ),
        pytest.param(
            [answer(call("1"), "x", result("1"), "y")],
            ["a_w0 assistant: look(1) | 1=ok", "a_w1 assistant: x | y"],
            id="a late result",
        ),
        pytest.param(
            [answer(call("1"), call("1"), result("1"), result("1", "again"))],
            ["a assistant: look(1) | 1=ok"],
            id="written twice",
        ),
        pytest.param(
            [answer(call("1", '{"a": 1}'), call("1", '{"a": 2}'), result("1"), result("1", "no"))],
            ["a assistant: look(1) | look(1_2) | 1=ok | 1_2=no"],
            id="two calls under one id",
        ),
        pytest.param(
            [answer(call("1"), result("1"), call("1"), result("1", "no"), "y")],
            [
                "a_w0 assistant: look(1) | 1=ok",
                "a_w1 assistant: look(1_2) | 1_2=no",
                "a_w2 assistant: y",
            ],
            id="an id that comes again in a later step",
        ),
        pytest.param(
            [answer(call("1"), result("1", NO_RESULT, state="interrupted"), result("1", "late"))],
            ["a assistant: look(1) | 1=late"],
            id="a real result beside a neutral one",
        ),
        pytest.param(
            [answer(call("1")), answer(result("1"), "y", identifier="b")],
            ["a assistant: look(1) | 1=ok", "b assistant: y"],
            id="the result in the next message",
        ),
        pytest.param(
            [answer(call("1")), user(result("1"), identifier="r"), answer("y", identifier="b")],
            ["a assistant: look(1) | 1=ok", "b assistant: y"],
            id="the result as a message of the user",
        ),
        pytest.param([answer(STEP)], [], id="nothing but a step mark"),
    ],
)  # fmt: skip
def test_calls_and_results_are_paired(given: list[Message], sent: list[str]) -> None:
    assert cleaned(user("q"), *given) == ["u user: q", *sent]


def test_parts_of_jan_are_read_together() -> None:
    def part(kind: str, identifier: str, **more: object) -> UnknownPart:
        return UnknownPart({"type": kind, "toolCallId": identifier, "input": {"q": 1}, **more})  # type: ignore[dict-item]

    given = answer(
        part("tool-find", "1", state="output-available", output=[1]),
        part("dynamic-tool", "2", toolName="查找", state="output-error", errorText="no"),
        part("dynamic-tool", "3", toolName="run", state="input-streaming"),
    )
    (_, sent) = clean([user("q"), given], STRICT_OPENAI).messages
    name = tool_name("查找", 64)
    assert sent.parts == (
        ToolCallPart("1", "find", '{"q": 1}'),
        ToolCallPart("2", name, '{"q": 1}'),
        ToolCallPart("3", "run", '{"q": 1}'),
        ToolResultPart("1", "find", [1]),
        ToolResultPart("2", name, "no", "error"),
        ToolResultPart("3", "run", NO_RESULT, "interrupted"),
    )


def test_waves_are_what_the_wire_says_of_the_whole_answer() -> None:
    history = (
        user("q"),
        answer(
            "x", call("1"), call("2"), result("1"), result("2"), "y", call("3"), result("3"), "z"
        ),
        user("again", identifier="v"),
    )
    sent = clean(history, STRICT_OPENAI).messages
    assert wire(*sent) == wire(*history)
    assert [message["role"] for message in wire(*sent)] == [
        "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        ('{"path": "C:\\\\new"}', '{"path": "C:\\\\new"}'),
        ("", "{}"),
        (" ", "{}"),
        ("[1]", '{"arguments": "[1]"}'),
        ('{"a": NaN}', '{"arguments": "{\\"a\\": NaN}"}'),
        ('{"a": 1', '{"arguments": "{\\"a\\": 1"}'),
        ('{"a": "\\ud83d"}', '{"a": "�"}'),
        ('{"a": "\\u0000"}', '{"a": "�"}'),
        ('{"a": "\\ud83d\\ude00"}', '{"a": "\\ud83d\\ude00"}'),
    ],
)
def test_arguments_are_an_object(raw: str, sent: str) -> None:
    (_, message) = clean([user("q"), answer(call("1", raw), result("1"))], STRICT_OPENAI).messages
    assert message.parts[0] == call("1", sent)


def test_names_of_tools_stay_apart() -> None:
    long = "n" * 90
    names = [
        tool_name(name, 64) for name in ("a.b", "a b", "a_b", "查找", "搜索", long, long + "x")
    ]
    assert len(set(names)) == len(names)
    assert all(tool_name(name, 64) == name and len(name) <= 64 for name in names)


NINE = replace(ALTERNATING, call_ids="[A-Za-z0-9]{9}")


@pytest.mark.parametrize("profile", [ANTHROPIC, NINE], ids=["no id twice", "nine letters"])
def test_ids_of_calls_are_made_to_fit(profile: Profile) -> None:
    steps = (call("call_0"), result("call_0"), call("call_0"), result("call_0"), "y")
    history = [user("q"), answer(*steps), user("r", identifier="v"), answer(*steps, identifier="b")]
    sent = clean(history, profile).messages
    ids = [p.call_id for m in sent for p in m.parts if isinstance(p, ToolCallPart)]
    results = [p.call_id for m in sent for p in m.parts if isinstance(p, ToolResultPart)]
    assert ids == results
    assert len(set(ids)) == 4
    assert all(len(each) == 9 and each.isalnum() for each in ids)
    # A turn that is cleaned without the others has the same ids: the prefix cache holds.
    assert clean(history[2:], profile).messages == sent[4:]


def test_a_model_without_tools_is_told_of_them() -> None:
    plain = replace(ALTERNATING, tools=False)
    given = answer("x", call("1", '{"at": 1}'), result("1", {"t": 21}), "y")
    assert cleaned(user("q"), given, profile=plain) == [
        "u user: q",
        'a assistant: x | [look({"at": 1}) returned: {"t": 21}] | y',
    ]


def test_a_question_never_follows_a_result_in_a_template_that_alternates() -> None:
    history = [user("q"), answer(call("1"), result("1")), user("r", identifier="v")]
    sent = cleaned(*history, profile=ALTERNATING)
    assert sent[1:3] == ["a assistant: look(1) | 1=ok", f"a_w1 assistant: {UNFINISHED}"]
    # While the tools run, their results are what is sent last.
    assert cleaned(*history[:2], profile=ALTERNATING) == sent[:2]
    assert len(cleaned(*history)) == 3


def test_results_in_a_question_go_and_its_words_stay() -> None:
    assert cleaned(user("q", result("1"), "r")) == ["u user: q | r"]


def test_system_messages_are_one_or_none() -> None:
    history = (
        says("s", "system", "be brief"),
        user("q"),
        answer("x"),
        says("t", "system", "in Chinese"),
        user("r", identifier="v"),
    )
    first = cleaned(*history, profile=ALTERNATING)
    assert first == [
        "s system: be brief | in Chinese",
        "u user: q",
        "a assistant: x",
        "v user: r",
    ]
    none = cleaned(*history, profile=replace(ALTERNATING, system="none"))
    assert none == ["u user: be brief | in Chinese | q", *first[2:]]
    roles = [line.split()[1] for line in cleaned(*history)]
    assert roles == ["system:", "user:", "assistant:", "system:", "user:"]
    assert all(a != b for a, b in pairwise(line.split()[1] for line in none))


def test_results_of_one_id_go_to_the_call_of_their_name() -> None:
    calls = (call("0", name="stock"), call("0", name="price"))
    results = (result("0", "12 €", name="price"), result("0", "7", name="stock"))
    assert cleaned(user("bolts?"), answer(*calls, *results)) == [
        "u user: bolts?",
        "a assistant: stock(0) | price(0_2) | 0=7 | 0_2=12 €",
    ]
    twice = (call("0", '{"at": 1}'), call("0", '{"at": 2}'), result("0", "a"), result("0", "b"))
    assert cleaned(user("?"), answer(*twice))[1] == "a assistant: look(0) | look(0_2) | 0=a | 0_2=b"
