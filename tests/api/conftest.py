"""The chat of a script lives as long as its process; here it lives as long as its test."""

from collections.abc import Iterator

import pytest

from jan_magics.api import opening


@pytest.fixture(autouse=True)
def a_chat_of_its_own() -> Iterator[None]:
    """Close the script's chat after each test, and forget it."""
    yield
    if opening._of_script.cache_info().currsize:
        opening.current_host().close()
    opening._of_script.cache_clear()
