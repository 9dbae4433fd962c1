"""Nothing keeps people from using a view: each by itself, in light, dark and no theme."""

from typing import Any

import pytest
from playwright.sync_api import Page

from jan_magics.widgets.page import STATIC
from tests.browser.axe import barriers
from tests.browser.test_thread_page import DRAW, row
from tests.widgets.pages import check_message

LIGHT = {
    "ui-font-color1": "rgba(0, 0, 0, 0.87)", "ui-font-color2": "rgba(0, 0, 0, 0.54)",
    "layout-color1": "white", "border-color1": "#bdbdbd", "brand-color1": "#1976d2",
}  # fmt: skip
DARK = {
    "ui-font-color1": "rgba(255, 255, 255, 0.87)", "ui-font-color2": "rgba(255, 255, 255, 0.54)",
    "layout-color1": "#111111", "border-color1": "#757575", "brand-color1": "#2196f3",
}  # fmt: skip
TABLE = "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>"
PIECES = (
    "system", "pinned", "summary", "history", "retrieved", "prompt", "tools", "reserve", "safety",
    "free",
)  # fmt: skip
BARS = [
    {"name": "score", "said": "1", "share": 1.0, "full": "1"},
    {"name": "vector", "said": "1", "share": 0.8, "full": "1.25"},
]
SAID: dict[str, list[dict[str, Any]]] = {
    "thread": [{
        "kind": "thread", "title": "熊猫", "model": "m", "total": 40, "from": 36, "busy": None,
        "rows": [
            {"row": "fold", "message": "f", "what": "cleared", "count": 4, "html": ""},
            {"row": "fold", "message": "g", "what": "summary", "count": 2, "html": "<p>So</p>"},
            row(1, "m", f"<p>An <code>x</code></p><pre><code>x = 1</code></pre>{TABLE}"),
            row(2, "m", "<p>It <a href='https://example.org'>is</a></p>"),
        ],
        "can": {"clear": True, "restore": False, "compact": True, "uncompact": False},
    }],
    "tree": [{"kind": "tree", "title": "T", "rows": [
        {"depth": n % 2, "active": not n % 2, "id": f"abcde{n}", "who": "m", "version": "",
         "text": "天空"} for n in range(4)
    ]}],
    "budget": [{
        "kind": "budget", "n": 1, "window": 1000, "model": "m", "line": "window: 1,000 tokens",
        "pieces": [{"piece": p, "tokens": 100, "share": 0.1, "exact": False} for p in PIECES],
        "marks": [{"name": "warn", "tokens": 500}, {"name": "trim", "tokens": 650}],
        "notices": ["this would not be sent"],
    }],
    "score": [{
        "kind": "scores", "question": "a boat", "how": ["mode hybrid"], "k": 1, "threshold": 0.3,
        "note": "", "more": 2, "rows": [
            {"chunk": f"c{n}", "source": "a.md", "about": "page 1", "words": "A boat floats",
             "cosine": 0.8 - n * 0.3, "lost": "", "bars": BARS} for n in range(3)
        ],
    }],
}  # fmt: skip
FAILED = {"kind": "failed", "message": "It failed", "next": "Do this"}


@pytest.mark.parametrize("view", SAID)
def test_everybody_can_use_it(blank: Page, view: str) -> None:
    for each in SAID[view]:
        check_message(view, "toPage", each)
    css, parts, own = (
        (STATIC / name).read_text(encoding="utf-8")
        for name in ("views.css", "parts.js", f"{view}.js")
    )
    for theme in ({}, LIGHT, DARK):
        colours = "; ".join(f"--jp-{name}: {value}" for name, value in theme.items())
        ground = f"html {{ {colours} }} body {{ background: var(--jp-layout-color1, white) }}"
        blank.set_content(
            f"<!doctype html><html lang=en><title>t</title>"
            f"<style>{ground} {css}</style><main></main>"
        )
        blank.evaluate(
            DRAW.replace("document.body", "document.querySelector('main')"),
            [f"{parts}\n{own}", [*SAID[view], FAILED]],
        )
        blank.wait_for_selector(".jan-view")
        assert barriers(blank, ".jan-view") == []
