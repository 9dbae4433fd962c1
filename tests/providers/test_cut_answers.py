"""An answer that breaks off in the middle of its JSON is told as what it is."""

import json
from typing import Any

import pytest

from jan_magics.domain.errors import StreamBroken
from tests.providers.asking import read, sse


def chunk(text: str, reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": reason}]}


WHOLE = json.dumps(chunk("Grüße 中文 \n", "stop") | {"usage": {"prompt_tokens": 12}})


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_that_breaks_off_was_cut(stream: bool, ascii_only: bool) -> None:
    text = json.dumps(json.loads(WHOLE), ensure_ascii=ascii_only).encode()
    for length in range(2, len(text)):
        body = b"data: " * stream + text[:length]
        error = failed(body, stream=stream)
        assert "was cut off" in error.message, body
        assert "address" not in error.next_step


def failed(body: bytes, *, stream: bool) -> StreamBroken:
    with pytest.raises(StreamBroken) as caught:
        read([body], stream=stream)
    return caught.value


def test_what_is_no_json_in_mid_answer_is_not_the_fault_of_the_address() -> None:
    error = failed(sse(chunk("a"), done=False) + b"data: {oops}\n\n", stream=True)
    assert "cannot be read" in error.message
    assert "%chat resume" in error.next_step
    assert "address" in failed(b"data: {oops}\n\n", stream=True).next_step
