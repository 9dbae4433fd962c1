"""Laws of reading an answer: any cutting means the same, and nothing surprises it."""

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.providers.asking import Outcome, outcome, sse
from tests.providers.recordings import load, names

EXAMPLES = 1000 if "JAN_SOAK" in os.environ else 200
"""Of each kind; `test_wires.py` gives the same decoder thousands in every run."""
STREAMS = [name for name in names() if load(name).status == 200 and "models" not in name]
SHORT = [name for name in STREAMS if len(load(name).body) < 4000]


@pytest.mark.parametrize("name", STREAMS)
def test_byte_by_byte_means_the_same(name: str) -> None:
    recording = load(name)
    single = [bytes([byte]) for byte in recording.body]
    whole = outcome([recording.body], stream=recording.stream)
    assert outcome(single, stream=recording.stream) == whole
    assert outcome(single, stream=False) == outcome([recording.body], stream=False)


@pytest.mark.parametrize("name", SHORT)
def test_split_at_every_byte_means_the_same(name: str) -> None:
    recording = load(name)
    body, stream = recording.body, recording.stream
    whole = outcome([body], stream=stream)
    cuts = ([body[:at], body[at:]] for at in range(len(body)))
    assert all(outcome(pieces, stream=stream) == whole for pieces in cuts)


# ---------------------------------------------------------------------------------- fuzzing

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)  # fmt: skip
KEYS = st.sampled_from(
    ["choices", "delta", "message", "content", "tool_calls", "function", "arguments", "index", "id",
     "finish_reason", "usage", "timings", "error", "prompt_progress", "reasoning", "name", "text",
     "prompt_tokens", "prompt_tokens_details", "thinking", "code", "type", "total"]
)  # fmt: skip
SHAPED = st.recursive(
    JSON,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
WELL_SHAPED = st.builds(
    lambda content, calls, reason: {
        "choices": [{"delta": {"content": content, "tool_calls": calls}, "finish_reason": reason}]
    },
    SHAPED,
    st.lists(st.fixed_dictionaries({"index": SHAPED, "id": SHAPED, "function": SHAPED}), max_size=3)
    | SHAPED,
    SHAPED,
)


def usable(found: Outcome) -> bool:
    """A typed error with words or a Finish, and text that a store can encode."""
    encoded = "".join(map(str, found.parts)).encode()
    return bool((found.error and found.words) or found.finish) and encoded is not None


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(SHAPED | WELL_SHAPED, min_size=1, max_size=3))
def test_any_json_gives_events_or_a_typed_error(chunks: list[Any]) -> None:
    assert usable(outcome([sse(*chunks)]))


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_give_events_or_a_typed_error(body: bytes, stream: bool) -> None:
    assert usable(outcome([body], stream=stream))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.sampled_from(STREAMS), st.data())
def test_a_damaged_recording_gives_events_or_a_typed_error(name: str, data: st.DataObject) -> None:
    recording = load(name)
    body = bytearray(recording.body)
    for _ in range(data.draw(st.integers(1, 3)) if body else 0):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    assert usable(outcome([bytes(body)], stream=recording.stream))
