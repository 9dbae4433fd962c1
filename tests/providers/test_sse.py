"""Server-sent events, cut at any byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.errors import StreamBroken
from jan_magics.providers.sse import SseDecoder

STREAM = (
    b"\xef\xbb\xbf: a comment\n\nevent: note\ndata: one\n\n"
    b'data:two\ndata: lines\r\n\r\nid: 7\rdata: {"t": "\xe8\xbf\x87\xf0\x9f\x98\x80"}\r\r'
    b"data\n\nretry: 10\n\ndata:  spaced\n\nerror: {}\n\ndata: tail"
)
PAYLOADS = [
    b"one",
    b"two\nlines",
    '{"t": "过😀"}'.encode(),
    b"",
    b" spaced",
    b" {}",
    b"tail",
]


def decode(*pieces: bytes) -> list[bytes]:
    decoder = SseDecoder()
    return [payload for piece in pieces for payload in decoder.feed(piece)] + decoder.close()


def test_one_piece() -> None:
    assert decode(STREAM) == PAYLOADS


@pytest.mark.parametrize("at", range(len(STREAM) + 1))
def test_split_at_every_byte(at: int) -> None:
    assert decode(STREAM[:at], STREAM[at:]) == PAYLOADS


def test_byte_by_byte() -> None:
    assert decode(*(bytes([byte]) for byte in STREAM)) == PAYLOADS


@given(st.lists(st.sampled_from([b"data: x", b"data", b":c", b"\n", b"\r", b"\r\n", b"a", b" "])))
def test_any_cutting_gives_the_same_payloads(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert decode(*pieces) == decode(whole) == decode(*(bytes([byte]) for byte in whole))


@given(st.binary(max_size=300), st.integers(1, 40))
def test_any_bytes_in_any_pieces(data: bytes, size: int) -> None:
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert decode(*pieces) == decode(data)


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b"data: " + b"x" * 200], id="one line, no end"),
        pytest.param([b"x" * 30] * 9, id="a line in pieces"),
        pytest.param([b"data: " + b"x" * 30 + b"\n"] * 9, id="many lines of one event"),
        pytest.param([b"data: " + b"x" * 90 + b"\n" + b"y" * 90], id="a line and a rest"),
    ],
)
def test_an_event_beyond_the_limit_is_refused(pieces: list[bytes]) -> None:
    decoder = SseDecoder(limit=100)
    with pytest.raises(StreamBroken, match="more than 100 bytes"):
        list(map(decoder.feed, pieces))


def test_many_small_events_have_no_limit() -> None:
    decoder = SseDecoder(limit=100)
    assert [decoder.feed(b"data: " + b"x" * 80 + b"\n\n") for _ in range(9)] == [[b"x" * 80]] * 9


def test_a_long_line_in_small_pieces_is_not_copied_again_and_again() -> None:
    decoder = SseDecoder()
    for _ in range(200_000):  # quadratic copying would take minutes
        decoder.feed(b"xxxxxxxx")
    assert decoder.feed(b"\n\ndata: y\n\n") == [b"y"]
