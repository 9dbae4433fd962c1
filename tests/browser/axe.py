"""axe-core in a page: what keeps people from reading or using what is shown there."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.conftest import require

SCRIPT = Path(__file__).parents[2] / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")


def barriers(page: Page, *selectors: str) -> list[str]:
    """Return what is seriously wrong in the nodes that these selectors name."""
    require("axe", SCRIPT.exists(), "no axe-core: cd labextension && npm ci")
    # As an expression: a page's own module loader would take it for itself.
    page.evaluate(
        "code => (new Function('module', 'exports', 'define', code))(undefined, undefined)",
        SCRIPT.read_text(encoding="utf-8"),
    )
    found: dict[str, Any] = page.evaluate(
        "include => axe.run({include}, {resultTypes: ['violations']})",
        [[selector] for selector in selectors],
    )
    return [
        f"{each['id']}: {node['html'][:120]}: {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]
