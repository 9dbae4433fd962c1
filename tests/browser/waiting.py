"""Expectations that are looked at ten times a second, however long they may take."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from playwright.sync_api import Locator
from playwright.sync_api import expect as expect_shortly

if TYPE_CHECKING:
    from playwright.sync_api._generated import LocatorAssertions

PATIENCE = 30_000
"""Milliseconds; as long as a machine takes that does other things too."""
AT_A_TIME = 2_400
"""Milliseconds: what it may wait for longer, Playwright looks at only twice a second."""


def expect(found: Locator) -> "LocatorAssertions":
    """Expect something of what is found, as Playwright's `expect` does."""
    return cast("LocatorAssertions", _Patient(expect_shortly(found)))


class _Patient:
    def __init__(self, assertions: "LocatorAssertions") -> None:
        self._assertions = assertions

    def __getattr__(self, name: str) -> Callable[..., None]:
        check = getattr(self._assertions, name)

        def patiently(*wanted: Any, timeout: float = PATIENCE, **how: Any) -> None:
            end = time.monotonic() + timeout / 1000
            while True:
                try:
                    check(*wanted, timeout=min(timeout, AT_A_TIME), **how)
                except AssertionError:
                    if time.monotonic() >= end:
                        raise
                else:
                    return

        return patiently
