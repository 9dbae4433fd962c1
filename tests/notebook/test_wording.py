"""What the kernel says in Chinese: every phrase by itself, and nothing but phrases."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.messages import ToolCallPart, ToolResultPart
from jan_magics.notebook.called import calls_of, calls_text
from jan_magics.notebook.chinese import PHRASES
from jan_magics.notebook.footer import Footer, footer_text
from jan_magics.notebook.wording import worded

NAMES = [name for _, name, _, _ in string.Formatter().parse(" ".join(PHRASES)) if name]
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def slots(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize(("english", "chinese"), PHRASES.items())
def test_a_phrase_keeps_what_is_filled_in(english: str, chinese: str) -> None:
    assert slots(chinese) == slots(english)
    filled = {name: f"{n}2" if len(name) == 1 else f"«x{n}»" for n, name in enumerate(NAMES, 1)}
    for plural in ("", "s"):
        said = english.replace("(s)", plural).replace("(es)", "es" if plural else "")
        assert worded(said.format_map(filled), "zh") == chinese.format_map(filled)
        assert worded(said.format_map(filled), "en") == said.format_map(filled)
    assert CHINESE.search(chinese) or "token" in chinese


@given(st.text())
def test_what_is_no_phrase_is_left_as_it_is(text: str) -> None:
    assert worded(text, "") == worded(text, "en") == text
    marked = f"§{text.replace(' · ', ' ')}§"
    assert worded(marked, "zh-CN") == marked


def test_phrases_of_a_line_are_each_said() -> None:
    said = "3 later messages stay on answer 2 · back: %chat use -t 'a b'   then: %chat undo"
    assert worded(said, "zh") == (
        "后面的 3 条消息留在回答 2 · 返回：%chat use -t 'a b'   然后：%chat undo"
    )


def test_a_footer_in_chinese_keeps_names() -> None:
    footer = Footer(
        model="error", thread="stopped", thread_state="continued", thread_messages=4, versions=2,
        version=2, flags=("stopped",), lines=("猫 🦊", "the oldest messages are left out"),
        sees=3, total=9, trimmed=6,
    )  # fmt: skip
    assert footer_text(footer, stable=True, language="zh") == (
        "error │ stopped（继续，4 条消息） · 回答 ‹2/2› │ 发送 9 条消息中的 3 条（裁剪 6）"
        " │ 已停止\n猫 🦊\n最早的消息没有发送"
    )


def test_a_result_is_no_phrase() -> None:
    parts = (
        ToolCallPart("c1", "search", '{"q": "no result"}'),
        ToolResultPart("c1", "search", "no answer", "error"),
        ToolCallPart("c2", "wait", "{}"),
    )
    assert calls_text(calls_of(parts), "zh").splitlines() == [
        '▸ 调用 search({"q": "no result"}) → 出错：no answer', "▸ 调用 wait() → 没有结果",
    ]  # fmt: skip
