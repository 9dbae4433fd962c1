"""What every wire's decoder and provider promise, from hand-written streams, over real sockets."""

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.domain.errors import ProviderError, RequestRejected, ServerFailed, StreamBroken
from jan_magics.domain.events import Finish, StreamEvent, TextDelta, fold
from tests.providers.asking import Outcome, asking
from tests.providers.loopback import Reply, chunked, http, serving
from tests.providers.wires import WIRES, Wire

WORDS = ("one", " 二", " 👍")
TEXT = "".join(WORDS)
SSE = "text/event-stream"
STREAMS = [(wire, name) for wire, each in WIRES.items() for name in each.streams]
each_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=list(WIRES))


def said(events: Sequence[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def ask(wire: Wire, *replies: Reply) -> tuple[list[StreamEvent], ProviderError | None]:
    events: list[StreamEvent] = []
    async with serving(*replies) as server:
        provider = wire.open(server.address)
        try:
            async for event in provider.stream(asking("hi")):
                events += [event]
        except ProviderError as error:
            return events, error
        finally:
            await provider.close()
    return events, None


def asked(wire: Wire, *replies: Reply) -> tuple[list[StreamEvent], ProviderError | None]:
    return asyncio.run(ask(wire, *replies))


def words(wire: Wire) -> list[bytes]:
    return [wire.frame(wire.words(word)) for word in WORDS]


# ------------------------------------------------------------------------------------- cutting


@pytest.mark.parametrize(("wire", "name"), STREAMS)
def test_a_stream_cut_anywhere_means_the_same(wire: str, name: str) -> None:
    spoken = WIRES[wire]
    body = spoken.body(*spoken.streams[name])
    whole = spoken.outcome([body])
    assert whole.error if name == "malformed" else whole.finish
    assert bool(whole.parts) is (name not in {"malformed", "loading"})
    assert spoken.outcome([bytes([byte]) for byte in body]) == whole
    assert spoken.outcome([bytes([byte]) for byte in body], stream=False) == whole
    cuts = ([body[:at], body[at:]] for at in range(len(body)))
    assert all(spoken.outcome(pieces) == whole for pieces in cuts)


@each_wire
@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_a_whole_answer_through_a_socket(wire: Wire, size: int) -> None:
    body = b"".join(words(wire)) + wire.body(*wire.end)
    events, error = asked(wire, http(body, kind=wire.kind, size=size))
    assert error is None
    assert said(events) == TEXT
    assert isinstance(events[-1], Finish)
    assert events[-1].reason == "stop"


@each_wire
def test_two_interleaved_streams(wire: Wire) -> None:
    async def go() -> list[list[StreamEvent]]:
        body = b"".join(words(wire)) + wire.body(*wire.end)
        async with serving(http(body, kind=wire.kind, size=5)) as server:
            provider = wire.open(server.address)
            first, second = provider.stream(asking("a")), provider.stream(asking("b"))
            found: list[list[StreamEvent]] = [[], []]
            async for one in first:
                found[0].append(one)
                other = await anext(second, None)
                found[1] += [other] if other else []
            found[1] += [event async for event in second]
            await provider.close()
            return found

    first, second = asyncio.run(go())
    assert fold(first) == fold(second)
    assert said(first) == TEXT


# ------------------------------------------------------------------------------------ failures


@each_wire
@pytest.mark.parametrize("way", ["before", "in", "after"])
def test_an_error_before_in_and_after(wire: Wire, way: str) -> None:
    pieces, boom = words(wire), wire.frame(wire.boom)
    replies = {
        "before": http(b'{"error":{"message":"no","code":400}}', status=400, kind="text/plain"),
        "in": chunked(pieces[0], boom, kind=wire.kind),
        "after": chunked(*pieces, boom, kind=wire.kind),
    }
    events, error = asked(wire, replies[way])
    assert isinstance(error, RequestRejected if way == "before" else ServerFailed)
    assert error.next_step
    assert said(events) == {"before": "", "in": WORDS[0], "after": TEXT}[way]
    assert not any(isinstance(event, Finish) for event in events)


@each_wire
@pytest.mark.parametrize(
    ("body", "kind", "say"),
    [
        (b"", "", "nothing at all"),
        (b"", "application/json", "nothing at all"),
        (b"<html>Sign in</html>", "text/html", "web page"),
        (b'{"x": 1}', "application/json", "without an answer|nothing at all"),
    ],
)
def test_answers_that_are_none(wire: Wire, body: bytes, kind: str, say: str) -> None:
    events, error = asked(wire, http(body, kind=kind or wire.kind))
    assert isinstance(error, StreamBroken)
    assert re.search(say, str(error))
    assert not events


@each_wire
def test_the_wrong_content_type_does_not_matter(wire: Wire) -> None:
    body = b"".join(words(wire)) + wire.body(*wire.end)
    events, error = asked(wire, http(body, kind="text/plain", size=3))
    assert (said(events), error) == (TEXT, None)


@each_wire
def test_a_connection_that_breaks_keeps_what_was_said(wire: Wire) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: 9999\r\n\r\n"
    cut = Reply((head % wire.kind.encode(), words(wire)[0]), close=True)
    events, error = asked(wire, cut)
    assert said(events) == WORDS[0]
    assert isinstance(error, StreamBroken)
    assert "%chat resume" in error.next_step


@each_wire
def test_the_list_of_models(wire: Wire) -> None:
    async def go() -> Any:
        body = json.dumps(wire.models).encode()
        async with serving(http(body, kind="application/json")) as server:
            provider = wire.open(server.address)
            found = await provider.models()
            await provider.close()
            return found

    (info, *_) = asyncio.run(go())
    assert info.ref.provider == "test"
    assert info.ref.name


@each_wire
@pytest.mark.parametrize("body", [b"", b"{}", b"<html>", b'{"data": 3, "models": 3}', b"\xff"])
def test_no_list_of_models(wire: Wire, body: bytes) -> None:
    async def go() -> None:
        async with serving(http(body, kind="application/json")) as server:
            provider = wire.open(server.address)
            try:
                await provider.models()
            finally:
                await provider.close()

    with pytest.raises(StreamBroken, match="cannot be read"):
        asyncio.run(go())


# ------------------------------------------------------------------------------------- fuzzing


def usable(found: Outcome) -> bool:
    """A typed error with words or a Finish, and text that a store can encode."""
    encoded = "".join(map(str, found.parts)).encode()
    return bool((found.error and found.words) or found.finish) and encoded is not None


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)


def shaped(wire: Wire) -> st.SearchStrategy[Any]:
    """JSON whose names and words are the wire's own."""
    names = st.sampled_from(wire.keys)
    return st.recursive(
        PLAIN | names,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=4),
        max_leaves=8,
    )


