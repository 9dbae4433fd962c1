"""The forms in which an answer is shown: JSON, Markdown, HTML, plain text."""

import json
import re
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings

from jan_magics.domain.models import Timings, Usage
from jan_magics.notebook.footer import Footer
from jan_magics.notebook.render import MIME, Format, Shown, bundle, live_markdown, plain
from tests.notebook.hostile import broken_rules, hostile
from tests.notebook.test_html import forbidden

USAGE, TIMINGS = Usage(42, 8), Timings(first_token=0.5, total=1.23, tokens_per_second=83.2)
FOOTER = Footer(model="m", usage=USAGE, timings=TIMINGS, thread="notes", thread_state="new")
SHOWN = Shown(
    prompt="Say hi",
    text="Hi <b>你好</b> 🙂\n\n```python\nx = 1\n```",
    reasoning="first <i>",
    model="local:m",
    thread="notes",
    message="id1",
    finish="stop",
    usage=USAGE,
    timings=TIMINGS,
    footer=FOOTER,
)
FORMATS: tuple[Format, ...] = ("markdown", "text", "code", "json")


def test_every_form_of_a_turn() -> None:
    forms = bundle(SHOWN, stable=False)
    assert list(forms) == [MIME, "text/markdown", "text/html", "text/plain"]
    assert forms["text/plain"] == f"{SHOWN.text}\n\nm · 42→8 tok │ notes (new)"
    assert str(forms["text/markdown"]).startswith(
        "Hi &lt;b>你好&lt;/b> 🙂\n\n```python\nx = 1\n```\n\n*m"
    )
    html = str(forms["text/html"])
    assert "<details><summary>Reasoning</summary>" in html
    assert "first &lt;i&gt;" in html
    assert "1.2 s" in html
    assert "first" not in str(forms["text/markdown"])
    assert re.search(r"#[0-9a-f]{3}|rgb|black|white(?!-space)", html) is None


def test_the_turn_as_json() -> None:
    turn = cast("dict[str, object]", bundle(SHOWN, stable=False)[MIME])
    assert json.loads(json.dumps(turn)) == turn
    assert turn["usage"] == {"input": 42, "output": 8, "cached": None, "reasoning": None}
    assert cast("dict[str, float]", turn["timings"])["total"] == 1.23
    assert (turn["schema"], turn["message"], turn["footer"]) == (
        1, "id1", "m · 42→8 tok · 83 tok/s · 1.2 s │ notes (new)",
    )  # fmt: skip


def test_a_stable_bundle_has_neither_times_nor_ids() -> None:
    slower = replace(
        SHOWN,
        message="id2",
        timings=Timings(total=9.0),
        footer=replace(FOOTER, timings=Timings(total=9.0)),
    )
    assert bundle(SHOWN, stable=True) == bundle(slower, stable=True)
    assert bundle(SHOWN, stable=False) != bundle(slower, stable=False)
    assert "id1" not in json.dumps(bundle(SHOWN, stable=True))


def test_the_format_chooses_what_is_shown() -> None:
    text = bundle(replace(SHOWN, format="text"), stable=True)
    assert "<pre><code>Hi &lt;b&gt;" in str(text["text/markdown"])
    assert "pre-wrap" in str(text["text/html"])
    code = bundle(replace(SHOWN, format="code"), stable=True)
    assert code["text/plain"] == "x = 1\n\nm · 42→8 tok │ notes (new)"
    assert str(code["text/markdown"]).startswith("```python\nx = 1\n```\n\n*m")
    asked = replace(SHOWN, format="json", text='```json\n{"a": "你"}\n```')
    assert str(bundle(asked, stable=True)["text/plain"]).startswith('{\n  "a": "你"\n}\n\nm')
    for shown in (text, code):
        assert cast("dict[str, object]", shown[MIME])["text"] == SHOWN.text


@pytest.mark.parametrize("form", ["code", "json"])
def test_without_code_or_json_the_text_is_shown(form: Format) -> None:
    shown = bundle(replace(SHOWN, format=form, text="only words"), stable=True)
    assert str(shown["text/plain"]).startswith("only words\n\n")


@pytest.mark.parametrize(
    ("form", "text", "line"),
    [
        ("json", "没有", "there is no JSON in the answer: all of it is shown"),
        ("code", "没有", "there is no code in the answer: all of it is shown"),
        ("json", '{"a": 1}', ""),
        ("code", "```\nx\n```", ""),
        ("json", "", ""),
        ("markdown", "没有", ""),
    ],
)
def test_what_is_not_there_is_said(form: Format, text: str, line: str) -> None:
    shown = bundle(replace(SHOWN, format=form, text=text), stable=True)
    for kind in ("text/plain", "text/html"):
        assert ("all of it is shown" in str(shown[kind])) == bool(line)
        assert line in str(shown[kind])


def test_code_with_fences_in_it_stays_whole() -> None:
    inner = "````md\n```py\nx\n```\n````"
    shown = bundle(replace(SHOWN, format="code", text=inner), stable=True)
    assert str(shown["text/markdown"]).startswith(inner)


def test_live_updates_are_markdown_only() -> None:
    shown = live_markdown("```html\n<b>", "… reading prompt 512/931 <i>")
    assert list(shown) == ["text/markdown"]
    assert str(shown["text/markdown"]).endswith("\n\n*… reading prompt 512&#47;931 &lt;i&gt;*")
    assert live_markdown("", "") == {"text/markdown": ""}


def test_plain_text_obeys_no_terminal_command() -> None:
    assert plain("a\x1b[2Jb\x9bc\x07\td\r\n\ud83d\ude42\ud800") == "abc\td\n🙂�"


@settings(max_examples=150)
@given(hostile, hostile)
def test_every_form_is_harmless(text: str, title: str) -> None:
    for form in FORMATS:
        footer = replace(FOOTER, thread=title, lines=(title,))
        shown = replace(SHOWN, text=text, reasoning=text, thread=title, footer=footer, format=form)
        forms = bundle(shown, stable=False)
        assert broken_rules(str(forms["text/markdown"])) == []
        assert forbidden(str(forms["text/html"]), "div", "small", "details", "summary") == []
        assert (
            re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", str(forms["text/plain"]))
            is None
        )
        assert json.dumps(forms, ensure_ascii=False).encode()
    assert broken_rules(str(live_markdown(text, title)["text/markdown"])) == []


def test_a_megabyte_is_shown() -> None:
    assert (
        len(str(bundle(replace(SHOWN, text="字 " * 300_000), stable=True)["text/html"])) > 600_000
    )


def test_the_reading_direction_is_not_turned_unseen() -> None:
    text = "access \u202euser\u2066 // check\u2069\u202c and `\u202ecode` עברית\u200f!"
    forms = bundle(replace(SHOWN, text=text, reasoning=text), stable=False)
    for kind in ("text/plain", "text/markdown", "text/html"):
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", str(forms[kind]))
        assert "‹U+202E›user" in str(forms[kind])
        assert "עברית\u200f!" in str(forms[kind])
    # What a program reads is what was said.
    assert cast("dict[str, object]", forms[MIME])["text"] == text
    assert "\u202e" not in plain(text)
