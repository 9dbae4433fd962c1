"""What a model costs, where somebody says so: its vendor's list, or the user's own config. Pure."""

from dataclasses import dataclass
from typing import Final

from jan_magics.domain.models import ChatOptions, ModelRef, Usage
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.hosts import Host

_MILLION: Final = 1_000_000
_STANDARD: Final = (None, "auto", "default")
"""What a request says of its tier where it is served, and paid, as usual."""


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


@dataclass(frozen=True, slots=True)
class Listed:
    """A price of a vendor's list: where it stands, and when it was last compared with that.

    `versions` are the dates that may stand behind the name: an older one may have another price.
    """

    provider: str
    name: str
    price: Price
    source: str
    checked: str
    versions: tuple[str, ...] = ()

    def means(self, name: str) -> bool:
        """Tell whether a model of this name has this price."""
        return name == self.name or name in (f"{self.name}-{date}" for date in self.versions)


_OPENAI: Final = "https://platform.openai.com/docs/pricing"
# US dollars for a million tokens of the standard tier, as the vendor's page had them on that day,
# and as `prices/providers/openai.yml` of pydantic/genai-prices quotes that page. A vendor keeps the
# price of a named version while it is sold. Left out is what has no one price: what costs more in
# long prompts (gpt-5.4 and later), by the hour (DeepSeek), or for writing into a cache, which no
# answer of ours counts (Anthropic).
LISTED: Final = (
    Listed("openai", "gpt-4o", Price(2.5, 10.0, 1.25), _OPENAI, "2025-07-04",
           ("2024-08-06", "2024-11-20")),
    Listed("openai", "gpt-4o-mini", Price(0.15, 0.6, 0.075), _OPENAI, "2025-07-04",
           ("2024-07-18",)),
    Listed("openai", "gpt-4.1", Price(2.0, 8.0, 0.5), _OPENAI, "2025-07-04", ("2025-04-14",)),
    Listed("openai", "gpt-4.1-mini", Price(0.4, 1.6, 0.1), _OPENAI, "2025-07-04",
           ("2025-04-14",)),
    Listed("openai", "gpt-4.1-nano", Price(0.1, 0.4, 0.025), _OPENAI, "2025-07-04",
           ("2025-04-14",)),
    Listed("openai", "gpt-5", Price(1.25, 10.0, 0.125), _OPENAI, "2025-11-13", ("2025-08-07",)),
    Listed("openai", "gpt-5-mini", Price(0.25, 2.0, 0.025), _OPENAI, "2025-11-13",
           ("2025-08-07",)),
    Listed("openai", "gpt-5-nano", Price(0.05, 0.4, 0.005), _OPENAI, "2025-11-13",
           ("2025-08-07",)),
    Listed("openai", "gpt-5.1", Price(1.25, 10.0, 0.125), _OPENAI, "2025-11-13", ("2025-11-13",)),
    Listed("openai", "o3", Price(2.0, 8.0, 0.5), _OPENAI, "2025-07-12", ("2025-04-16",)),
    Listed("openai", "o4-mini", Price(1.1, 4.4, 0.275), _OPENAI, "2025-07-04", ("2025-04-16",)),
)  # fmt: skip


def price_of(
    model: ModelRef, host: Host | None, options: ChatOptions | None = None
) -> Price | None:
    """Return the price of a model, None where nobody says it.

    A list price holds at its vendor's own address only, and in no other tier than the standard
    one; what the user's config says holds where it stands.
    """
    if host and (told := host.prices):
        known = "input" in told and "output" in told
        return Price(told["input"], told["output"], told.get("cached")) if known else None
    entry = CATALOG.get(model.provider)
    address = model.address or (host.address if host else None)
    tier = options.parameters.get("service_tier") if options else None
    if entry is None or address not in (None, entry.address) or tier not in _STANDARD:
        return None
    found = (each for each in LISTED if each.provider == model.provider and each.means(model.name))
    return next((each.price for each in found), None)
