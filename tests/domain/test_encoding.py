"""Base64 in pieces: the same text, and no second copy of a recording in memory."""

import base64
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.encoding import base64_length, base64_pieces


@given(st.binary(max_size=200), st.integers(1, 20))
def test_pieces_are_the_whole_text(data: bytes, triples: int) -> None:
    pieces = list(base64_pieces(data, 3 * triples))
    whole = base64.b64encode(data)
    assert b"".join(pieces) == whole
    assert base64_length(data) == len(whole)
    assert all(len(piece) <= 4 * triples for piece in pieces)


@pytest.mark.parametrize("size", [0, -3, 4])
def test_pieces_that_would_not_join_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="a multiple of three"):
        next(base64_pieces(b"abc", size))


def test_a_recording_is_never_in_memory_as_text() -> None:
    data = bytes(8_000_000)
    tracemalloc.start()
    try:
        # The sender: it gives each piece away before it takes the next.
        sent = sum(map(len, base64_pieces(data)))
        as_pieces = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        body = bytearray(base64_length(data))
        at = 0
        for piece in base64_pieces(data):
            body[at : at + len(piece)] = piece
            at += len(piece)
        as_body = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sent == at == len(body)
    assert as_pieces < 0.1 * len(data)
    assert as_body <= 1.4 * len(data)
