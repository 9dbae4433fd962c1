"""A used-up account is told apart from a server that is busy."""

from datetime import UTC, datetime

from jan_magics.domain.errors import RateLimited
from jan_magics.providers.failures import Asked, failure

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_used_up_quota_is_not_waited_for() -> None:
    asked = Asked("openai:m", "openai", "https://a.example/v1")
    body = (
        b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}'
    )
    used_up = failure(429, {}, body, asked, now=NOW)
    assert isinstance(used_up, RateLimited)
    assert "quota of the account at openai is used up (429)" in used_up.message
    assert "Wait" not in used_up.next_step
    busy = failure(429, {}, b'{"error": {"message": "slow down"}}', asked, now=NOW)
    assert busy.next_step.startswith("Wait")
