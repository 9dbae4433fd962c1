"""Long results: cut in the middle, and the whole to be read page by page with a tool of ours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jan_magics.domain.messages import Json
from jan_magics.domain.models import ToolSpec
from jan_magics.engine.arguments import Misfit
from jan_magics.engine.tools import Ran, Tool, output_text

NAME: Final = "read_result"
SHARE: Final = 0.1
"""The share of the context window that one result may fill."""
UNLIMITED: Final = 20_000
"""Tokens of a result where nobody knows the window."""
SHORTEST: Final = 64
MOST: Final = 32
"""Whole results that are kept; older ones are let go of."""
SPEC: Final = ToolSpec(
    NAME,
    "Read more of a long tool result of which the middle was left out.",
    {
        "type": "object",
        "properties": {
            "result": {"type": "string", "description": "which one, as in r1"},
            "start": {"type": "integer", "description": "the character to begin at"},
        },
        "required": ["result", "start"],
    },
)


@dataclass(slots=True)
class LongResults:
    """The results of this kernel that were cut, by the names that models know them by."""

    kept: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def cut(self, ran: Ran, tokens: int, counted: Callable[[str], int]) -> Ran:
        """Return a result of at most about so many tokens; a longer one is kept whole here."""
        text = output_text(ran.output)
        # No token of ours is longer than this in all vocabularies that we know.
        if len(text.encode("utf-8", "replace")) <= tokens or counted(text) <= tokens:
            return ran
        self.count += 1
        name = f"r{self.count}"
        self.kept[name] = text
        while len(self.kept) > MOST:
            del self.kept[next(iter(self.kept))]
        return Ran(_middle_cut(text, name, tokens, counted), ran.state)

    def tool(self, tokens: int, counted: Callable[[str], int]) -> Tool:
        """Return the tool that reads on, in pages of so many tokens."""

        def call(given: Mapping[str, Json]) -> str:
            name, start = given.get("result"), _whole(given.get("start", 0))
            text = self.kept.get(name) if isinstance(name, str) else None
            if text is None:
                known = ", ".join(self.kept) or "none"
                raise Misfit(f"no result {name!r} is kept; there are: {known}. Call the tool again")
            if not 0 <= start < len(text):
                raise Misfit(f"start is {start}, but {name} has {len(text)} characters")
            page = _page(text[start:], tokens - SHORTEST // 2, counted)
            end = start + len(page)
            left = f"; read on with start={end}" if end < len(text) else ", the end"
            return f"{page}\n[characters {start} to {end} of {len(text)} of {name}{left}]"

        return Tool(SPEC, call, "built-in", "auto", safe=True)


def budget(window: int | None) -> int:
    """Return the tokens that a result may have."""
    return max(SHORTEST, int(window * SHARE)) if window else UNLIMITED


def _middle_cut(text: str, name: str, tokens: int, counted: Callable[[str], int]) -> str:
    room = max(8, tokens - SHORTEST // 2)
    head = _page(text, room * 2 // 3, counted)
    tail = _page(text[::-1], room - room * 2 // 3, counted)[::-1]
    left = len(text) - len(head) - len(tail)
    say = f'{NAME}(result="{name}", start={len(head)})'
    return f"{head}\n[… {left} of {len(text)} characters left out; read on: {say} …]\n{tail}"


def _page(text: str, tokens: int, counted: Callable[[str], int]) -> str:
    """Return the longest beginning of about so many tokens."""
    page = text[: tokens * 8]
    while len(page) > 1 and (has := counted(page)) > tokens:
        page = page[: min(len(page) - 1, max(1, int(len(page) * tokens / has)))]
    return page


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise Misfit(f"start: {value!r} is not a whole number") from None
