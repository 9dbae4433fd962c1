"""A turn's budget: the model's window, with what presets, settings and flags say about it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from jan_magics.context.budget import PRESETS, Budget, make_budget
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ChatOptions
from jan_magics.engine.asking import Asking
from jan_magics.engine.settings import Settings

SIZES: Final = ("window", "reserve_output", "keep")
SHARES: Final = ("safety", "warn", "compact_at", "compact_to", "trim_at", "trim_to")
OF_BUDGET: Final = frozenset({*SIZES, *SHARES, "strategy", "preset", "tokenizer"}) - {"window"}
"""The settings that a turn may be tried with, beside the flags `window` and `overflow`."""
CLIENT_ONLY: Final = frozenset({"max_context_tokens", "auto_compact"})
"""Parameters of an assistant that tell us what to send, and are never sent themselves."""


def budget_for(
    settings: Settings, asking: Asking, window: int | None, source: str, *, exact: bool
) -> Budget:
    """Return the budget of a turn; a flag goes before a setting, and that before a preset."""
    preset = settings.get("preset").value
    known: dict[str, Any] = dict(PRESETS.get(preset or "", {}))
    if preset == "jan":
        known |= jan_parameters(asking.options.parameters)
    given = {"window": asking.window, "overflow": asking.overflow}
    known |= _of_settings(settings, [name for name, value in given.items() if value is None])
    if asking.options.max_tokens:
        known.setdefault("reserve_output", _reserve(asking.options.max_tokens, window))
    if asking.window is not None:
        known |= {"window": asking.window, "source": "--window"}
    if asking.overflow is not None:
        known["overflow"] = asking.overflow
    return make_budget(window, source, exact=exact, known=known)


def jan_parameters(parameters: Mapping[str, Json]) -> dict[str, Any]:
    """Read an assistant's parameters as the Jan desktop does; what is no number counts as 0."""
    known: dict[str, Any] = {"window": _whole(parameters.get("max_context_tokens")) or 0}
    allowance = parameters.get("max_output_tokens", parameters.get("max_tokens"))
    if (tokens := _whole(allowance)) is not None:
        known["reserve_output"] = tokens
    if parameters.get("auto_compact") in (True, "true"):
        known["overflow"] = "compact"
    return known


def _of_settings(settings: Settings, open_ones: Sequence[str]) -> dict[str, Any]:
    """Read what settings say; one that a flag goes before is not read at all."""
    known: dict[str, Any] = {}
    sizes = [name for name in SIZES if name != "window"]
    for name in (*sizes, *SHARES, "strategy", *open_ones):
        found = settings.get(name)
        if found.value is not None and found.source != "default":
            text = found.value
            known[name] = int(text) if name in SIZES else float(text) if name in SHARES else text
            if name == "window":
                known["source"] = found.source
    return known


def _reserve(max_tokens: int, window: int | None) -> int:
    """Return what an answer of at most so many tokens needs; half of the window stays."""
    return max_tokens if window is None else min(max_tokens, window // 2)


def _whole(value: Json) -> int | None:
    try:
        return max(0, int(float(value))) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def sendable(options: ChatOptions) -> ChatOptions:
    """Return options without what only tells us how much to send."""
    if not CLIENT_ONLY & options.parameters.keys():
        return options
    kept = {k: v for k, v in options.parameters.items() if k not in CLIENT_ONLY}
    return replace(options, parameters=kept)
