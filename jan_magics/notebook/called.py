"""Tool calls to be read: one line each, with the whole result folded below it in HTML."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Final

from jan_magics.domain.messages import Json, Part, ToolCallPart, ToolResultPart, ToolState
from jan_magics.notebook.columns import clip
from jan_magics.notebook.hazards import defused, inline_text, legible, printable
from jan_magics.notebook.wording import worded_around

LONGEST: Final = 120
"""Characters of the arguments and of the result that a line shows."""
_WRAPPED: Final = "white-space: pre-wrap; overflow-wrap: anywhere"


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call with its result; `state` None: it has none."""

    name: str
    arguments: str
    output: str = ""
    state: ToolState | None = None

    def line(self, language: str = "") -> str:
        """Return the call in one line."""
        given = "" if self.arguments.strip() in ("", "{}") else _short(self.arguments)
        said = {"ok": "", "error": "error: ", "denied": "denied: ", "interrupted": ""}
        before = "no result" if self.state is None else said[self.state]
        # A result may look like a phrase: it is none.
        call = f"{legible(self.name)}({given})"
        return worded_around(f"▸ called {{}} → {before}", call, language) + _short(self.output)


def calls_of(parts: Iterable[Part]) -> tuple[Called, ...]:
    """Return the calls among the parts of an answer, each with its result."""
    listed = tuple(parts)
    results = {part.call_id: part for part in listed if isinstance(part, ToolResultPart)}
    return tuple(
        _called(part, results.get(part.call_id))
        for part in listed
        if isinstance(part, ToolCallPart)
    )


def calls_text(calls: Iterable[Called], language: str = "") -> str:
    """Return calls as plain text, a line each."""
    return "\n".join(call.line(language) for call in calls)


def calls_markdown(calls: Iterable[Called], language: str = "") -> str:
    """Return calls as Markdown, a line each."""
    return "  \n".join(f"*{inline_text(defused(call.line(language)))}*" for call in calls)


def calls_html(calls: Iterable[Called], language: str = "") -> str:
    """Return calls as HTML; arguments and results unfold whole."""
    return "".join(_html(call, language) for call in calls)


def calls_json(calls: Iterable[Called]) -> list[dict[str, object]]:
    """Return calls for the extension."""
    return [
        {
            "name": printable(call.name),
            "arguments": printable(call.arguments),
            "output": printable(call.output),
            "state": call.state,
        }
        for call in calls
    ]


def _called(call: ToolCallPart, result: ToolResultPart | None) -> Called:
    arguments = _readable(call.arguments)
    if result is None:
        return Called(call.name, arguments)
    return Called(call.name, arguments, _text(result.output), result.state)


def _readable(arguments: str) -> str:
    """Return arguments in letters that people read, where their JSON has escapes for these."""
    if "\\u" not in arguments:
        return arguments
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


def _text(output: Json) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _short(text: str) -> str:
    return clip(legible(text), LONGEST)


def _html(call: Called, language: str) -> str:
    whole = "\n\n".join(filter(None, (legible(call.arguments), legible(call.output))))
    line = escape(defused(call.line(language).removeprefix("▸ ")))
    return (
        f'<details class="jan-call"><summary>{line}'
        f'</summary><pre dir="auto" style="{_WRAPPED}">{escape(defused(whole))}</pre></details>'
    )
