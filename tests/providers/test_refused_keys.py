"""Refusals that are about a key, in whatever status, and those that are not; streams have none."""

import asyncio
import json
from typing import Any

import pytest

from jan_magics.domain.errors import (
    AuthenticationFailed,
    ProviderError,
    RequestRejected,
    ServerFailed,
)
from jan_magics.domain.events import Finish, Remark, StreamEvent, TextDelta
from jan_magics.providers.access import Access
from jan_magics.providers.google import GoogleProvider
from tests.providers.asking import asking, collect, read, sse
from tests.providers.loopback import http, serving
from tests.providers.test_failures import fail, words
from tests.providers.test_retries import keys_at
from tests.providers.wires import GOOGLE

INVALID = {
    "error": {
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
        "details": [{"reason": "API_KEY_INVALID"}],
    }
}


def test_a_key_that_google_does_not_accept_is_named_and_the_next_one_tried() -> None:
    async def go() -> tuple[list[StreamEvent], list[str], ProviderError]:
        no = http(json.dumps(INVALID).encode(), status=400, kind="application/json")
        good = http(GOOGLE.body(GOOGLE.words("好"), *GOOGLE.end))
        async with serving(no, good, no) as server:
            access = Access(keys_at(server, "first", "second"))
            provider = GoogleProvider("google", server.address, access)
            events = await collect(provider, asking("hi", model="google:gemini-2.5-pro"))
            with pytest.raises(AuthenticationFailed) as raised:
                await collect(provider, asking("hi", model="google:gemini-2.5-pro"))
            await provider.close()
            return events, server.heads, raised.value

    events, heads, error = asyncio.run(go())
    assert isinstance(events[0], Remark)
    assert TextDelta("好") in events
    assert [head.partition("x-goog-api-key: ")[2].split()[0] for head in heads][:2] == [
        "first", "second",
    ]  # fmt: skip
    assert "keys 1 and 2" in error.message


@pytest.mark.parametrize(
    "said",
    [
        "Country, region, or territory not supported",
        "Your organization must be verified to stream this model.",
        "User location is not supported for the API use.",
    ],
)
def test_a_refusal_of_a_place_or_an_account_keeps_its_own_words(said: str) -> None:
    error = fail(403, words(said))
    assert isinstance(error, RequestRejected)
    assert said in error.message
    assert "key" not in error.message
    assert error.next_step.startswith("This is not about the key")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "out of memory"}, ServerFailed),
        ({"message": "Overloaded", "type": "overloaded_error"}, ServerFailed),
        ({"message": "bad", "type": "invalid_request_error"}, RequestRejected),
    ],
)
def test_an_error_inside_a_stream_invents_no_status(error: Any, kind: type[ProviderError]) -> None:
    with pytest.raises(kind) as raised:
        read([sse({"error": error})])
    assert f": {error['message']}" in raised.value.message
    assert not any(digit in raised.value.message for digit in "0123456789")
    with pytest.raises(ProviderError, match="503"):
        read([sse({"error": {**error, "code": 503}})])


def test_a_failure_after_the_first_words_can_be_gone_on_from() -> None:
    word = {"choices": [{"delta": {"content": "hi"}}]}
    with pytest.raises(ServerFailed) as raised:
        read([sse(word, {"error": {"message": "out of memory"}})])
    assert "%chat resume" in raised.value.next_step
    with pytest.raises(ServerFailed) as raised:
        read([sse({"error": {"message": "out of memory"}})])
    assert "%chat resume" not in raised.value.next_step
    assert isinstance(read([sse(word)])[-1], Finish)
