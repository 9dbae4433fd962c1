"""A finished turn as a MIME bundle: JSON for the extension, Markdown, HTML and plain text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Final, Literal, TypeAlias

from jan_magics.domain.messages import FinishReason
from jan_magics.domain.models import Timings, Usage
from jan_magics.notebook.called import (
    Called,
    calls_html,
    calls_json,
    calls_markdown,
    calls_text,
)
from jan_magics.notebook.footer import Footer, footer_text
from jan_magics.notebook.hazards import defused, inline_text, legible, printable
from jan_magics.notebook.html import to_html
from jan_magics.notebook.markdown import code_blocks, neutralise
from jan_magics.notebook.wording import worded

MIME: Final = "application/vnd.jan-magics.turn+json"
Format: TypeAlias = Literal["markdown", "text", "code", "json"]

SCHEMA: Final = 1
"""The version of the JSON form; its fields are described in widgets/protocol.json."""
BARE: Final = frozenset({"code", "json"})
"""Formats that show something of the answer, and nothing of how it came about."""
# Colours are the theme's own; where no theme is, the surrounding page's.
_MUTED: Final = "color: var(--jp-ui-font-color2, inherit); opacity: 0.75; font-size: 0.85em"
_WRAPPED: Final = "white-space: pre-wrap; overflow-wrap: anywhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What there is to show of a turn; `format` chooses what of it is shown, and how.

    `thread` is the title, `message` the id of the answer where it has one, in the thread of that
    id. `sources` are what was retrieved, by number. `language`
    is that of everything around the turn's own words.
    """

    prompt: str
    text: str
    reasoning: str = ""
    model: str
    thread: str
    message: str | None = None
    finish: FinishReason | None = None
    usage: Usage | None = None
    timings: Timings | None = None
    version: int = 1
    versions: int = 1
    calls: tuple[Called, ...] = ()
    sources: tuple[Mapping[str, object], ...] = ()
    thread_id: str | None = None
    footer: Footer
    language: str = ""
    format: Format = "markdown"
    schema: int = SCHEMA


def bundle(shown: Shown, *, stable: bool) -> dict[str, object]:
    """Return every MIME form of a turn; a stable one is the same in every run.

    Plain text has neither times nor ids in any case.
    """
    shown = replace(shown, footer=_told(shown))
    footer = footer_text(shown.footer, stable=stable, language=shown.language)
    source, words = _chosen(shown)
    shown_calls = () if shown.format in BARE else shown.calls
    called = calls_text(shown_calls, shown.language)
    return {
        MIME: _turn(shown, source, footer, stable=stable),
        "text/markdown": _markdown(shown, source, footer),
        "text/html": _html(shown, source, footer),
        "text/plain": _joined(
            _joined(words, called), footer_text(shown.footer, stable=True, language=shown.language)
        ),
    }


def live_markdown(text: str, note: str = "") -> dict[str, object]:
    """Return what is shown while an answer grows; a note stands in italics below it."""
    body = neutralise(text)
    return {"text/markdown": _joined(body, _muted(plain(note)) if note else "")}


def live_turn(turn: str, cell: str, markdown: str, note: str) -> dict[str, object]:
    """Return what is shown of a turn that pages follow; `markdown` is safe already."""
    live = {"schema": SCHEMA, "live": turn, "cell": cell, "markdown": markdown, "note": plain(note)}
    return {
        MIME: live,
        "text/markdown": _joined(markdown, _muted(plain(note)) if note else ""),
        "text/plain": plain(note) or "…",
    }


def refusal(lines: Sequence[str]) -> dict[str, object]:
    """Return what stands in the place of an answer that did not come."""
    text = plain("\n".join(lines))
    return {"text/plain": text, "text/html": f'<pre role="alert">{escape(text)}</pre>'}


def plain(text: str) -> str:
    """Return text that a terminal shows and does not obey, in the order in which it is."""
    return legible(text)


def _joined(above: str, below: str) -> str:
    return "\n\n".join(filter(None, (above, below)))


