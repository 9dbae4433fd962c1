"""A turn's budget: flags before settings before presets, and parameters as Jan reads them."""

import pytest

from jan_magics.context.budget import Budget
from jan_magics.domain.models import ChatOptions
from jan_magics.engine.asking import Asking
from jan_magics.engine.budgets import budget_for, jan_parameters, sendable
from jan_magics.engine.settings import Settings, Source


def budget(asking: Asking | None = None, **settings: str) -> Budget:
    sources = (Source("the test", settings),)
    return budget_for(Settings(sources, {}), asking or Asking(), 8192, "the server", exact=True)


def test_flags_go_before_settings_before_presets() -> None:
    assert budget().source == "the server"
    assert (budget(preset="devflow").window, budget(preset="devflow").overflow) == (
        128_000,
        "compact",
    )
    found = budget(preset="devflow", window="1000", overflow="error", trim_to="0.5")
    assert (found.window, found.overflow, found.trim_to) == (1000, "error", 0.5)
    assert found.source == "the test"
    flags = Asking(window=2000, overflow="trim")
    found = budget(flags, preset="devflow", window="1000", overflow="error")
    assert (found.window, found.overflow, found.source) == (2000, "trim", "--window")


def test_an_answers_limit_is_what_is_kept_back() -> None:
    assert budget(Asking(options=ChatOptions(max_tokens=100))).reserve_output == 100
    # Not so much that nothing could be sent.
    assert budget(Asking(options=ChatOptions(max_tokens=9000))).reserve_output == 4096
    assert (
        budget(Asking(options=ChatOptions(max_tokens=100)), reserve_output="300").reserve_output
        == 300
    )
    assert budget(Asking(options=ChatOptions(max_tokens=0))).reserve_output == 2048


@pytest.mark.parametrize(
    ("parameters", "known"),
    [
        ({}, {"window": 0}),
        ({"max_context_tokens": "4096"}, {"window": 4096}),
        ({"max_context_tokens": "many"}, {"window": 0}),
        ({"max_context_tokens": -5}, {"window": 0}),
        ({"max_output_tokens": 512, "auto_compact": "true"},
         {"window": 0, "reserve_output": 512, "overflow": "compact"}),
        ({"max_tokens": "256", "auto_compact": True},
         {"window": 0, "reserve_output": 256, "overflow": "compact"}),
        ({"auto_compact": "yes"}, {"window": 0}),
    ],
)  # fmt: skip
def test_the_jan_preset_reads_an_assistants_parameters(
    parameters: dict[str, object], known: dict[str, object]
) -> None:
    assert jan_parameters(parameters) == known  # type: ignore[arg-type]


def test_what_tells_only_us_is_not_sent() -> None:
    options = ChatOptions(parameters={"max_context_tokens": 1, "auto_compact": True, "top_k": 4})
    assert sendable(options).parameters == {"top_k": 4}
    assert sendable(ChatOptions()) == ChatOptions()