def raw(wire: Wire, data: Any) -> bytes:
    """Frame anything; a name for the event needs a type."""
    named = isinstance(data, dict) and isinstance(data.get("type"), str)
    frame = wire.frame if named or wire.kind != SSE else WIRES["openai"].frame
    return frame(data)


@each_wire
def test_any_json_gives_events_or_a_typed_error(wire: Wire) -> None:
    @settings(max_examples=2500, deadline=None, database=None)
    @given(st.lists(shaped(wire), min_size=1, max_size=3))
    def check(frames: list[Any]) -> None:
        assert usable(wire.outcome([b"".join(raw(wire, frame) for frame in frames)]))

    check()


@each_wire
def test_any_bytes_give_events_or_a_typed_error(wire: Wire) -> None:
    @settings(max_examples=1500, deadline=None, database=None)
    @given(st.binary(max_size=200), st.booleans())
    def check(body: bytes, stream: bool) -> None:
        assert usable(wire.outcome([body], stream=stream))

    check()


def mutated(value: Any, draw: Any) -> Any:
    """Put something else in one place of a frame."""
    if isinstance(value, dict) and value and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: mutated(value[name], draw)}
    if isinstance(value, list) and value and draw(st.booleans()):
        return [mutated(value[0], draw), *value[1:]]
    return draw(PLAIN | st.just([]) | st.just({}) | st.just("\ud83d"))


@pytest.mark.parametrize(("wire", "name"), STREAMS)
def test_a_damaged_stream_gives_events_or_a_typed_error(wire: str, name: str) -> None:
    spoken = WIRES[wire]

    @settings(max_examples=400, deadline=None, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        frames = list(spoken.streams[name])
        at = data.draw(st.integers(0, len(frames) - 1))
        frames[at] = mutated(frames[at], data.draw)
        assert usable(spoken.outcome([b"".join(raw(spoken, frame) for frame in frames)]))

    check()
