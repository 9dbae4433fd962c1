"""A growing answer on its way to a page: what is new of it, and never more than it is worth.

Blocks that are over go out once as HTML; the last one, which still grows, is sent again while it is
short, and as mere text where it is long.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from jan_magics.notebook.hazards import legible
from jan_magics.notebook.markdown import last_block
from jan_magics.widgets.comm import Message
from jan_magics.widgets.thread_rows import safe_html

FASTEST: Final = 0.08
"""Seconds between two messages at least."""
IDLE: Final = 1.5
"""Seconds without a new word after which the rest is sent, whatever it costs."""
WORTH: Final = 24
"""Bytes on the wire for a byte of the answer."""
ALLOWANCE: Final = 6_000
"""Bytes that an answer may cost before it has a word."""
OVERHEAD: Final = 600
"""Bytes of a Jupyter message around its content."""
SHORT: Final = 700
"""Characters of a last block that is sent again and again."""
FENCES: Final = ("```", "~~~")


@dataclass(slots=True)
class Growing:
    """The answer of one turn. `settled` characters of `text` are in the page for good."""

    clock: Callable[[], float] = monotonic
    text: str = ""
    note: str = ""
    sent: str = ""
    settled: int = 0
    html: str = ""
    how: str = ""
    cost: int = 0
    _told: str = ""
    _next: float = 0.0
    _changed: float = field(default=0.0)

    def update(self, text: str, note: str) -> Message | None:
        """Take an answer as it is by now; returns what the page is to be told, None for nothing."""
        now, text = self.clock(), legible(text)
        if (text, note) != (self.text, self.note):
            self.text, self.note, self._changed = text, note, now
        new = text != self.sent
        if now < self._next or not (new or note != self._told):
            return None
        worth = ALLOWANCE + WORTH * len(text.encode("utf-8", "replace"))
        if new and self.cost + OVERHEAD > worth and now < self._changed + IDLE:
            return None
        message = self._message()
        self.cost += OVERHEAD + len(
            json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        )
        self._next = now + FASTEST
        return message

    def whole(self) -> Message:
        """Return all that is said so far, for a page that has just come."""
        tail = self.sent[self.settled :]
        return {"kind": "delta", "fresh": True, "settled": self.html, "how": "html",
                "tail": safe_html(tail), "note": self._told}  # fmt: skip

    def _message(self) -> Message:
        fresh = not self.text.startswith(self.sent)
        if fresh:
            self.sent, self.settled, self.html, self.how = "", 0, "", ""
        settled = self._settle()
        before, self.sent, self._told = self.sent, self.text, self.note
        tail = self.text[self.settled :]
        if len(tail) <= SHORT:
            how, shown = "html", safe_html(tail)
        elif self.how in ("text", "code", "add") and not settled:
            how, shown = "add", self.text[len(before) :]
        elif tail.startswith(FENCES):
            how, shown = "code", tail.partition("\n")[2]
        else:
            how, shown = "text", tail
        self.how = how
        return {"kind": "delta", "fresh": fresh, "settled": settled, "how": how, "tail": shown,
                "note": legible(self.note)}  # fmt: skip

    def _settle(self) -> str:
        """Move on past the blocks that are over, and return their HTML."""
        tail = self.text[self.settled :]
        start = last_block(tail)
        if not start:
            return ""
        html = safe_html(tail[:start])
        self.settled += start
        self.html += html
        return html
