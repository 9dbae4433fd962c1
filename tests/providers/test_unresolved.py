"""A name that cannot be resolved is told apart from a server that does not listen."""

import httpx
import pytest

from jan_magics.providers.failures import Asked
from jan_magics.providers.transport import transport_failure


def test_a_name_that_cannot_be_resolved_is_said() -> None:
    asked = Asked("custom:m", "custom", "http://nowhere.invalid/v1")
    with pytest.raises(httpx.ConnectError) as raised, httpx.Client(trust_env=False) as client:
        client.get("http://nowhere.invalid/v1/models")
    error = transport_failure(raised.value, asked, begun=False)
    assert "the name in http://nowhere.invalid/v1 cannot be resolved" in error.message
    assert "network" in error.next_step