def _chosen(shown: Shown) -> tuple[str, str]:
    """Return what the format shows, as Markdown and as plain text."""
    text = plain(shown.text)
    if shown.format == "code" and (blocks := code_blocks(text)):
        fenced = [_fenced(block.code, block.language) for block in blocks]
        return "\n\n".join(fenced), "\n\n".join(block.code for block in blocks)
    if shown.format == "json" and (pretty := _pretty_json(text)):
        return _fenced(pretty, "json"), pretty
    return text, text


def _told(shown: Shown) -> Footer:
    """Say in the footer where there is nothing of what the format shows."""
    text = plain(shown.text)
    none = {
        "code": "" if code_blocks(text) else "there is no code in the answer",
        "json": "" if _pretty_json(text) else "there is no JSON in the answer",
    }.get(shown.format)
    if not text or not none:
        return shown.footer
    return replace(shown.footer, lines=(*shown.footer.lines, f"{none}: all of it is shown"))


def _fenced(code: str, language: str) -> str:
    """Put code in a fence longer than any in it."""
    marks = "```"
    while marks in code:
        marks += "`"
    return f"{marks}{language}\n{code}\n{marks}"


def _pretty_json(text: str) -> str:
    """Return the text, or its first code block that is JSON, indented; else ''."""
    for candidate in (text, *(block.code for block in code_blocks(text))):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return plain(json.dumps(value, indent=2, ensure_ascii=False))
    return ""


def _markdown(shown: Shown, source: str, footer: str) -> str:
    body = neutralise(_fenced(source, "") if shown.format == "text" else source)
    lines = [_muted(line) for line in footer.split("\n") if line]
    called = "" if shown.format in BARE else calls_markdown(shown.calls, shown.language)
    return _joined(_joined(body.rstrip("\n"), called), "  \n".join(lines))


def _muted(line: str) -> str:
    # Every mark becomes an entity: a thread's title is words, and no Markdown.
    return f"*{inline_text(defused(line))}*"


def _html(shown: Shown, source: str, footer: str) -> str:
    if shown.format == "text":
        body = f'<pre style="{_WRAPPED}">{escape(source)}</pre>'
    else:
        body = to_html(source)
    reasoning = ""
    if shown.reasoning:
        words = escape(defused(plain(shown.reasoning)))
        reasoning = (
            f"<details><summary>{worded('Reasoning', shown.language)}</summary>"
            f'<div style="{_WRAPPED}; opacity: 0.75">{words}</div>'
            f"</details>"
        )
    called = "" if shown.format in BARE else calls_html(shown.calls, shown.language)
    name = worded("Answer", shown.language)
    lines = "<br>".join(escape(defused(line)) for line in footer.split("\n"))
    return (
        f'<div class="jan-turn" role="group" aria-label="{name}">{reasoning}'
        f'<div class="jan-answer" dir="auto">{body}</div>{called}'
        f'<div class="jan-footer" role="note" style="{_MUTED}"><small>{lines}</small></div></div>'
    )


def _turn(shown: Shown, source: str, footer: str, *, stable: bool) -> dict[str, object]:
    markdown = neutralise(_fenced(source, "") if shown.format == "text" else source)
    text = printable(shown.text)
    return {
        "schema": shown.schema,
        "prompt": printable(shown.prompt),
        "text": text,
        "markdown": None if markdown == text else markdown,
        "reasoning": printable(shown.reasoning),
        "calls": calls_json(shown.calls),
        "model": printable(shown.model),
        "sources": [dict(each) for each in shown.sources],
        "thread": printable(shown.thread),
        "thread_id": None if stable else shown.thread_id,
        "message": None if stable else shown.message,
        "finish": shown.finish,
        "usage": _numbers(shown.usage),
        "timings": None if stable else _numbers(shown.timings),
        "version": shown.version,
        "versions": shown.versions,
        "footer": footer,
    }


def _numbers(value: Usage | Timings | None) -> Mapping[str, object] | None:
    return None if value is None else asdict(value)
