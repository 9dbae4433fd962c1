"""The page's side of a thread by itself: hostile rows and deltas, rendered by the kernel and raw.

The kernel lets a short list of tags through, and the page has a list of its own: each must do.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import Page

from jan_magics.widgets.page import STATIC
from jan_magics.widgets.thread_rows import safe_html
from tests.browser.waiting import expect
from tests.notebook.hostile import WORDS
from tests.widgets.pages import check_message

OWNED = "window.owned = 1"
WHOLE = (
    f"<script>{OWNED}</script>", f"<img src=/asked onerror='{OWNED}'>", f"<svg onload='{OWNED}'>",
    "<table background=/asked><tr><td background=/asked style='background:url(/asked)'>x</table>",
    f"<details open ontoggle='{OWNED}'>x</details>", f"<a href='javascript:{OWNED}'>x</a>",
    f"<math href='javascript:{OWNED}'><mi xlink:href='javascript:{OWNED}'>x</mi></math>",
    f"<math><mtext><img src=/asked onerror='{OWNED}'></mtext></math>", "![x](/asked)",
    f"<p onmouseover='{OWNED}' id=x style='position:fixed'>x</p>", f"[x](javascript:{OWNED})",
    f"<iframe srcdoc='<script>parent.{OWNED}</script>'></iframe>", "<link rel=icon href=/asked>",
    f"<form action=/asked><button formaction='javascript:{OWNED}'>x</button></form>",
    "<style>@import '/asked'; * { background: url(/asked) }</style>", "<base href=/asked>",
)  # fmt: skip
FRAMES = ("{}", "[x]({})", r"$\text{{{}}}$", "<p {}>x</p>", "`{}`", "> - {}")
TEXTS = (*WHOLE, *(frame.format(word) for word in WORDS for frame in FRAMES))
DRAW = """async ([code, messages]) => {
  const view = await import(URL.createObjectURL(new Blob([code], {type: 'text/javascript'})));
  let hear;
  const model = {get: () => undefined, on: (_, take) => (hear = take), off() {}, send() {}};
  view.default.render({model, el: document.body});
  messages.forEach(message => hear(message));
  window.hear = message => hear(message);
  document.querySelectorAll('details').forEach(each => (each.open = true));
}"""
BAD = ".jan-view :is(script, img, svg, iframe, form, link, style, base, [onerror], [background],"
BAD += " [style*=url], [style*=position], [id], a[href]:not([href^=http], [href^=mailto]))"


def row(n: int, text: str, html: str) -> Mapping[str, Any]:
    return {
        "row": "message", "message": f"m{n}", "role": "assistant", "who": text, "version": 1,
        "versions": 2, "html": html, "reasoning": text, "files": [text],
        "sources": [{"n": n, "said": text}], "sent": True, "cut": True,
        "calls": [{"line": text, "whole": text, "state": "ok"}],
    }  # fmt: skip


def messages(htmls: list[str]) -> list[dict[str, Any]]:
    """Return what a kernel says that has these messages, and an answer that grows."""
    rows = [row(n, *pair) for n, pair in enumerate(zip(TEXTS, htmls, strict=True))]
    can = dict.fromkeys(("clear", "restore", "compact", "uncompact"), True)
    thread = {
        "kind": "thread", "title": TEXTS[1], "model": TEXTS[0], "total": len(rows), "from": 0,
        "rows": rows, "can": can, "busy": {"what": "answering", "prompt": TEXTS[1], "stop": True},
    }  # fmt: skip
    deltas = [
        {
            "kind": "delta",
            "fresh": False,
            "settled": html,
            "how": "html",
            "tail": html,
            "note": text,
        }
        for text, html in zip(TEXTS, htmls, strict=True)
    ]
    asking = {"kind": "asking", "what": "call", "name": TEXTS[0], "shown": TEXTS[1],
              "token": "t", "digest": "d"}  # fmt: skip
    failed = {"kind": "failed", "message": TEXTS[0], "next": TEXTS[1]}
    return [thread, *deltas, asking, failed]


@pytest.mark.parametrize("raw", [False, True], ids=["as the kernel renders it", "raw"])
def test_nothing_runs_and_nothing_is_fetched(blank: Page, raw: bool) -> None:
    said = messages([text if raw else safe_html(text) for text in TEXTS])
    for each in said:
        check_message("thread", "toPage", each)
    asked: list[str] = []
    blank.on("request", lambda request: asked.append(request.url))
    blank.on("dialog", lambda dialog: asked.append(dialog.message))
    # The harmless part of a text that cannot be sent to a browser as it is: half a letter.
    clean = [_sendable(each) for each in said]
    blank.evaluate(DRAW, [code(), clean])
    blank.wait_for_function("() => document.querySelectorAll('article').length > 400")
    assert blank.evaluate("window.owned") is None
    assert blank.locator(BAD).count() == 0
    assert [url for url in asked if not url.startswith(("blob:", "about:"))] == []


def test_an_edit_that_was_refused_is_kept(blank: Page) -> None:
    one = {"row": "message", "message": "m0", "role": "user", "who": "You", "version": 1,
           "versions": 1, "html": "<p>why?</p>", "reasoning": "", "files": [], "sources": [],
           "sent": True, "cut": False, "calls": []}  # fmt: skip
    thread = {"kind": "thread", "title": "t", "model": "m", "total": 1, "from": 0, "rows": [one],
              "can": dict.fromkeys(("clear", "restore", "compact", "uncompact"), True),
              "busy": None}  # fmt: skip
    source = {"kind": "source", "message": "m0", "text": "why?"}
    failed = {"kind": "failed", "message": "a turn is running", "next": "Wait for it"}
    for each in (thread, source, failed):
        check_message("thread", "toPage", each)
    blank.evaluate(DRAW, [code(), [thread]])
    blank.get_by_role("button", name="Edit").click()
    blank.evaluate("each => hear(each)", source)
    text = blank.get_by_role("textbox", name="Edited text")
    text.fill("为什么？ 🦊")
    blank.get_by_role("button", name="Save").click()
    blank.evaluate("each => hear(each)", failed)
    expect(text).to_have_value("为什么？ 🦊")
    expect(text).to_be_editable()
    blank.get_by_role("button", name="Save").click()
    blank.evaluate("each => hear(each)", thread)
    expect(text).to_have_count(0)


def code() -> str:
    """Return the code of the page, as one module."""
    return "".join(
        (STATIC / name).read_text(encoding="utf-8") for name in ("parts.js", "thread.js")
    )


def _sendable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _sendable(each) for key, each in value.items()}
    return [_sendable(each) for each in value] if isinstance(value, list) else value
