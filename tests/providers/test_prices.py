"""A cost is told only where a price is known; else there is no number."""

from datetime import date

import pytest

from jan_magics.domain.models import ChatOptions, ModelRef, Usage, parse_model
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.hosts import Host, read_host
from jan_magics.providers.prices import LISTED, Price, price_of

MINE = {"address": "https://host.example/v1"}


def host(name: str = "mine", **table: object) -> Host:
    return read_host(name, {**MINE, **table}, "config.toml")


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(1_000_000, 1_000_000), 11.0),
        (Usage(1_000_000, 0, cached=400_000), 0.64),
        (Usage(100, 10, cached=900), 0.00011),  # more from the cache than there was
        (Usage(0, 0), 0.0),
        (Usage(None, 5), None),
        (Usage(5, None), None),
        (Usage(), None),
    ],
)
def test_what_tokens_cost(usage: Usage, cost: float | None) -> None:
    found = Price(1.0, 10.0, 0.1).of(usage)
    assert found == (None if cost is None else pytest.approx(cost))


def test_without_a_price_of_its_own_the_cache_costs_as_much_as_the_rest() -> None:
    assert Price(1.0, 10.0).of(Usage(1_000_000, 0, cached=400_000)) == 1.0


def test_a_list_price_holds_at_its_vendors_own_address() -> None:
    assert price_of(parse_model("openai:gpt-4o-mini"), None) == Price(0.15, 0.6, 0.075)
    assert price_of(parse_model("openai:gpt-4o-mini-2024-07-18"), None) == Price(0.15, 0.6, 0.075)
    assert price_of(ModelRef("openai", "gpt-4o-mini", "https://proxy.example/v1"), None) is None
    assert price_of(parse_model("openai:gpt-4o-mini"), host("openai")) is None
    own = read_host("openai", {"key_env": "OTHER"}, "config.toml")
    assert price_of(parse_model("openai:gpt-4o-mini"), own) == Price(0.15, 0.6, 0.075)


@pytest.mark.parametrize(
    "model",
    ["openai:gpt-4o-audio-preview", "openai:gpt-4o-2024-05-13", "openai:gpt-5.4",
     "anthropic:claude-sonnet-4-5", "deepseek:deepseek-v4-pro",
     "openai:gpt-9", "openrouter:gpt-4o", "ollama:gpt-4o",
     "offline:quote", "local:x", "https://api.openai.com/v1#gpt-4o"],
)  # fmt: skip
def test_what_nobody_says_has_no_price(model: str) -> None:
    assert price_of(parse_model(model), None) is None


@pytest.mark.parametrize(
    ("tier", "known"), [("auto", True), ("default", True), ("flex", False), ("priority", False)]
)
def test_another_tier_has_another_price(tier: str, known: bool) -> None:
    options = ChatOptions(parameters={"service_tier": tier})
    model = parse_model("openai:gpt-5")
    assert (price_of(model, None, options) is not None) is known
    mine = host("openai", prices={"input": 1, "output": 2})
    assert price_of(model, mine, options) == Price(1.0, 2.0)


def test_what_the_config_says_holds_where_it_stands() -> None:
    told = host(prices={"input": 1, "output": 2, "cached": 0.5})
    assert price_of(ModelRef("mine", "anything"), told) == Price(1.0, 2.0, 0.5)
    assert price_of(ModelRef("mine", "x"), host(prices={"input": 1, "output": 2})) == Price(1, 2)
    assert price_of(ModelRef("mine", "x"), host(prices={"input": 1})) is None
    assert price_of(ModelRef("mine", "x"), host()) is None
    vendor = read_host("openai", {"prices": {"input": 3, "output": 4}}, "config.toml")
    assert price_of(parse_model("openai:gpt-4o"), vendor) == Price(3.0, 4.0)


def test_every_listed_price_says_where_it_stands_and_when_it_was_compared() -> None:
    assert len({(each.provider, each.name) for each in LISTED}) == len(LISTED) > 0
    for each in LISTED:
        assert CATALOG[each.provider].address
        assert each.source.startswith("https://")
        assert date(2025, 7, 1) <= date.fromisoformat(each.checked) <= date(2026, 11, 30)
        assert all(date.fromisoformat(version) for version in each.versions)
        assert 0 < (each.price.cached or 0) < each.price.input < each.price.output
