"""What a model costs, where somebody says so: its vendor's list, or the user's own config. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from jan_magics.domain.models import ModelRef, Usage
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.hosts import Host

_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """For a million tokens; `cached` are read from a cache, None = they cost as much as others."""

    input: float
    output: float
    cached: float | None = None

    def of(self, usage: Usage) -> float | None:
        """Return what tokens cost, None where the server did not count them."""
        if usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        dear = self.input if self.cached is None else self.cached
        total = (usage.input - cached) * self.input + cached * dear + usage.output * self.output
        return total / _MILLION


# US dollars, as the vendor lists them for a named model, which keeps its price while it is sold.
# Whoever has other terms writes `prices` into the config; a model that is not here has no price.
_LISTED: Final[Mapping[str, tuple[tuple[str, Price], ...]]] = {
    "openai": (
        (r"gpt-4o", Price(2.5, 10.0, 1.25)),
        (r"gpt-4o-mini", Price(0.15, 0.6, 0.075)),
        (r"gpt-4\.1", Price(2.0, 8.0, 0.5)),
        (r"gpt-4\.1-mini", Price(0.4, 1.6, 0.1)),
        (r"gpt-4\.1-nano", Price(0.1, 0.4, 0.025)),
        (r"gpt-5", Price(1.25, 10.0, 0.125)),
        (r"gpt-5-mini", Price(0.25, 2.0, 0.025)),
        (r"gpt-5-nano", Price(0.05, 0.4, 0.005)),
        (r"o3", Price(2.0, 8.0, 0.5)),
        (r"o4-mini", Price(1.1, 4.4, 0.275)),
    ),
}
_DATED: Final = r"(?:-20\d\d-\d\d-\d\d)?"


def price_of(model: ModelRef, host: Host | None) -> Price | None:
    """Return the price of a model, None where nobody says it.

    A list price holds at its vendor's own address only; what the user's config says holds where
    it stands.
    """
    if host and (told := host.prices):
        known = "input" in told and "output" in told
        return Price(told["input"], told["output"], told.get("cached")) if known else None
    entry = CATALOG.get(model.provider)
    address = model.address or (host.address if host else None)
    if entry is None or address not in (None, entry.address):
        return None
    listed = _LISTED.get(model.provider, ())
    return next((p for name, p in listed if re.fullmatch(name + _DATED, model.name)), None)
