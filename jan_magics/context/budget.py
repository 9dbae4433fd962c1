"""How many tokens there are for what: the window, what is kept back of it, and three marks."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from jan_magics.domain.errors import SettingError

Overflow: TypeAlias = Literal["trim", "compact", "error"]
Strategy: TypeAlias = Literal["recent", "relevance"]

UNKNOWN_WINDOW: Final = 8192
"""The window in tokens of a model of which nobody says it."""
RESERVE: Final = 2048
"""Tokens kept back for the answer; at most a quarter of the window."""
ESTIMATED: Final = 0.85
"""The share of the input that an estimate may fill."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Sizes in tokens; the marks are shares of what is left for history.

    `window` None: no limit is known or wanted, and nothing is trimmed. `source` says who told the
    window, and it was `chosen` where that was no server or catalogue. `compact_of`: what
    `compact_at` is a share of. `keep` turns stay word for word in a compaction that is asked for,
    `protect` messages in one that begins by itself.
    """

    window: int | None = UNKNOWN_WINDOW
    reserve_output: int = RESERVE
    safety: float = ESTIMATED
    warn: float = 0.6
    compact_at: float = 0.8
    compact_to: float = 0.4
    trim_at: float = 1.0
    trim_to: float = 0.7
    compact_of: Literal["history", "window"] = "history"
    keep: int = 2
    protect: int = 4
    overflow: Overflow = "trim"
    strategy: Strategy = "recent"
    source: str = "default"
    chosen: bool = False

    @property
    def input(self) -> int:
        """Return what may be sent in all: ⌊(window - reserve_output) x safety⌋."""
        if self.window is None:
            return NO_LIMIT
        return max(0, math.floor((self.window - self.reserve_output) * self.safety))

    @property
    def safety_tokens(self) -> int:
        """Return what is kept back because tokens are estimated."""
        return 0 if self.window is None else self.window - self.reserve_output - self.input

    def share(self, mark: float, history: int) -> int:
        """Return a mark in tokens, of what is left for history."""
        return NO_LIMIT if self.window is None else math.floor(mark * history)

    def compacts_at(self, history: int, fixed: int) -> int:
        """Return from how many tokens of history on a compaction is due; `fixed` is the rest."""
        if self.compact_of == "window" and self.window is not None:
            return max(0, math.floor(self.compact_at * self.window) - fixed)
        return self.share(self.compact_at, history)


NO_LIMIT: Final = 2**53
"""More tokens than any window has."""

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "jan": {"safety": 1.0, "trim_to": 1.0, "reserve_output": 2048, "window": 0, "protect": 0},
        "devflow": {
            "window": 128_000,
            "reserve_output": 8192,
            "safety": 0.85,
            "compact_at": 0.6,
            "protect": 10,  # a protected tail of six and a margin of four
            "overflow": "compact",
            "keep": 0,
        },
        "chatbox": {"compact_at": 0.6, "compact_of": "window", "overflow": "compact"},
    }
)
"""Named sets of values; what a setting says goes before them."""


def _agree(fields: dict[str, Any], mark: str, target: str) -> None:
    """Raise SettingError for a target above its mark; one that nobody set goes down with it."""
    usual = Budget()
    high, low = (fields.get(each, getattr(usual, each)) for each in (mark, target))
    if low <= high:
        return
    if target in fields:
        raise SettingError(
            f"{target} is {low} and {mark} is {high}: what is above it cannot be fallen to",
            f"Set it to {high} or less: %config JanMagics.{target} = {high}",
        )
    fields[target] = high


def make_budget(
    window: int | None, source: str, *, exact: bool, known: Mapping[str, Any]
) -> Budget:
    """Make a budget of a model's window and of what settings, a preset or a flag say.

    `known` holds fields of a Budget by name; its `window` goes before the model's, and 0 there
    means no limit. A `reserve_output` that is not set is at most a quarter of the window.

    Raises:
        SettingError: for marks that contradict each other.
    """
    fields = dict(known)
    set_window = fields.pop("window", None)
    if set_window is not None:
        window, source = (set_window or None), fields.get("source", source)
    fields |= {"source": source, "chosen": set_window is not None}
    fields.setdefault("safety", 1.0 if exact else ESTIMATED)
    for mark, target in (("trim_at", "trim_to"), ("compact_at", "compact_to")):
        _agree(fields, mark, target)
    reserve = fields.pop("reserve_output", None)
    if reserve is None:
        reserve = RESERVE if window is None else min(RESERVE, window // 4)
    return Budget(window=window, reserve_output=reserve, **fields)
