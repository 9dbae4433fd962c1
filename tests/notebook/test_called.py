"""Tool calls as people read them: one line, harmless, and whole where it is unfolded."""

import pytest

from jan_magics.domain.messages import TextPart, ToolCallPart, ToolResultPart
from jan_magics.notebook.approving import LONGEST, ask_person, question_about
from jan_magics.notebook.called import (
    Called,
    calls_html,
    calls_json,
    calls_markdown,
    calls_of,
    calls_text,
)
from jan_magics.notebook.footer import Footer, footer_text

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e **x** `y`\nnext"


def test_each_call_has_its_result() -> None:
    parts = (
        ToolCallPart("a", "f", '{"x": 1}'),
        ToolCallPart("b", "g", "{}"),
        ToolResultPart("b", "g", {"天": [1]}, "error"),
        ToolResultPart("a", "f", "ok"),
        TextPart("done"),
        ToolCallPart("c", "h", ""),
    )
    assert calls_of(parts) == (
        Called("f", '{"x": 1}', "ok", "ok"),
        Called("g", "{}", '{"天": [1]}', "error"),
        Called("h", ""),
    )
    assert calls_text(calls_of(parts)).split("\n") == [
        '▸ called f({"x": 1}) → ok',
        '▸ called g() → error: {"天": [1]}',
        "▸ called h() → no result",
    ]


def test_arguments_are_shown_in_letters_that_people_read() -> None:
    (called,) = calls_of((ToolCallPart("a", "weather", '{"city": "\\u5317\\u4eac"}'),))
    assert called.line() == '▸ called weather({"city": "北京"}) → no result'
    (broken,) = calls_of((ToolCallPart("a", "weather", '{"city": "\\u5317'),))
    assert broken.arguments == '{"city": "\\u5317'


def test_a_line_is_short_and_what_unfolds_is_whole() -> None:
    call = Called("f", "x" * 500, "数" * 500, "ok")
    assert len(call.line()) < 300
    assert "\n" not in call.line()
    shown = calls_html([call])
    assert "x" * 500 in shown
    assert "数" * 500 in shown


def test_nothing_in_a_call_is_obeyed() -> None:
    call = Called(HOSTILE, HOSTILE, HOSTILE, "ok")
    for shown in (calls_html([call]), calls_markdown([call])):
        assert "<script" not in shown
    for shown in (calls_html([call]), calls_markdown([call]), calls_text([call])):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert "**x**" not in calls_markdown([call])
    assert calls_json([call])[0]["state"] == "ok"


@pytest.mark.parametrize(("calls", "said"), [(0, ""), (1, "1 tool call"), (2, "2 tool calls")])
def test_the_footer_counts_calls(calls: int, said: str) -> None:
    line = footer_text(Footer(model="a:b", calls=calls), stable=True)
    assert line == " · ".join(filter(None, ("a:b", said)))


def test_the_question_shows_all_that_is_asked_about() -> None:
    assert question_about("f", '{"to": "李"}').startswith('Run f({"to": "李"})? [y]es')
    assert question_about("f", "no answer", "zh").startswith("运行 f(no answer)？[y] 是")
    long = question_about("f", "x" * (LONGEST + 7))
    assert "and 7 more characters" in long
    assert "\x1b" not in question_about("f", HOSTILE)


def test_where_nobody_can_type_nobody_is_asked() -> None:
    assert ask_person(None, "? ") == "nobody"  # the input of tests is no terminal
